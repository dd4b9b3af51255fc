import { expect } from 'vitest';
import type { Store } from '../../src/sandbox/store/store.ts';

/** Checks every stored sum against the rows it sums up. */
export function expectBalancedBooks(store: Store): void {
  const wrong = store.all(
    `SELECT w.user_id, w.balance, w.reserved, u.order_count,
       (SELECT coalesce(sum(cents), 0) FROM ledger l WHERE l.user_id = w.user_id) AS entered,
       (SELECT coalesce(sum(reserved), 0) FROM orders o WHERE o.user_id = w.user_id) AS set_aside,
       (SELECT count(*) FROM orders o WHERE o.user_id = w.user_id) AS orders
     FROM wallets w JOIN users u ON u.id = w.user_id
     WHERE balance <> entered OR w.reserved <> set_aside OR order_count <> orders OR balance < w.reserved`,
  );
  expect(wrong).toEqual([]);
}
