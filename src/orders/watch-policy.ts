import {
  hasArrived,
  isDropped,
  isFailedOrder,
  isLost,
  isUnfinished,
  statusesOf,
} from '../api/order-state.ts';
import type { Pace, Verdict } from '../platform/poll.ts';
import type { OrderRecord } from './order-record.ts';

export const untilValues = ['placed', 'delivered'] as const;
export type Until = (typeof untilValues)[number];

/**
 * Verdict on one order. An unknown status counts as waiting. A parcel that is ready for pickup counts as arrived. If a
 * parcel is undeliverable, the order counts as failed once no other parcel is in transit.
 */
export function verdictOf(order: OrderRecord, until: Until): Verdict {
  if (isFailedOrder(order.status)) return 'failed';
  if (order.status !== 'order_placed') return 'waiting';
  if (until === 'placed') return 'reached';
  const items = statusesOf(order.items);
  if (items.length > 0 && items.every(isDropped)) return 'failed';
  const parcels = statusesOf(order.tracking_numbers);
  if (parcels.length === 0) return 'waiting';
  if (parcels.some((status) => !hasArrived(status) && !isLost(status))) return 'waiting';
  if (parcels.some(isLost)) return 'failed';
  return items.some(isUnfinished) ? 'waiting' : 'reached';
}

/** The part of an order's state whose changes are printed. */
export function stateOf(order: OrderRecord): string {
  return JSON.stringify([order.status, statusesOf(order.tracking_numbers), statusesOf(order.items)]);
}

export const defaultPace: Pace = { minMs: 500, maxMs: 30_000 };

/** Real orders take 5 to 10 minutes to be placed, and days to arrive. */
const livePace: Pace = { minMs: 120_000, maxMs: 300_000 };

/**
 * Pace of a watch. A live order is polled for the first time after some minutes. If the timeout (in ms) is shorter,
 * polls a few times within the timeout, so that the watch does not end after its first reading.
 */
export function paceFor(isRehearsal: boolean, timeoutMs: number | undefined): Pace {
  if (isRehearsal) return defaultPace;
  const minMs = Math.max(defaultPace.minMs, Math.min(livePace.minMs, (timeoutMs ?? Infinity) / 4));
  return { ...livePace, minMs };
}
