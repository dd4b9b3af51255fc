import type { WebhookEvent } from '../../api/events.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import { findOrder, loadRecordText, updateOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { enter } from '../wallet/wallet.ts';
import { enqueueEvents } from '../webhooks/enqueue.ts';
import { summaryOf, withReturn } from './credit.ts';
import { type AdvancedReturn, closeReturn, type ReturnStep } from './lifecycle.ts';
import { returnsOf, type StoredReturn, updateReturn } from './records.ts';

type SettleReturn = (found: StoredReturn, reached: AdvancedReturn) => void;

/**
 * Loads what is needed to store a return's changes. The returned function must run in a transaction. That function
 * records the return's credits in the ledger and updates the order's record. It also sends one case event of the order
 * for each change.
 */
export async function loadSettleReturn({
  store,
  idGenerator,
}: Pick<Service, 'store' | 'idGenerator'>): Promise<SettleReturn> {
  const recordText = await loadRecordText();
  return (found, reached) => {
    settleMoney(store, found, reached.steps);
    updateReturn(store, found.seq, reached);
    const { seq, userId, body, plan, reserved, ...order } = orderOf(store, found);
    let { record } = order;
    const events = reached.steps.map((step) => {
      record = withReturn(record, step.record);
      return { at: step.at, events: caseEvents, record };
    });
    updateOrder(store, seq, { record, plan }, { text: recordText(record, 'kept'), reserved });
    enqueueEvents(store, idGenerator, { userId, webhooks: body.webhooks }, events);
  };
}

const caseEvents: readonly WebhookEvent[] = ['case_updated'];

function orderOf(store: Store, { record, userId }: StoredReturn) {
  const order = findOrder(store, record.order_id, userId);
  if (!order) throw new Error(`return ${record.id} has no order`);
  return order;
}

/**
 * Closes all returns of an order that was refunded in full at `at` (ms), and reverses the credits of these returns.
 * Must run in a transaction. @returns the summaries of the returns, for the order's record.
 */
export function closeReturns(store: Store, orderSeq: number, at: number): OrderRecord['returns'] {
  return returnsOf(store, orderSeq).map((found) => {
    const closed = closeReturn(found, at);
    settleMoney(store, found, closed.steps);
    updateReturn(store, found.seq, closed);
    return summaryOf(closed.record);
  });
}

/**
 * Records the credits of a return, and reversals of these credits, in the wallet's ledger. Must run in a transaction.
 */
function settleMoney(store: Store, { userId, record }: StoredReturn, steps: readonly ReturnStep[]): void {
  for (const { at, credit } of steps)
    enter(store, userId, credit < 0 ? 'reversal' : 'credit', credit, at, record.order_id);
}
