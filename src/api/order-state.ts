import { failedOrderStatuses, type ItemStatus, type OrderStatus, type TrackingStatus } from './enums.ts';
import { shortErrorType } from './error-types.ts';
import { numberIn, objectsIn } from './json.ts';

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
  /** What was relaxed for it (`fulfillment`); public tracking does not say it. */
  readonly fulfillment?: unknown;
  /** Why it failed, where the order says so. */
  readonly errorType?: unknown;
}

/** Not all that was asked for was bought, or came. */
const inPart = ' in part';
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

/** Of a line that was bought in a smaller quantity than was asked for. */
export interface Shortfall {
  readonly requested: number;
  readonly bought: number;
  /** The line, as far as the concession names it. */
  readonly itemId: unknown;
  readonly url: unknown;
}

/** What an order got less of than was asked for. @param fulfillment of an order, as it was received */
export const shortfallsIn = (fulfillment: unknown): Shortfall[] =>
  objectsIn(fulfillment, 'concessions').flatMap((concession) => {
    const requested = numberIn(concession, 'requested_quantity');
    const bought = numberIn(concession, 'fulfilled_quantity');
    if (requested === undefined || bought === undefined || bought >= requested) return [];
    return [{ requested, bought, itemId: concession.item_id, url: concession.url }];
  });

/** How much of a product was bought, as people write it: `2`, `2 of 5`. */
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

/** Whether a concession is about a line: by its id, else by its URL. */
export const isAbout = (concession: Pick<Shortfall, 'itemId' | 'url'>, line: Line): boolean =>
  typeof concession.itemId === 'string' ? concession.itemId === line.id : concession.url === line.url;

/** The shortfall of one line. */
export const shortfallOf = (line: Line, shortfalls: readonly Shortfall[]): Shortfall | undefined =>
  shortfalls.find((shortfall) => isAbout(shortfall, line));

/** A value of the wire as people write it. */
export const spoken = (name: string): string => name.replaceAll('_', ' ');

/** The state of one line of an order; one that is not bought, or not whole, has not ended well. */
export function lineState(status: string, isShort: boolean): ShownState | undefined {
  const text = spoken(status);
  if (isDropped(status)) return bad(text);
  if (hasArrived(status)) return isShort ? bad(`${text}${inPart}`) : good(text);
  return isUnfinished(status) ? waiting(isShort ? `${text}${inPart}` : text) : undefined;
}

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
  // What is left out is known by then: the rest ends well, and not all of what was ordered.
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
