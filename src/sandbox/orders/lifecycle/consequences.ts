import { cancellableOrderStatuses } from '../../../api/enums.ts';
import type { WebhookEvent } from '../../../api/events.ts';
import { chargedCents } from './price.ts';
import type { LedgerEffect, OrderRecord, Transition } from './types.ts';

/** The events of each change, in the order they fire (specification, Events). */
export function eventsOf(change: Transition): readonly WebhookEvent[] {
  if (change.kind === 'tracked' && !change.complete) return ['tracking_updated'];
  return events[change.kind];
}

const events: Readonly<Record<Transition['kind'], readonly WebhookEvent[]>> = {
  started: ['status_updated'],
  placed: ['request_succeeded', 'status_updated'],
  failed: ['request_failed', 'status_updated'],
  tracked: ['tracking_obtained', 'tracking_updated'],
  scanned: ['tracking_updated'],
  cancelled: ['status_updated'],
  cancelled_by_retailer: ['status_updated'],
};

/** Money that a change moves: the actual price when placed, all of it back when the retailer cancels. */
export function ledgerEffects(before: OrderRecord, after: OrderRecord): readonly LedgerEffect[] {
  if (before.status === after.status) return [];
  const price = after.job_result?.price_components;
  const reason = reasons[after.status];
  if (!price || !reason) return [];
  return [{ reason, payer: payerOf(after), cents: chargedCents(price) }];
}

const reasons: Partial<Record<OrderRecord['status'], LedgerEffect['reason']>> = {
  order_placed: 'purchase',
  cancelled_by_retailer: 'refund',
};

/** Who pays for the goods of an order. */
export function payerOf(record: OrderRecord): LedgerEffect['payer'] {
  if (record.retailer_credentials_id !== null) return 'retailer_account';
  if (record.payment) return 'card';
  return record.connect ? 'connect' : 'wallet';
}

/** Whether a cancel is still accepted (specification, States and transitions). */
export function isCancellable(record: OrderRecord): boolean {
  return cancellableOrderStatuses.some((status) => status === record.status);
}
