import { type ItemStatus, returnReasons } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { payerOf } from '../orders/lifecycle/advance.ts';
import { chargedCents } from '../orders/lifecycle/payment.ts';
import { drawFor } from '../orders/lifecycle/schedule.ts';
import type { OrderPlan, OrderRecord, Transition } from '../orders/lifecycle/types.ts';
import type { Service } from '../server/service.ts';
import type { Circumstances, ReturnBody, ReturnRecord } from './lifecycle.ts';

type Units = ReturnRecord['items'];

/** Number of units bought; less than ordered if the quantity was relaxed. */
export function boughtQuantity(order: OrderRecord, item: OrderRecord['items'][number]): number {
  const conceded = order.fulfillment?.concessions.find(
    ({ concern, item_id }) => concern === 'quantity' && item_id === item.id,
  );
  return conceded?.fulfilled_quantity ?? item.quantity;
}

/**
 * What the items cost the wallet, in cents; 0 if the wallet did not pay. The items cost their share of the total
 * charge, including shipping and conversion. The shares add up to the order's charge, whichever items are returned
 * first and whichever returns are denied.
 * @param before items of the order's earlier returns.
 */
export function creditFor(order: OrderRecord, items: Units, before: readonly Units[]): number {
  const price = order.job_result?.price_components;
  if (!price || payerOf(order) !== 'wallet' || price.subtotal <= 0) return 0;
  const charged = (goods: number): number =>
    Math.round(chargedCents(price) * Math.min(1, goods / price.subtotal));
  return items.reduce((sum, { order_item_id: id, quantity }) => {
    const { start, unitPrice } = cartPositionOf(order, id);
    // Each unit has a fixed position in the cart, so rounding errors do not accumulate.
    const from = start + unitsOf(before.flat(), id) * unitPrice;
    return sum + charged(from + quantity * unitPrice) - charged(from);
  }, 0);
}

const unitsOf = (units: Units, id: string): number =>
  units.reduce((sum, { order_item_id, quantity }) => sum + (order_item_id === id ? quantity : 0), 0);

/** Total of the lines before an item, and the item's unit price, in minor units of the order's currency. */
function cartPositionOf(order: OrderRecord, id: string): { start: number; unitPrice: number } {
  const cart = order.job_result?.price_components?.cart_items ?? [];
  // The cart has one line per purchased item, in the sequence of the items.
  const index = order.items.filter(({ status }) => status !== 'skipped').findIndex((item) => item.id === id);
  const start = cart.slice(0, Math.max(0, index)).reduce((sum, line) => sum + line.line_total, 0);
  return { start, unitPrice: cart[index]?.unit_price ?? 0 };
}

type Summary = Shape<'ReturnSummary'>;

/** Summary of a return, as shown in the order's record. */
export function summaryOf(record: ReturnRecord): Summary {
  const { id, status, credited_amount, created_at, updated_at } = record;
  // New returns have only current reasons. Legacy names occur only in stored returns.
  const reason = returnReasons.find((known) => known === record.reason) ?? 'other';
  return { id, status, reason, credited_amount, created_at, updated_at };
}

/** Updates one of the returns in an order's record. */
export function withReturn(order: OrderRecord, record: ReturnRecord): OrderRecord {
  const summary = summaryOf(record);
  const isKnown = order.returns.some(({ id }) => id === record.id);
  const returns = isKnown
    ? order.returns.map((other) => (other.id === record.id ? summary : other))
    : [...order.returns, summary];
  const { updated_at: time } = record;
  const updated_at = [time, order.updated_at].toSorted().at(-1) ?? time;
  const stops = record.reason === 'forced_cancellation' && isGranted(record);
  const stopped = stops ? wholeItems(order, record.items) : [];
  const items = order.items.map((item) =>
    stopped.includes(item.id)
      ? { ...item, status: 'cancelled' as const, cancellation_reason: cancelledByReturn, updated_at: time }
      : item,
  );
  return { ...order, items, returns, updated_at };
}

const cancelledByReturn = 'Cancelled at the request of the caller.';
/** Whether a return was credited, or was approved although nothing is credited or sent back. */
const isGranted = ({ status, merchant_return_id: sentBackAs }: ReturnRecord): boolean =>
  status === 'credited' || (status === 'approved' && sentBackAs === null);

/** Ids of the items whose units are all part of the return. */
function wholeItems(order: OrderRecord, lines: ReturnBody['items']): string[] {
  return order.items
    .filter((item) =>
      lines.some((line) => line.order_item_id === item.id && line.quantity === boughtQuantity(order, item)),
    )
    .map(({ id }) => id);
}

/** Removes the journeys of items from an order's plan if a forced cancellation has stopped these items. */
export function withoutStopped(order: OrderRecord, plan: OrderPlan, lines: ReturnBody['items']): OrderPlan {
  const stopped = wholeItems(order, lines);
  const emptied = new Set(parcelsOf(plan).flatMap(([id, items]) => (isIn(items, stopped) ? [id] : [])));
  const left = plan
    .filter((change) => !emptied.has(parcelOf(change) ?? ''))
    .map((change) =>
      change.kind === 'scanned'
        ? { ...change, items: change.items.filter(({ id }) => !stopped.includes(id)) }
        : change,
    );
  const lastTracked = left.findLastIndex(({ kind }) => kind === 'tracked');
  return left.map((change, index) =>
    change.kind === 'tracked' ? { ...change, complete: index === lastTracked } : change,
  );
}

/** The items of each parcel still to be delivered. */
function parcelsOf(plan: OrderPlan): [string, string[]][] {
  const parcels = new Map<string, string[]>();
  for (const change of plan) {
    if (change.kind !== 'scanned') continue;
    const items = change.items.map(({ id }) => id);
    const parcel = parcels.get(change.tracking_id);
    if (parcel) parcel.push(...items);
    else parcels.set(change.tracking_id, items);
  }
  return [...parcels];
}

const isIn = (items: readonly string[], stopped: readonly string[]): boolean =>
  stopped.length > 0 && items.every((id) => stopped.includes(id));

function parcelOf(change: Transition): string | undefined {
  if (change.kind === 'tracked') return change.tracking.id;
  return change.kind === 'scanned' ? change.tracking_id : undefined;
}

const gone: readonly ItemStatus[] = ['shipped', 'available_for_pickup', 'delivered'];

/**
 * Collects the facts that decide a return's outcome, together with the return's reason. @param others the order's other
 * returns.
 */
export function circumstancesOf(
  { config, idGenerator }: Pick<Service, 'config' | 'idGenerator'>,
  order: OrderRecord,
  { id, items }: ReturnRecord,
  others: readonly ReturnRecord[],
): Circumstances {
  const ids = items.map(({ order_item_id }) => order_item_id);
  const taken = others.filter(({ status }) => status !== 'denied').map((other) => other.items);
  return {
    credit: creditFor(order, items, taken),
    hasShipped: order.items.some((item) => ids.includes(item.id) && gone.includes(item.status)),
    // One parcel, and thus one label, per item.
    labels: items.length,
    merchantReturnId: `RMA-${drawFor(idGenerator.seed, id).digits('merchant return', 10)}`,
    speed: config.speed,
  };
}
