import { checkShape } from '../../contract/schemas/check.ts';
import type { Service } from '../handler.ts';
import type { Advanced, Step } from '../lifecycle/index.ts';
import { enter, reserve } from '../wallet.ts';
import { type StoredOrder, updateOrder } from './records.ts';

/**
 * Keeps what an order went through, and moves the money that follows from it: what was set aside is released when
 * placing ends; a purchase, its fee and a refund are rows of the ledger. Within a transaction.
 */
export function settleOrder({ store }: Pick<Service, 'store'>, order: StoredOrder, reached: Advanced): void {
  let { reserved } = order;
  for (const step of reached.steps) {
    if (endsPlacing(step) && reserved > 0) {
      reserve(store, order.userId, -reserved);
      reserved = 0;
    }
    if (step.kind === 'placed') enter(store, order.userId, 'fee', -order.fee, step.at, order.record.id);
    for (const { reason, payer, cents } of step.ledger) {
      if (payer !== 'wallet') continue;
      enter(store, order.userId, reason, reason === 'purchase' ? -cents : cents, step.at, order.record.id);
    }
  }
  const checked = checkShape('OrderResponse', reached.record, 'answer');
  if (checked.issues) throw new Error(`an order became none: ${JSON.stringify(checked.issues.slice(0, 5))}`);
  updateOrder(store, order.seq, reached, reserved);
}

const endsPlacing = ({ record }: Step): boolean =>
  record.status !== 'pending' && record.status !== 'in_progress';
