import type { Store } from '../store/store.ts';
import { enter } from '../wallet/wallet.ts';
import type { StoredReturn } from './records.ts';
import type { ReturnStep } from './types.ts';

/** Credits of a return into the wallet, and what is taken back of them. Within a transaction. */
export function settleMoney(
  store: Store,
  { userId, record }: StoredReturn,
  steps: readonly ReturnStep[],
): void {
  for (const { at, credit } of steps)
    enter(store, userId, credit < 0 ? 'reversal' : 'credit', credit, at, record.order_id);
}
