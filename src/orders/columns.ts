import { isObject, type JsonObject, listIn, numberIn, objectsIn, own, textIn } from '../api/json.ts';
import { eachPlainField } from '../api/order-fields.ts';
import { isFailedOrder, type Mood, quantityText, shortfallOf, shortfallsIn } from '../api/order-state.ts';
import { type PathOf, valueAt } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';
import { moodOf } from '../format/cell.ts';
import { rejectionsBeside } from '../format/line-rejections.ts';
import { joinedText, plainText } from '../format/path.ts';
import type { Column, TitleOf } from '../format/result.ts';
import { spanText } from '../format/time.ts';
import { parseUrl } from '../platform/net/urls.ts';
import { metadataOf, referenceIn } from './needs/reference.ts';
import type { Order, OrderRecord } from './order-record.ts';

type Item = Shape<'OrderItem'>;
type Tracking = Shape<'TrackingNumber'>;
type Return = Shape<'ReturnSummary'>;
type Concession = Shape<'FulfillmentConcession'>;

/** Order columns for all formats. */
export const orderColumns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'orders', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'delivery', path: 'delivery', kind: 'status', weight: 8, value: deliveryOf },
  {
    name: 'total',
    path: 'job_result.price_components.total',
    kind: 'money',
    value: (order) => (boughtNothing(order) ? undefined : priceOf(order)),
    weight: 6,
    currency: 'job_result.price_components.currency',
  },
  { name: 'ceiling', path: 'max_price', kind: 'money', weight: 5 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 7 },
  { name: 'product', path: 'items.0.url', kind: 'url', weight: 4 },
  { name: 'quantity', path: 'items.0.quantity', kind: 'count', weight: 2 },
  { name: 'recipient', path: 'recipient', weight: 3, value: recipientOf },
  { name: 'error', path: 'job_result.error_type', weight: 6 },
  { name: 'tracking number', path: 'tracking_numbers.0.tracking_number', weight: 1 },
  { name: 'reference', path: 'reference', value: referenceText, weight: 1, isNamedOnly: true },
];

/** Fields of one order, one per line, as shown to a person. */
export const orderDetailColumns: readonly Column<Order>[] = [
  ...orderColumns.slice(0, 3),
  { name: 'why', path: 'job_result.error' },
  {
    name: 'rejected',
    path: 'job_result.error_details.line_rejections',
    value: (order) => rejectionsBeside(order).join('; '),
    flat: null,
  },
  { name: 'about', path: 'job_result.error_details.url', kind: 'url', value: pageOfError, flat: null },
  ...orderColumns.slice(3, 4),
  {
    name: 'quoted',
    path: 'quoted',
    kind: 'money',
    currency: 'job_result.price_components.currency',
    value: (order) => (boughtNothing(order) ? priceOf(order) : undefined),
  },
  ...orderColumns.slice(4, 6),
  { name: 'items', path: 'items', value: itemsOf },
  { name: 'ship to', path: 'ship_to', value: addressOf },
  { name: 'reference', path: 'reference', value: referenceText, flat: null },
  ...eachPlainField.map(
    ([path, { type, title }]): Column<Order> => ({
      name: title.toLowerCase(),
      path,
      // Omit flags that are false.
      ...(type === 'boolean' && {
        value: (order) => (valueAt<Order>(order, path) === true ? 'yes' : undefined),
      }),
    }),
  ),
  {
    name: 'retailer order',
    path: 'merchant_order_ids',
    value: (order) => joinedText(order.merchant_order_ids),
  },
  { name: 'tracking', path: 'tracking_numbers', value: trackingOf },
  { name: 'expected', path: 'tracking_numbers.0.estimated_delivery_date', kind: 'date' },
  { name: 'relaxed', path: 'fulfillment.concessions', value: concessionsOf },
  { name: 'paid back', path: 'job_result.refunds', kind: 'money', value: paidBack },
  { name: 'returns', path: 'returns', value: returnsOf },
  { name: 'attempts', path: 'attempts', kind: 'count' },
  { name: 'updated', path: 'updated_at', kind: 'time' },
];

export const milestoneColumns: readonly Column<Shape<'OrderMilestone'>>[] = [
  { name: 'at', path: 'occurred_at', kind: 'time', weight: 9 },
  { name: 'milestone', path: 'type', kind: 'status', weight: 10 },
  { name: 'label', path: 'label', weight: 8 },
  { name: 'detail', path: 'detail', weight: 7, value: ({ detail }) => inWords(detail) },
  { name: 'source', path: 'source', weight: 1 },
];

/**
 * Columns of milestones on a TTY. Times are relative to the first milestone.
 * @param start is in ms since the epoch; NaN if unknown.
 */
export const milestoneScreen = (start: number): readonly Column<Shape<'OrderMilestone'>>[] => [
  {
    name: 'after',
    path: 'after',
    weight: 9,
    value: ({ occurred_at: at }) => spanText(Date.parse(plainText(at)) - start),
  },
  {
    name: 'milestone',
    path: 'type',
    kind: 'status',
    weight: 10,
    value: ({ type, label }) => plainText(label) || type,
    mood: ({ type }) => milestoneMood(type),
  },
  {
    name: 'detail',
    path: 'detail',
    weight: 7,
    value: ({ detail }) => inWords(detail),
    isProse: true,
    wraps: true,
  },
  { name: 'at', path: 'occurred_at', kind: 'time', weight: 2, isExtra: 'told' },
  { name: 'source', path: 'source', weight: 1, isExtra: 'told' },
];

/** Mood of a milestone: good or bad if the milestone ends the order well or badly, else `past`. */
export function milestoneMood(type: unknown): Mood {
  const mood = moodOf(plainText(type));
  return mood === 'good' || mood === 'bad' ? mood : 'past';
}

const unpaid: ReadonlySet<unknown> = new Set(['order_failed', 'cancelled', 'cancelled_by_retailer']);

/** Whether nothing was bought. If so, the order's price is the price at which the order was refused. */
export const boughtNothing = ({ status }: OrderRecord): boolean => unpaid.has(status);

const priceOf = (order: OrderRecord): unknown => valueAt<Order>(order, 'job_result.price_components.total');

/** The distinct states of the order's parcels, joined. */
export function deliveryOf(order: OrderRecord): string | undefined {
  const states = [...new Set(list(order.tracking_numbers).map((it) => textAt<Tracking>(it, 'status')))];
  return states.length === 0 ? undefined : states.join(', ');
}

/** The buyer's own name for the order: `shop:REQ-1`. */
function referenceText({ metadata }: OrderRecord): string | undefined {
  const reference = referenceIn(metadata);
  return reference && metadataOf(reference);
}

function recipientOf(order: OrderRecord): string {
  const names = [text(order, 'shipping_address.first_name'), text(order, 'shipping_address.last_name')];
  return names.filter(Boolean).join(' ');
}

function addressOf(order: OrderRecord): string {
  const town = (['city', 'state', 'postal_code', 'country'] as const).map((part) =>
    text(order, `shipping_address.${part}`),
  );
  const street = [
    text(order, 'shipping_address.address_line1'),
    text(order, 'shipping_address.address_line2'),
  ];
  return [recipientOf(order), ...street, town.filter(Boolean).join(' ')].filter(Boolean).join(', ');
}

function itemsOf(order: OrderRecord): string {
  return list(order.items)
    .map(
      (it) => `${textAt<Item>(it, 'quantity')} x ${textAt<Item>(it, 'url')} (${textAt<Item>(it, 'status')})`,
    )
    .join('; ');
}

function trackingOf(order: OrderRecord): string {
  return list(order.tracking_numbers)
    .map((it) => {
      const parcel = `${textAt<Tracking>(it, 'carrier')} ${textAt<Tracking>(it, 'tracking_number')} (${textAt<Tracking>(it, 'status')})`;
      const contents = parcelContents(order, it);
      return contents === '' ? parcel : `${parcel} with ${contents}`;
    })
    .join('; ');
}

function returnsOf(order: OrderRecord): string {
  return list(order.returns)
    .map((it) => `${textAt<Return>(it, 'id')} (${textAt<Return>(it, 'status')})`)
    .join('; ');
}

/** Refunds, in cents, to someone who paid by challenge. Ignores refunds in other formats. */
function paidBack({ job_result: result }: OrderRecord): number | undefined {
  const amounts = list(own(result, 'refunds')).map((it) =>
    own(it, 'currency') === 'usd' ? plainText(own(it, 'amount')) : '',
  );
  const known = amounts.filter((amount) => /^\d{1,15}$/.test(amount));
  return known.length === 0 ? undefined : known.reduce((sum, amount) => sum + Number(amount), 0);
}

function concessionsOf(order: OrderRecord): string {
  return list(valueAt<Order>(order, 'fulfillment.concessions'))
    .map((it) => `${textAt<Concession>(it, 'concern')}: ${textAt<Concession>(it, 'message')}`)
    .join('; ');
}

/** A milestone's detail as text. Scalar values come in order, nested values as JSON. */
function inWords(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return plainText(detail);
  const values = Object.values(detail).flatMap((value) => (Array.isArray(value) ? value : [value]));
  return values.map(plainText).filter(Boolean).join(' ');
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const textAt = <T = never>(record: unknown, path: NoInfer<PathOf<T>>): string =>
  plainText(valueAt<T>(record, path));

const text = (order: OrderRecord, path: PathOf<Order>): string => textAt<Order>(order, path);

/** Describes a concession in words, for example `As many as it sells were bought, as you allowed (2 of 5).` */
export function concessionText(concession: unknown): string {
  const requested = numberIn(concession, 'requested_quantity');
  const bought = numberIn(concession, 'fulfilled_quantity');
  const reason = textIn(concession, 'message') || (textIn(concession, 'code') ?? '').replaceAll('_', ' ');
  const counts =
    requested === undefined || bought === undefined ? '' : ` (${quantityText({ bought, requested })})`;
  return `${withoutStop(reason || 'something was relaxed')}, as you allowed${counts}.`;
}

/** Joins texts. After each text except the last, adds a semicolon unless the text ends as a sentence. */
export const sentences = (texts: readonly string[]): string =>
  texts.map((text, at) => (at === texts.length - 1 || isSentence(text) ? text : `${text};`)).join(' ');

const isSentence = (text: string): boolean => /[.!?]\)?$/.test(text);

/** Why an order failed, and which lines the retailer rejected and why; empty if nothing gives a reason. */
export const failureText = (order: unknown): string =>
  sentences([plainText(own(own(order, 'job_result'), 'error')), ...rejectionsBeside(order)].filter(Boolean));

const withoutStop = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);

/** Name of an ordered product: its title if known, else its URL. */
interface OrderedProduct {
  readonly name: string;
  readonly bought: number;
  /** Quantity requested. Set only if less was bought. */
  readonly requested?: number;
}

/**
 * Products of an order or of a request body. The name of each comes from the receipt, else from `titleOf`, else it is
 * the URL.
 */
export function productsOf(order: unknown, titleOf: TitleOf = () => undefined): OrderedProduct[] {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const lines = [...objectsIn(order, 'items'), ...objectsIn(order, 'products')];
  const shortfalls = isFailedOrder(textIn(order, 'status')) ? [] : shortfallsIn(own(order, 'fulfillment'));
  // Use the receipt only if it covers every line, because a partial list would look complete.
  const isWhole = cart.length >= lines.length && cart.every(nameOf);
  if (isWhole && shortfalls.length === 0)
    return cart.map((item) => ({ name: nameOf(item) ?? '?', bought: quantityOf(item) }));
  const only = isWhole && cart.length === 1 ? nameOf(cart[0]) : undefined;
  const nameLine = lineNames(order, (url) => only ?? titleOf(url));
  return lines.map((line) => {
    const name = nameLine(line);
    const shortfall = shortfallOf(line, shortfalls);
    if (!shortfall) return { name, bought: quantityOf(line) };
    return { name, bought: shortfall.bought, requested: shortfall.requested };
  });
}

/**
 * Returns a function that names a line of an order. The name comes from the receipt, else from `titleOf`, else it is
 * the URL.
 */
export function lineNames(order: unknown, titleOf: TitleOf = () => undefined): (line: JsonObject) => string {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const byId = new Map(cart.map((item) => [textIn(item, 'product_id') || undefined, nameOf(item)]));
  return (line) => {
    const url = textIn(line, 'url') ?? '?';
    const received = idsIn(url).map((id) => byId.get(id));
    return received.find(Boolean) ?? titleOf(url) ?? url;
  };
}

/**
 * Which items are in a parcel of an order: `2 x Ground Coffee, Paper Filters (inferred)`. Empty if the service does not
 * say. The service may name the items of a parcel or the parcels of an item; either is enough.
 */
export function parcelContents(order: unknown, parcel: unknown, titleOf?: TitleOf): string {
  if (!isObject(parcel)) return '';
  const itemIds = new Set(listIn(parcel, 'order_item_ids'));
  const id = textIn(parcel, 'id');
  const held = objectsIn(order, 'items').filter(
    (item) =>
      itemIds.has(textIn(item, 'id')) ||
      (id !== undefined && listIn(item, 'tracking_number_ids').includes(id)),
  );
  if (held.length === 0) return '';
  const nameLine = lineNames(order, titleOf);
  const named = held.map((item) => {
    const quantity = quantityOf(item);
    return quantity === 1 ? nameLine(item) : `${quantity} x ${nameLine(item)}`;
  });
  const mapping = textIn(parcel, 'item_mapping') ?? 'exact';
  return mapping === 'exact' ? named.join(', ') : `${named.join(', ')} (${mapping})`;
}

/** The page that an order's error is about, unless it is the only product's. */
function pageOfError(order: unknown): string | undefined {
  const page = textIn(own(own(order, 'job_result'), 'error_details'), 'url');
  const [item, ...others] = objectsIn(order, 'items');
  return others.length === 0 && textIn(item, 'url') === page ? undefined : page;
}

const nameOf = (item: unknown): string | undefined => textIn(item, 'name') || undefined;
const quantityOf = (item: unknown): number => numberIn(item, 'quantity') ?? 1;

/** Path segments of a product URL. One of them may be the retailer's id of the product. */
const idsIn = (url: string): string[] => parseUrl(url)?.pathname.split('/').filter(Boolean) ?? [];
