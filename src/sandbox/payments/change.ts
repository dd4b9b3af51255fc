import type { Step } from '../orders/lifecycle/index.ts';
import type { StoredOrder } from '../orders/records.ts';
import type { Store } from '../store/store.ts';
import { enter, walletOf } from '../wallet/wallet.ts';
import { paymentOfOrder } from './payments.ts';

/**
 * What an order that was paid by challenge no longer needs goes back to who paid it: once it is placed, max_price less the
 * actual price (specification, Agent endpoints); all of it when it fails, is cancelled, or is cancelled by the
 * retailer. The fee is that of an order, so it goes back too where no order came of it: unlike the holder of a wallet,
 * whoever pays by the call has no next order to make good for it. Within a transaction.
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
