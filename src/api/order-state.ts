import { failedOrderStatuses, type ItemStatus, type OrderStatus, type TrackingStatus } from './enums.ts';
import { shortErrorType } from './error-types.ts';
import { numberIn, objectsIn } from './json.ts';

/** Outcome at a glance: ended well, ended badly, in progress, or over. */
export type Mood = 'good' | 'bad' | 'waiting' | 'past';

/** State to display: `delivered`, `undeliverable`, `failed: price`, `waiting`. */
export interface ShownState {
  readonly text: string;
  readonly mood: Mood;
}

/**
 * Parts of an order that determine its state, as received. Any part may be missing. Public tracking uses other field
 * names.
 */
export interface OrderParts {
  readonly status: unknown;
  /** Records, each with a `status`. */
  readonly items: unknown;
  /** Records, each with a `status`. */
  readonly parcels: unknown;
  /** Concessions made for the order (`fulfillment`); absent in public tracking. */
  readonly fulfillment?: unknown;
  /** Failure reason, if the order gives one. */
  readonly errorType?: unknown;
}

/** Suffix for a state if only a part of the order was bought or delivered. */
const inPart = ' in part';
const failed: readonly unknown[] = failedOrderStatuses;
const arrived: readonly unknown[] = ['delivered', 'available_for_pickup'] satisfies TrackingStatus[];
/** Statuses of items that will never arrive, although the order was placed. */
const dropped: readonly unknown[] = ['cancelled', 'failed', 'skipped'] satisfies ItemStatus[];
const unfinished: readonly unknown[] = ['pending', 'processing', 'ordered', 'shipped'] satisfies ItemStatus[];

export const isFailedOrder = (status: unknown): boolean => failed.includes(status);
/** Whether a parcel reached its destination, which may be a pickup point. */
export const hasArrived = (status: unknown): boolean => arrived.includes(status);
export const isLost = (status: unknown): boolean => status === ('undeliverable' satisfies TrackingStatus);
export const isDropped = (status: unknown): boolean => dropped.includes(status);
export const isUnfinished = (status: unknown): boolean => unfinished.includes(status);

/** The `status` of each record of a list. */
export const statusesOf = (records: unknown): unknown[] =>
  Array.isArray(records) ? records.map((record) => (record as { status?: unknown } | null)?.status) : [];

/** An order line of which fewer units were bought than requested. */
export interface Shortfall {
  readonly requested: number;
  readonly bought: number;
  /** Item id of the order line, if the concession gives it. */
  readonly itemId: unknown;
  readonly url: unknown;
}

/**
 * The order lines of which fewer units were bought than requested. @param fulfillment is the field of an order, as
 * received.
 */
export const shortfallsIn = (fulfillment: unknown): Shortfall[] =>
  objectsIn(fulfillment, 'concessions').flatMap((concession) => {
    const requested = numberIn(concession, 'requested_quantity');
    const bought = numberIn(concession, 'fulfilled_quantity');
    if (requested === undefined || bought === undefined || bought >= requested) return [];
    return [{ requested, bought, itemId: concession.item_id, url: concession.url }];
  });

/** Formats the quantity that was bought: `2`, `2 of 5`. */
export const quantityText = ({
  bought,
  requested,
}: {
  readonly bought: number;
  readonly requested?: number;
}): string => (requested === undefined ? `${bought}` : `${bought} of ${requested}`);

interface Line {
  readonly id?: unknown;
  readonly url?: unknown;
}

/** Whether a concession concerns a line. Compares ids; if the concession has no id, compares URLs. */
export const isAbout = (concession: Pick<Shortfall, 'itemId' | 'url'>, line: Line): boolean =>
  typeof concession.itemId === 'string' ? concession.itemId === line.id : concession.url === line.url;

export const shortfallOf = (line: Line, shortfalls: readonly Shortfall[]): Shortfall | undefined =>
  shortfalls.find((shortfall) => isAbout(shortfall, line));

/** Formats a wire value for display. */
export const spoken = (name: string): string => name.replaceAll('_', ' ');

/** State of an order line. A line that was dropped or bought in part never counts as good. */
export function lineState(status: string, isShort: boolean): ShownState | undefined {
  const text = spoken(status);
  if (isDropped(status)) return bad(text);
  if (hasArrived(status)) return isShort ? bad(`${text}${inPart}`) : good(text);
  return isUnfinished(status) ? waiting(isShort ? `${text}${inPart}` : text) : undefined;
}

const bad = (text: string): ShownState => ({ text, mood: 'bad' });
const good = (text: string): ShownState => ({ text, mood: 'good' });
const waiting = (text: string): ShownState => ({ text, mood: 'waiting' });

/** States to display for an order that is not placed. */
const ofOrder: Readonly<Record<Exclude<OrderStatus, 'order_placed' | 'order_failed'>, ShownState>> = {
  pending: waiting('waiting'),
  in_progress: waiting('in progress'),
  cancelled: bad('cancelled'),
  cancelled_by_retailer: bad('cancelled by retailer'),
};

/**
 * Derives the state to display for an order from its own status, its items and its parcels. The worst of these wins.
 * Every view of an order uses this function.
 */
export function orderState({ status, items, parcels, fulfillment, errorType }: OrderParts): ShownState {
  if (status === 'order_failed') return bad(failure(errorType ?? firstError(items)));
  if (status === 'order_placed') {
    const isShort = shortfallsIn(fulfillment).length > 0;
    return placed(statusesOf(items), statusesOf(parcels), { error: firstError(items), isShort });
  }
  const name = typeof status === 'object' && status !== null ? JSON.stringify(status) : String(status ?? '');
  return Object.hasOwn(ofOrder, name) ? ofOrder[name as keyof typeof ofOrder] : waiting(spoken(name));
}

function placed(
  items: readonly unknown[],
  parcels: readonly unknown[],
  { error, isShort }: { readonly error: unknown; readonly isShort: boolean },
): ShownState {
  const lost = items.filter(isDropped).length;
  if (lost > 0 && lost === items.length)
    return bad(items.every((item) => item === 'cancelled') ? 'cancelled' : failure(error));
  const undeliverable = parcels.filter(isLost).length;
  if (undeliverable > 0) return bad(partly(undeliverable, parcels.length, 'undeliverable'));
  const state = onItsWay(items, parcels);
  // At this point it is certain which items are missing, so even a good outcome is only partial.
  if ((lost === 0 && !isShort) || state.text.endsWith(inPart)) return state;
  return { text: `${state.text}${inPart}`, mood: state.mood === 'good' ? 'bad' : state.mood };
}

function onItsWay(items: readonly unknown[], parcels: readonly unknown[]): ShownState {
  const there = parcels.filter(hasArrived).length;
  if (parcels.length === 0) return waiting(items.includes('shipped') ? 'in transit' : 'placed');
  if (there === parcels.length) {
    if (items.some(isUnfinished)) return waiting(`delivered${inPart}`);
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
