import { failedOrderStatuses, type ItemStatus, type TrackingStatus } from '../contract/enums.ts';
import type { Pace } from '../wait/poll.ts';
import type { OrderRecord } from './order-record.ts';

export const untilValues = ['placed', 'delivered'] as const;
export type Until = (typeof untilValues)[number];

/** Where an awaited order stands: still on its way, at the awaited state, or at an end that is not it. */
export type Verdict = 'waiting' | 'reached' | 'failed';

const arrived: readonly unknown[] = ['delivered', 'available_for_pickup'] satisfies TrackingStatus[];
const lost: readonly unknown[] = ['undeliverable'] satisfies TrackingStatus[];
const unfinishedItems: readonly unknown[] = [
  'pending',
  'processing',
  'ordered',
  'shipped',
] satisfies ItemStatus[];
/** What never comes, though its order was placed. */
const dropped: readonly unknown[] = ['cancelled', 'failed', 'skipped'] satisfies ItemStatus[];
const failed: readonly unknown[] = failedOrderStatuses;

/**
 * Where one order stands. An unknown status is waited on. A parcel that waits for pickup has arrived;
 * one that cannot be delivered has failed once no other parcel is on its way.
 */
export function verdictOf(order: OrderRecord, until: Until): Verdict {
  if (failed.includes(order.status)) return 'failed';
  if (order.status !== 'order_placed') return 'waiting';
  if (until === 'placed') return 'reached';
  const items = statuses(order.items);
  if (items.length > 0 && items.every((status) => dropped.includes(status))) return 'failed';
  const parcels = statuses(order.tracking_numbers);
  if (parcels.length === 0) return 'waiting';
  if (parcels.some((status) => !arrived.includes(status) && !lost.includes(status))) return 'waiting';
  if (parcels.some((status) => lost.includes(status))) return 'failed';
  return items.some((status) => unfinishedItems.includes(status)) ? 'waiting' : 'reached';
}

/** What of an order is worth a line when it changes. */
export function stateOf(order: OrderRecord): string {
  return JSON.stringify([order.status, statuses(order.tracking_numbers), statuses(order.items)]);
}

const statuses = (records: unknown): unknown[] =>
  Array.isArray(records) ? records.map((record) => (record as { status?: unknown } | null)?.status) : [];

export const defaultPace: Pace = { shortestMs: 500, longestMs: 30_000 };
