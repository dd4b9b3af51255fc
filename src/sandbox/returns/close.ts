import type { OrderRecord } from '../orders/lifecycle/index.ts';
import type { Store } from '../store/store.ts';
import { closeReturn } from './lifecycle.ts';
import { settleMoney } from './money.ts';
import { summaryOf } from './on-order.ts';
import { returnsOf, updateReturn } from './records.ts';

/**
 * Closes every return of an order whose whole charge came back at `at` (ms): what they had credited is taken back.
 * Within a transaction. @returns the summaries for the order's record.
 */
export function closeReturns(store: Store, orderSeq: number, at: number): OrderRecord['returns'] {
  return returnsOf(store, orderSeq).map((found) => {
    const closed = closeReturn(found, at);
    settleMoney(store, found, closed.steps);
    updateReturn(store, found.seq, closed);
    return summaryOf(closed.record);
  });
}
