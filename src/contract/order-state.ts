import { failedOrderStatuses, type ItemStatus, type OrderStatus, type TrackingStatus } from './enums.ts';
import { shortErrorType } from './error-types.ts';

/** How something stands at a glance: it ended well, ended badly, still goes on, or is over and done with. */
export type Mood = 'good' | 'bad' | 'waiting' | 'past';

/** A state as people read it: `delivered`, `undeliverable`, `failed: price`, `waiting`. */
export interface ShownState {
  readonly text: string;
  readonly mood: Mood;
}

/** The parts of an order that decide its state, as they were received: each may be missing. Public tracking names them otherwise. */
export interface OrderParts {
  readonly status: unknown;
  /** Records with a `status` each. */
  readonly items: unknown;
  /** Records with a `status` each. */
  readonly parcels: unknown;
  /** Why it failed, where the order says so. */
  readonly errorType?: unknown;
}

const failed: readonly unknown[] = failedOrderStatuses;
const arrived: readonly unknown[] = ['delivered', 'available_for_pickup'] satisfies TrackingStatus[];
/** What never comes, though its order was placed. */
const dropped: readonly unknown[] = ['cancelled', 'failed', 'skipped'] satisfies ItemStatus[];
const unfinished: readonly unknown[] = ['pending', 'processing', 'ordered', 'shipped'] satisfies ItemStatus[];

export const isFailedOrder = (status: unknown): boolean => failed.includes(status);
/** Whether a parcel is where it was to go: a pickup point counts. */
export const hasArrived = (status: unknown): boolean => arrived.includes(status);
export const isLost = (status: unknown): boolean => status === ('undeliverable' satisfies TrackingStatus);
export const isDropped = (status: unknown): boolean => dropped.includes(status);
export const isUnfinished = (status: unknown): boolean => unfinished.includes(status);

/** The `status` of each record of a list. */
export const statusesOf = (records: unknown): unknown[] =>
  Array.isArray(records) ? records.map((record) => (record as { status?: unknown } | null)?.status) : [];

/** A value of the wire as people write it. */
export const spoken = (name: string): string => name.replaceAll('_', ' ');

const bad = (text: string): ShownState => ({ text, mood: 'bad' });
const good = (text: string): ShownState => ({ text, mood: 'good' });
const waiting = (text: string): ShownState => ({ text, mood: 'waiting' });

/** Words for states of the order itself, before it is placed or where it never was. */
const ofOrder: Readonly<Record<Exclude<OrderStatus, 'order_placed' | 'order_failed'>, ShownState>> = {
  pending: waiting('waiting'),
  in_progress: waiting('in progress'),
  cancelled: bad('cancelled'),
  cancelled_by_retailer: bad('cancelled by retailer'),
};

/**
 * The one state of an order, from what it says of itself, its items and its parcels; the worst of them wins. Everything
 * that shows an order to people reads it here.
 */
export function orderState({ status, items, parcels, errorType }: OrderParts): ShownState {
  if (status === 'order_failed') return bad(failure(errorType ?? firstError(items)));
  if (status === 'order_placed') return placed(statusesOf(items), statusesOf(parcels), firstError(items));
  const name = String(status ?? '');
  return Object.hasOwn(ofOrder, name) ? ofOrder[name as keyof typeof ofOrder] : waiting(spoken(name));
}

function placed(items: readonly unknown[], parcels: readonly unknown[], error: unknown): ShownState {
  const lost = items.filter(isDropped).length;
  if (lost > 0 && lost === items.length)
    return bad(items.every((item) => item === 'cancelled') ? 'cancelled' : failure(error));
  const undeliverable = parcels.filter(isLost).length;
  if (undeliverable > 0) return bad(partly(undeliverable, parcels.length, 'undeliverable'));
  const state = onItsWay(items, parcels);
  // What is left out is known by then: the rest ends well, and not all of what was ordered.
  if (lost === 0) return state;
  return { text: `${state.text} in part`, mood: state.mood === 'good' ? 'bad' : state.mood };
}

function onItsWay(items: readonly unknown[], parcels: readonly unknown[]): ShownState {
  const there = parcels.filter(hasArrived).length;
  if (parcels.length === 0) return waiting(items.includes('shipped') ? 'in transit' : 'placed');
  if (there === parcels.length) {
    if (items.some(isUnfinished)) return waiting('delivered in part');
    return good(parcels.includes('available_for_pickup') ? 'ready for pickup' : 'delivered');
  }
  if (there > 0) return waiting(partly(there, parcels.length, 'delivered'));
  return waiting(parcels.every((parcel) => parcel === 'in_transit') ? 'in transit' : 'placed');
}

const partly = (some: number, all: number, what: string): string =>
  some === all ? what : `${some} of ${all} ${what}`;

const firstError = (items: unknown): unknown =>
  Array.isArray(items)
    ? items
        .map((item) => (item as { error_type?: unknown } | null)?.error_type)
        .find((it) => typeof it === 'string')
    : undefined;

function failure(errorType: unknown): string {
  if (typeof errorType !== 'string' || errorType === '') return 'failed';
  return `failed: ${shortErrorType(errorType) ?? spoken(errorType)}`;
}
