import { failedOrderStatuses, type OrderStatus } from '../../api/enums.ts';
import { listIn, textIn } from '../../api/json.ts';

type Json = Readonly<Record<string, unknown>>;

const failed: readonly string[] = failedOrderStatuses;
/** Cancelled by its owner, which only a pending order can be. */
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

/**
 * What an order must be for an event to be true of it. An event may be older than the state: an order that was placed
 * may be cancelled by the retailer later. Names that tell no outcome are only a reason to look.
 */
const confirmations: Readonly<Record<string, (order: Json) => boolean>> = {
  request_succeeded: wasPlaced,
  order_placed: wasPlaced,
  request_failed: hasFailed,
  order_failed: hasFailed,
  tracking_obtained: hasTracking,
  tracking_updated: hasTracking,
};

/** Whether an order, as the service tells it, bears out what the name of an event says of it. Pure. */
export function confirms(event: string | null, order: Json): boolean {
  const name = event?.trim().toLowerCase() ?? '';
  return !Object.hasOwn(confirmations, name) || confirmations[name]?.(order) === true;
}

/** Why an event that its order does not bear out is not acted on. */
export const disagreement = (event: string | null, order: Json): string =>
  `the service's order is ${statusOf(order) || 'without a status'}, which does not confirm ${event}`;

/** Waits before an order is read again, ms: the service may send an event before its reads show the change. */
export const rereadWaitsMs: readonly number[] = [250, 500, 1000];
