import type { Service } from '../handler.ts';
import { loadRecordText } from '../orders/record-text.ts';
import { findOrder, updateOrder } from '../orders/records.ts';
import type { Store } from '../store.ts';
import { settleMoney } from './money.ts';
import { withReturn } from './on-order.ts';
import { type StoredReturn, updateReturn } from './records.ts';
import type { AdvancedReturn } from './types.ts';

export type SettleReturn = (found: StoredReturn, reached: AdvancedReturn) => void;

/**
 * Loads what it takes to keep what a return went through: its credits are rows of the ledger, and its order's record
 * shows it as it is. The function given back is to be called within a transaction.
 */
export async function loadSettleReturn({ store }: Pick<Service, 'store'>): Promise<SettleReturn> {
  const recordText = await loadRecordText();
  return (found, reached) => {
    settleMoney(store, found, reached.steps);
    updateReturn(store, found.seq, reached);
    const order = orderOf(store, found);
    const record = withReturn(order.record, reached.record, reached.steps);
    const text = recordText(record);
    updateOrder(store, order.seq, { record, plan: order.plan }, { text, reserved: order.reserved });
  };
}

function orderOf(store: Store, { record, userId }: StoredReturn) {
  const order = findOrder(store, record.order_id, userId);
  if (!order) throw new Error(`return ${record.id} has no order`);
  return order;
}
