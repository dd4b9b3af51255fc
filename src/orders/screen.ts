import type { OrderStatus } from '../api/enums.ts';
import { objectsIn, textIn } from '../api/json.ts';
import {
  lineState,
  quantityText,
  type ShownState,
  shortfallOf,
  shortfallsIn,
  spoken,
} from '../api/order-state.ts';
import { type Unchecked, valueAt } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';
import { formatMoney } from '../format/money.ts';
import { plainText } from '../format/path.ts';
import type { Column, Row, TitleOf } from '../format/result.ts';
import { moneyOf } from '../spending/money-of-order.ts';
import { centsIn, chargeOf } from '../spending/price-of-order.ts';
import {
  boughtNothing,
  concessionText,
  lineNames,
  orderColumns,
  orderDetailColumns,
  parcelContents,
  productsOf,
  sentences,
} from './columns.ts';
import { type Order, type OrderRecord, stateOfOrder } from './order-record.ts';

const state: Column<Order> = {
  name: 'state',
  path: 'state',
  kind: 'status',
  weight: 10,
  value: (order) => stateOfOrder(order).text,
  mood: (order) => stateOfOrder(order).mood,
};
const total: Column<Order> = {
  name: 'total',
  path: 'job_result.price_components.total',
  kind: 'money',
  weight: 8,
  value: (order) => paidInTheEnd(order, 'kept'),
};
/** The total as lists show it. Lists have no room for the word `kept`. */
const listTotal: Column<Order> = { ...total, value: (order) => paidInTheEnd(order) };

/** The products of an order on one line: `2 x Ground Coffee, Paper Filters`. */
export const productLine = (order: OrderRecord, titleOf?: TitleOf): string =>
  productsOf(order, titleOf)
    .map((product) => {
      const quantity = quantityText(product);
      return quantity === '1' ? product.name : `${quantity} x ${product.name}`;
    })
    .join(', ');

const ofColumns = (columns: readonly Column<Order>[], ...names: readonly string[]): Column<Order>[] =>
  names.flatMap((name) => columns.find((column) => column.name === name) ?? []);

/** Columns of an order on a TTY: state, product, cost. */
const screenColumns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'orders', weight: 7 },
  state,
  { name: 'product', path: 'product', kind: 'url', weight: 9, value: productLine, usesTitles: true },
  listTotal,
  { name: 'age', absoluteName: 'created', path: 'created_at', kind: 'time', weight: 3 },
  ...ofColumns(orderColumns, 'recipient', 'tracking number', 'reference').map(
    (column): Column<Order> => ({ ...column, isExtra: true }),
  ),
];

const parcelColumns: readonly Column<Shape<'TrackingNumber'>>[] = [
  { name: 'state', path: 'status', kind: 'status', weight: 9 },
  { name: 'carrier', path: 'carrier', weight: 7 },
  { name: 'tracking number', path: 'tracking_number', kind: 'id', weight: 8 },
  { name: 'expected', path: 'estimated_delivery_date', kind: 'date', weight: 6 },
];

const lineColumns: readonly Column[] = [
  {
    name: 'state',
    path: 'shown.text',
    kind: 'status',
    weight: 9,
    mood: ({ shown }) => (shown as ShownState).mood,
  },
  { name: 'quantity', path: 'bought', kind: 'count', weight: 5 },
  { name: 'product', path: 'product', kind: 'url', weight: 8 },
  { name: 'why', path: 'error_type', weight: 7, isProse: true, wraps: true },
];

/** Columns that others replace here, or that are shown with each parcel. */
const replacedColumns: ReadonlySet<string> = new Set([
  ...[
    'id',
    'status',
    'delivery',
    'why',
    'rejected',
    'about',
    'total',
    'quoted',
    'items',
    'tracking',
    'expected',
    'paid back',
  ],
]);

/** Shown only if nothing was paid. */
const quoted = ofColumns(orderDetailColumns, 'quoted').map(
  (column): Column<Order> => ({ ...column, value: (order) => quotedOf(order)?.cents }),
);

/** The price at which an order was refused, in the retailer's currency; undefined if anything was paid. */
export function quotedOf(
  order: OrderRecord,
): { readonly cents: number; readonly currency: string } | undefined {
  if (!boughtNothing(order) || paidInTheEnd(order) !== undefined) return undefined;
  const price = valueAt<Order>(order, 'job_result.price_components');
  const cents = centsIn(price, 'total');
  if (cents === undefined) return undefined;
  return { cents, currency: (textIn(price, 'currency') ?? 'USD').toUpperCase() };
}

/** Details of one order on a TTY, with each parcel. If the order has several lines, also the lines. */
const screenDetailColumns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id' },
  state,
  { name: 'why', path: 'job_result.error', isProse: true },
  ...ofColumns(orderDetailColumns, 'rejected').map((column) => ({ ...column, isProse: true as const })),
  ...ofColumns(orderDetailColumns, 'about'),
  { name: 'product', path: 'product', value: productLine, isProse: true, usesTitles: true },
  total,
  ...quoted,
  ...orderDetailColumns
    .filter(({ name }) => !replacedColumns.has(name))
    .map((column): Column<Order> => (column.kind === undefined ? { ...column, isProse: true } : column))
    .map((column) => (column.name === 'relaxed' ? { ...column, value: concessionsText } : column)),
  { name: 'lines', path: 'items', value: severalLines, columns: lineColumns, usesTitles: true },
  ...parcelsWithContents<Order>('tracking_numbers', parcelColumns, (order, titleOf) =>
    objectsIn(order, 'tracking_numbers').map((parcel) => ({
      ...parcel,
      contents: parcelContents(order, parcel, titleOf),
    })),
  ),
];

/**
 * Columns for the table of an order's parcels. If the service says what a parcel contains, the table has a column for
 * the contents.
 * @param parcelsOf returns the parcels with their `contents`.
 */
export function parcelsWithContents<R>(
  path: string,
  columns: readonly Column[],
  parcelsOf: (record: Unchecked<R>, titleOf?: TitleOf) => readonly Row[],
): Column<R>[] {
  const shown = (record: Unchecked<R>, hasContents: boolean, titleOf?: TitleOf) => {
    const parcels = parcelsOf(record, titleOf);
    return parcels.some(({ contents }) => contents !== '') === hasContents ? parcels : undefined;
  };
  return [
    { name: 'parcels', path, value: (record) => shown(record, false), columns },
    {
      name: 'parcels',
      path,
      value: (record, titleOf) => shown(record, true, titleOf),
      columns: [...columns, { name: 'holds', path: 'contents', weight: 7, isProse: true, wraps: true }],
      usesTitles: true,
    },
  ];
}

/** State and purchased quantity of each line. Undefined if the order has fewer than two lines. */
function severalLines(order: OrderRecord, titleOf?: TitleOf): Row[] | undefined {
  const { items, fulfillment } = order;
  if (!Array.isArray(items) || items.length < 2) return undefined;
  const nameLine = lineNames(order, titleOf);
  const shortfalls = shortfallsIn(fulfillment);
  return objectsIn({ items }, 'items').map((line) => {
    const shortfall = shortfallOf(line, shortfalls);
    const status = plainText(line.status);
    const shown = lineState(status, shortfall !== undefined) ?? { text: spoken(status), mood: undefined };
    return {
      ...line,
      shown,
      product: nameLine(line),
      bought: shortfall ? quantityText(shortfall) : line.quantity,
    };
  });
}

/** Concessions. Each is described in a sentence or two. */
function concessionsText({ fulfillment }: OrderRecord): string {
  return sentences(objectsIn(fulfillment, 'concessions').map(concessionText));
}

/** A list of orders, for scripts and for a TTY. */
export const orderList = { columns: orderColumns, screen: screenColumns } as const;
/** One order, for scripts and for a TTY. */
export const orderView = { columns: orderDetailColumns, screen: screenDetailColumns } as const;

/**
 * Final cost of an order and its refunds, such as `$20.99` or `$1.00 kept, $19.99 back`. A list shows `$1.00, $19.99
 * back`, or only the refund if everything came back. Undefined until the order has a price. Also undefined if nothing
 * was bought or refunded.
 * @param label is the word that follows the amount kept, if any.
 */
function paidInTheEnd(order: OrderRecord, label?: 'kept'): string | undefined {
  const { payer, lines } = moneyOf(order, { feeCents: 0 });
  // If the retailer cancelled an order, the order may have been charged before that.
  const isCharged =
    !boughtNothing(order) || (isCancelledByRetailer(order) && lines.some(({ what }) => what === 'charge'));
  const charge = isCharged ? chargeOf(order) : undefined;
  const returned = lines.filter(({ what }) => what === 'refund' || what === 'credit');
  const currencies = [...new Set(returned.map(({ currency }) => currency))];
  const sums = currencies.map((currency) => ({
    currency,
    cents: -returned.filter((line) => line.currency === currency).reduce((sum, { cents }) => sum + cents, 0),
  }));
  const back = sums.map(({ cents, currency }) => `${formatMoney(cents, currency)} back`).join(', ');
  if (!charge) return back === '' ? undefined : back;
  if (back === '') return formatMoney(charge.cents, charge.currency);
  // Someone who paid by challenge gets back what the order did not use of the payment. Everyone else gets back a part
  // of the cost.
  const same =
    payer === 'challenge' ? 0 : (sums.find(({ currency }) => currency === charge.currency)?.cents ?? 0);
  const retainedCents = Math.max(0, charge.cents - same);
  if (retainedCents === 0 && label === undefined) return back;
  return `${[formatMoney(retainedCents, charge.currency), label].filter(Boolean).join(' ')}, ${back}`;
}

const isCancelledByRetailer = ({ status }: OrderRecord): boolean =>
  status === ('cancelled_by_retailer' satisfies OrderStatus);
