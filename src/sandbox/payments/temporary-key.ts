import { createHmac } from 'node:crypto';
import { hashKey } from '../server/caller.ts';
import type { Store } from '../store/store.ts';

/** The key that reads one order alone. It follows from the order, so that a lost response can be given again. */
export function temporaryKey(secret: Buffer, prefix: string, orderId: string): string {
  const mac = createHmac('sha256', secret).update(`temporary key of order ${orderId}`).digest('hex');
  return `${prefix}_test_${mac.slice(0, 40)}`;
}

interface KeyRow {
  readonly key: string;
  readonly id: string;
  readonly userId: string;
  readonly orderId: string;
  /** ms since the epoch. */
  readonly now: number;
}

/** Keeps the hash of an order's key. It was minted from no address, so it counts against none. Within a transaction. */
export function keepTemporaryKey(store: Store, { key, id, userId, orderId, now }: KeyRow): void {
  store.run(
    "INSERT INTO api_keys (hash, user_id, id, minted_from, created_at, used_at, order_id) VALUES (?, ?, ?, 'payment', ?, ?, ?)",
    hashKey(key),
    userId,
    id,
    now,
    now,
    orderId,
  );
}
