import type { OperationName } from '../../api/operations/index.ts';
import type { OrderRecord, Step } from '../orders/lifecycle/types.ts';
import type { StoredOrder } from '../orders/records.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { enter, walletOf } from '../wallet/wallet.ts';
import { billCurrency, encodeJson } from './challenge.ts';
import { settlementHeaders } from './x402.ts';

/** A payment that was taken. Its challenge cannot be used again. */
export interface Payment {
  readonly challengeId: string;
  readonly method: string;
  /** The payment's reference, as shown on the receipt. */
  readonly reference: string;
  readonly operation: OperationName;
  readonly cents: number;
  readonly digest: string | null;
  readonly source: string | null;
  /** The order that the payment created, and that order's idempotency key. */
  readonly orderId: string | null;
  readonly idempotencyKey: string | null;
  /** Time of the payment, ms since the epoch. */
  readonly at: number;
}

/**
 * Records a payment. Must run in the transaction that stores what was bought. Throws if the challenge was used before.
 */
export function insertPayment(store: Store, payment: Payment): void {
  store.run(
    `INSERT INTO payments (challenge_id, method, reference, operation, cents, digest, source, order_id, idempotency_key, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    payment.challengeId,
    payment.method,
    payment.reference,
    payment.operation,
    payment.cents,
    payment.digest,
    payment.source,
    payment.orderId,
    payment.idempotencyKey,
    payment.at,
  );
}

export const paymentBy = (store: Store, challengeId: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE challenge_id = ?', challengeId));

export const paymentUnderKey = (store: Store, idempotencyKey: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE idempotency_key = ?', idempotencyKey));

const paymentOfOrder = (store: Store, orderId: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE order_id = ?', orderId));

export interface NumberedPayment extends Payment {
  /** Sequence number; the oldest is 1. */
  readonly number: number;
}

/** Payments, newest first. @param before limits the result to payments with a smaller number. */
export const readPayments = (
  store: Store,
  window: {
    readonly where: string;
    readonly order: string;
    readonly values: readonly number[];
    readonly limit: number;
  },
): NumberedPayment[] =>
  store
    .all(
      `SELECT * FROM ${numbered} WHERE ${window.where} ORDER BY ${window.order} LIMIT ?`,
      ...window.values,
      window.limit,
    )
    .map((row) => ({ ...paymentIn(row), number: Number(row.number) }));

/** The payments with their numbers, for a FROM clause. */
export const numbered = '(SELECT *, row_number() OVER (ORDER BY at, challenge_id) AS number FROM payments)';

export const paymentNamed = (store: Store, reference: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE reference = ?', reference));

const read = (row: StoredRow | undefined): Payment | undefined => row && paymentIn(row);

function paymentIn(row: StoredRow): Payment {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return {
    challengeId: String(row.challenge_id),
    method: String(row.method),
    reference: String(row.reference),
    // The cast is safe because this column is written from an operation name.
    operation: String(row.operation) as OperationName,
    cents: Number(row.cents),
    digest: text(row.digest),
    source: text(row.source),
    orderId: text(row.order_id),
    idempotencyKey: text(row.idempotency_key),
    at: Number(row.at),
  };
}

/**
 * If an order was paid by challenge, returns its unused money to the payer. When the order is placed, the unused money
 * is max_price minus the actual price (specification, Agent endpoints). If the order fails or is cancelled by the
 * caller or the retailer, everything is returned, including the fee. A wallet holder could offset the fee with the next
 * order, but this payer has no next order. Must run in a transaction.
 */
export function returnChange(
  store: Store,
  { userId, fee, record }: Pick<StoredOrder, 'userId' | 'fee' | 'record'>,
  step: Step,
): void {
  if (!paymentOfOrder(store, record.id)) return;
  if (step.kind === 'cancelled_by_retailer') enter(store, userId, 'refund', fee, step.at, record.id);
  enter(store, userId, 'payout', -walletOf(store, userId).spendable, step.at, record.id);
}

/**
 * Headers of a paid response. All headers are derived from the payment, so a lost response can be reproduced.
 * @param more additional fields of the receipt.
 */
export function receiptHeaders(
  payment: Payment,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const { method, reference, challengeId, cents, at } = payment;
  const receipt = {
    method,
    reference,
    status: 'success',
    timestamp: new Date(at).toISOString(),
    challengeId,
    amount: String(cents),
    currency: billCurrency,
    simulated: true,
    ...more,
    // No card processor or ledger was involved.
    ...(method !== 'sandbox' && { verified: ['form', 'binding'] }),
  };
  return {
    'payment-receipt': encodeJson(receipt),
    ...settlementHeaders(payment),
    'cache-control': 'private',
  };
}

interface Refund {
  /** A string in the currency's minor unit, as in challenges. */
  readonly amount: string;
  readonly currency: string;
  readonly timestamp: string;
}

/**
 * An order paid by challenge, as seen with its temporary key. Includes the receipt, and lists refunds in `job_result`
 * (which allows extra fields) and in the receipt.
 */
export function withRefunds(
  store: Store,
  record: OrderRecord,
): { record: OrderRecord; headers: Record<string, string> } {
  const payment = paymentOfOrder(store, record.id);
  if (!payment) return { record, headers: {} };
  const refunds = refundsOf(store, record.id);
  const headers = receiptHeaders(payment, refunds.length > 0 ? { refunds } : {});
  if (!record.job_result || refunds.length === 0) return { record, headers };
  return { record: { ...record, job_result: { ...record.job_result, refunds } }, headers };
}

/** Refunds of an order, oldest first. */
export function refundsOf(store: Store, orderId: string): Refund[] {
  const rows = store.all(
    "SELECT at, cents FROM ledger WHERE kind = 'payout' AND order_id = ? ORDER BY seq",
    orderId,
  );
  return rows.map(({ at, cents }) => ({
    amount: String(-Number(cents)),
    currency: billCurrency,
    timestamp: new Date(Number(at)).toISOString(),
  }));
}
