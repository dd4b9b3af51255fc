import type { OperationName } from '../../api/operations/index.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** A payment that was taken; its challenge pays nothing else. */
export interface Payment {
  readonly challengeId: string;
  readonly method: string;
  /** The payment's own name, as the receipt shows it. */
  readonly reference: string;
  readonly operation: OperationName;
  readonly cents: number;
  readonly digest: string | null;
  readonly source: string | null;
  /** What was ordered with it, and under which key. */
  readonly orderId: string | null;
  readonly idempotencyKey: string | null;
  /** ms since the epoch. */
  readonly at: number;
}

/** Takes a payment. Within the transaction that keeps what was bought; a second one with the same challenge throws. */
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

export const paymentOfOrder = (store: Store, orderId: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE order_id = ?', orderId));

export interface NumberedPayment extends Payment {
  /** From the oldest, which is 1. */
  readonly number: number;
}

/** Payments, newest first. @param before those below a number. */
export const readPayments = (
  store: Store,
  { before, limit }: { readonly before: number; readonly limit: number },
): NumberedPayment[] =>
  store
    .all(
      `SELECT * FROM (SELECT *, row_number() OVER (ORDER BY at, challenge_id) AS number FROM payments)
       WHERE number < ? ORDER BY number DESC LIMIT ?`,
      before,
      limit,
    )
    .map((row) => ({ ...paymentIn(row), number: Number(row.number) }));

export const paymentNamed = (store: Store, reference: string): Payment | undefined =>
  read(store.get('SELECT * FROM payments WHERE reference = ?', reference));

const read = (row: StoredRow | undefined): Payment | undefined => row && paymentIn(row);

function paymentIn(row: StoredRow): Payment {
  const text = (value: unknown): string | null => (value === null ? null : String(value));
  return {
    challengeId: String(row.challenge_id),
    method: String(row.method),
    reference: String(row.reference),
    // The column was written from an operation's name.
    operation: String(row.operation) as OperationName,
    cents: Number(row.cents),
    digest: text(row.digest),
    source: text(row.source),
    orderId: text(row.order_id),
    idempotencyKey: text(row.idempotency_key),
    at: Number(row.at),
  };
}
