import { accessor, joinedText, plainText } from '../output/path.ts';
import type { Column, Row } from '../output/result.ts';

/** An order's columns, for every format. */
export const orderColumns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'delivery', path: 'delivery', kind: 'status', weight: 8, value: deliveryOf },
  {
    name: 'total',
    path: 'job_result.price_components.total',
    kind: 'money',
    value: (order) => (cameToNothing(order) ? undefined : priceOf(order)),
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
];

/** What a person wants of one order, line by line. */
export const orderDetailColumns: readonly Column[] = [
  ...orderColumns.slice(0, 3),
  { name: 'why', path: 'job_result.error' },
  ...orderColumns.slice(3, 4),
  {
    name: 'quoted',
    path: 'quoted',
    kind: 'money',
    currency: 'job_result.price_components.currency',
    value: (order) => (cameToNothing(order) ? priceOf(order) : undefined),
  },
  ...orderColumns.slice(4, 6),
  { name: 'items', path: 'items', value: itemsOf },
  { name: 'ship to', path: 'ship_to', value: addressOf },
  { name: 'po number', path: 'po_number' },
  { name: 'gift message', path: 'gift_message' },
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

export const milestoneColumns: readonly Column[] = [
  { name: 'at', path: 'occurred_at', kind: 'time', weight: 9 },
  { name: 'milestone', path: 'type', kind: 'status', weight: 10 },
  { name: 'label', path: 'label', weight: 8 },
  { name: 'detail', path: 'detail', weight: 7, value: ({ detail }) => inWords(detail) },
  { name: 'source', path: 'source', weight: 1 },
];

const unpaid: ReadonlySet<unknown> = new Set(['order_failed', 'cancelled', 'cancelled_by_retailer']);

/** Whether nothing was bought in the end: the price is then what the order was refused at. */
export const cameToNothing = ({ status }: Row): boolean => unpaid.has(status);

const priceOf = accessor('job_result.price_components.total');

/** The furthest that a parcel of the order has come; parcels of one order may differ. */
export function deliveryOf(order: Row): string | undefined {
  const states = [...new Set(list(order.tracking_numbers).map((tracking) => field(tracking, 'status')))];
  return states.length === 0 ? undefined : states.join(', ');
}

function recipientOf(order: Row): string {
  const address = order.shipping_address;
  return [field(address, 'first_name'), field(address, 'last_name')].filter(Boolean).join(' ');
}

function addressOf(order: Row): string {
  const address = order.shipping_address;
  const town = ['city', 'state', 'postal_code', 'country'].map((name) => field(address, name));
  const parts = [recipientOf(order), field(address, 'address_line1'), field(address, 'address_line2')];
  return [...parts, town.filter(Boolean).join(' ')].filter(Boolean).join(', ');
}

function itemsOf(order: Row): string {
  return list(order.items)
    .map((item) => `${field(item, 'quantity')} x ${field(item, 'url')} (${field(item, 'status')})`)
    .join('; ');
}

function trackingOf(order: Row): string {
  return list(order.tracking_numbers)
    .map((it) => `${field(it, 'carrier')} ${field(it, 'tracking_number')} (${field(it, 'status')})`)
    .join('; ');
}

function returnsOf(order: Row): string {
  return list(order.returns)
    .map((it) => `${field(it, 'id')} (${field(it, 'status')})`)
    .join('; ');
}

/** What a payer by challenge got back, cents; a service that says it in another way is not understood here. */
function paidBack({ job_result: result }: Row): number | undefined {
  const refunds = typeof result === 'object' && result !== null ? Reflect.get(result, 'refunds') : [];
  const amounts = list(refunds).map((it) => (field(it, 'currency') === 'usd' ? field(it, 'amount') : ''));
  const known = amounts.filter((amount) => /^\d{1,15}$/.test(amount));
  return known.length === 0 ? undefined : known.reduce((sum, amount) => sum + Number(amount), 0);
}

function concessionsOf(order: Row): string {
  const { fulfillment } = order;
  const concessions =
    typeof fulfillment === 'object' && fulfillment !== null ? Reflect.get(fulfillment, 'concessions') : [];
  return list(concessions)
    .map((it) => `${field(it, 'concern')}: ${field(it, 'message')}`)
    .join('; ');
}

/** The plain values of a milestone's detail, in their order; JSON of what lies deeper. */
function inWords(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return plainText(detail);
  const values = Object.values(detail).flatMap((value) => (Array.isArray(value) ? value : [value]));
  return values.map(plainText).filter(Boolean).join(' ');
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function field(record: unknown, name: string): string {
  if (typeof record !== 'object' || record === null || !Object.hasOwn(record, name)) return '';
  const value: unknown = Reflect.get(record, name);
  return plainText(value);
}
