import { failedOrderStatuses, type OrderStatus } from '../../api/enums.ts';
import { listIn, objectsIn, textIn } from '../../api/json.ts';
import { hasArrived, statusesOf } from '../../api/order-state.ts';

type Json = Readonly<Record<string, unknown>>;

const failed: readonly string[] = failedOrderStatuses;
/**
 * States of an order that was never placed. They include `cancelled`, because an owner can cancel an order only while
 * it is pending.
 */
const neverPlaced: readonly string[] = [
  'pending',
  'in_progress',
  'order_failed',
  'cancelled',
] satisfies OrderStatus[];

const statusOf = (order: Json): string => textIn(order, 'status') ?? '';
const wasPlaced = (order: Json): boolean => statusOf(order) !== '' && !neverPlaced.includes(statusOf(order));
const hasFailed = (order: Json): boolean => failed.includes(statusOf(order));
const hasTracking = (order: Json): boolean => listIn(order, 'tracking_numbers').length > 0;
const hasDelivery = (order: Json): boolean =>
  [...statusesOf(order.tracking_numbers), ...statusesOf(order.items)].some(hasArrived);
const isCancelled = (order: Json): boolean => statusOf(order).startsWith('cancelled');

/** Confirms an event about a return. Accepts either the return itself or an order that contains it. */
const hasReturn =
  (...statuses: readonly string[]) =>
  (record: Json): boolean =>
    [record, ...objectsIn(record, 'returns')].some((one) => statuses.includes(statusOf(one)));

/**
 * What must be true of an order for it to confirm an event. The order may have changed since the event was sent,
 * because the retailer can cancel a placed order. Event names that imply no outcome only prompt a reread.
 */
const confirmations: Readonly<Record<string, (order: Json) => boolean>> = {
  request_succeeded: wasPlaced,
  order_placed: wasPlaced,
  request_failed: hasFailed,
  order_failed: hasFailed,
  tracking_obtained: hasTracking,
  tracking_updated: hasTracking,
  'order.placed': wasPlaced,
  'order.failed': hasFailed,
  'order.tracking_received': hasTracking,
  'order.delivered': hasDelivery,
  'order.cancelled': isCancelled,
  'return.approved': hasReturn('approved', 'completed', 'credited'),
  'return.denied': hasReturn('denied'),
  'return.credited': hasReturn('credited'),
};

/** Whether an order or a return, as read from the service, confirms an event. Pure. */
export function confirms(event: string | null, order: Json): boolean {
  const name = event?.trim().toLowerCase() ?? '';
  return !Object.hasOwn(confirmations, name) || confirmations[name]?.(order) === true;
}

/** Explains why an event is ignored: its order does not confirm it. */
export const disagreement = (event: string | null, order: Json, what = 'order'): string =>
  `the service's ${what} is ${statusOf(order) || 'without a status'}, which does not confirm ${event}`;

/**
 * Delays before an order is read again, in ms. They are needed because the service may send an event before the change
 * is visible in reads.
 */
export const rereadWaitsMs: readonly number[] = [250, 500, 1000];
