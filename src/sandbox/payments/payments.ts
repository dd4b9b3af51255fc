import type { OperationName } from '../../contract/operations/index.ts';
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

function read(row: StoredRow | undefined): Payment | undefined {
  if (!row) return undefined;
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
