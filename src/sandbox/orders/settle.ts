import { advanceAccountQueue } from '../accounts/records.ts';
import { returnChange } from '../payments/payments.ts';
import { closeReturns } from '../returns/settle.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { enter, reserve } from '../wallet/wallet.ts';
import { enqueueEvents } from '../webhooks/enqueue.ts';
import type { Advanced, Step } from './lifecycle/types.ts';
import { loadRecordText, type StoredOrder, updateOrder } from './records.ts';

export type Settle = (order: StoredOrder, reached: Advanced) => void;

/**
 * Loads what is needed to persist an order's transitions. The returned function also moves the money: it releases the
 * reservation when placing ends, and records purchase, fee and refund in the ledger. The returned function must run in
 * a transaction. It throws if the order would violate the contract.
 */
export async function loadSettle({
  store,
  idGenerator,
}: Pick<Service, 'store' | 'idGenerator'>): Promise<Settle> {
  const recordText = await loadRecordText();
  return (order, reached) => {
    const reserved = moveMoney(store, order, reached.steps);
    const record = withReturnsClosed(store, order, reached);
    updateOrder(store, order.seq, { ...reached, record }, { text: recordText(record, 'kept'), reserved });
    releaseAccountSlot(store, order, reached.steps);
    enqueueEvents(store, idGenerator, { userId: order.userId, webhooks: order.body.webhooks }, reached.steps);
  };
}

/** If this order finishes earlier than scheduled, moves up the orders that wait for the same account. */
function releaseAccountSlot(
  store: Store,
  { seq, accountId, queueEnd }: StoredOrder,
  steps: readonly Step[],
): void {
  const end = accountId === null ? undefined : steps.find(endsPlacing)?.at;
  if (accountId === null || end === undefined || queueEnd === null || end >= queueEnd) return;
  store.run('UPDATE orders SET queue_end = ? WHERE seq = ?', end, seq);
  advanceAccountQueue(store, accountId, end);
}

/** Closes the returns of an order that has been refunded in full. */
function withReturnsClosed(
  store: Store,
  order: StoredOrder,
  { record, steps }: Advanced,
): Advanced['record'] {
  const cancelled = steps.find(({ kind }) => kind === 'cancelled_by_retailer');
  if (!cancelled || record.returns.length === 0) return record;
  return { ...record, returns: closeReturns(store, order.seq, cancelled.at) };
}

/** @returns the amount that stays reserved, in cents. */
function moveMoney(store: Store, order: StoredOrder, steps: readonly Step[]): number {
  let { reserved } = order;
  for (const step of steps) {
    if (endsPlacing(step) && reserved > 0) {
      reserve(store, order.userId, -reserved);
      reserved = 0;
    }
    if (step.kind === 'placed') enter(store, order.userId, 'fee', -order.fee, step.at, order.record.id);
    for (const { reason, payer, cents } of step.ledger) {
      if (payer !== 'wallet') continue;
      enter(store, order.userId, reason, reason === 'purchase' ? -cents : cents, step.at, order.record.id);
    }
    if (endsPlacing(step)) returnChange(store, order, step);
  }
  return reserved;
}

const endsPlacing = ({ record }: Step): boolean =>
  record.status !== 'pending' && record.status !== 'in_progress';
