import { isObject, type JsonObject, listIn, numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import type { Received } from '../../api/received.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import type { TitleOf } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { addressLine } from '../addresses/options.ts';
import { lineNames } from '../columns.ts';
import { referenceKey } from '../needs/reference.ts';
import type { OrderFlags } from './fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Creates a new payload from an earlier order. Copies every request field that the order's record has, except the key.
 * Flags or prompts supply the missing fields. `titleOf` returns titles from the receipt of the order.
 * @param givesAddress tells whether flags set the address. The default address is never used here.
 * @throws UsageError naming the flag for any field that the record contains only in part.
 */
export async function readLike(
  context: Context,
  id: string,
  flags: OrderFlags,
  givesAddress: boolean,
): Promise<{ readonly fields: Fields; readonly titleOf: TitleOf }> {
  if (context.previewsReads)
    throw new UsageError(
      '--like reads that order, and with --curl nothing is read; --dry-run shows the request',
    );
  const client = await context.client();
  const { body: order } = await client.call('order.get', { path: { order_id: id } });
  const { max_price, shipping_address, metadata } = order;
  if (!isObject(shipping_address) && !givesAddress)
    throw new UsageError(
      `--like: the record of order ${order.id} has no address; say where to with --ship-to`,
    );
  const products = flags.product ? undefined : productsOf(order);
  const fields: Fields = {
    ...(products && { products }),
    ...(typeof max_price === 'number' && { max_price }),
    ...(isObject(shipping_address) && { shipping_address: filled(shipping_address) }),
    ...(isObject(metadata) && { metadata: withoutReference(metadata) }),
    ...Object.fromEntries(eachPlainField.map(([name]) => [name, own(order, name)])),
    customer_notifications: notificationsOf(order),
    payment: paymentOf(order, flags),
    fulfillment: fulfillmentOf(order),
  };
  return { fields: filled(fields), titleOf: titlesIn(order) };
}

/**
 * Removes the reference of the earlier order. The new order is a different order, so it has no reference, or one of its
 * own.
 */
function withoutReference({ [referenceKey]: _, ...metadata }: JsonObject): Fields {
  return metadata;
}

/** Titles from the receipt of an order, by the URL of the line. */
function titlesIn(order: Received<'order.get'>): TitleOf {
  const nameLine = lineNames(order, () => '');
  const titles = new Map(objectsIn(order, 'items').map((line) => [textIn(line, 'url'), nameLine(line)]));
  return (url) => titles.get(url) || undefined;
}

/**
 * @throws UsageError if the record does not identify every line. Without the unidentified lines, the order would be a
 * different one.
 */
function productsOf(order: Received<'order.get'>): Fields[] | undefined {
  const items = listIn(order, 'items');
  if (items.length === 0) return undefined;
  return items.map((item, index) => {
    const url = textIn(item, 'url');
    const quantity = numberIn(item, 'quantity');
    if (!isObject(item) || url === undefined || quantity === undefined)
      throw new UsageError(
        `--like: the record of order ${order.id} does not say what line ${index + 1} was; name the products with --product`,
      );
    const { variant, condition_in, condition_not_in } = item;
    return { ...filled({ variant, condition_in, condition_not_in }), url, quantity };
  });
}

function notificationsOf(order: Received<'order.get'>): Fields | undefined {
  const email = textIn(order.customer_notifications, 'email');
  return email === undefined ? undefined : { email };
}

/** @throws UsageError if the record describes the payment incompletely and no flag replaces the payment. */
function paymentOf(order: Received<'order.get'>, { paymentMode }: OrderFlags): Fields | undefined {
  const mode = isObject(order.connect) ? 'connect' : textIn(order.payment, 'mode');
  if (paymentMode !== undefined && paymentMode !== mode) return undefined;
  if (mode === 'connect' && paymentMode === undefined)
    throw new UsageError(
      `--like: order ${order.id} was charged to a connected customer, whom its record does not name; give --payment-mode connect with --payment-customer and --margin, or --payment-mode wallet`,
    );
  if (mode !== 'card') return undefined;
  return filled({ mode, payment_method: textIn(order.payment, 'payment_method') });
}

function fulfillmentOf({ fulfillment }: Received<'order.get'>): Fields {
  const { gift, items, quantity, excluded_merchants } = isObject(fulfillment) ? fulfillment : {};
  return filled({ gift, items, quantity, excluded_merchants });
}

/** Drops empty fields. */
const filled = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Formats a payload for a person who did not type the payload.
 * @param titleOf returns the titles of products that are known.
 */
export function payloadLines(payload: Fields, titleOf: TitleOf = () => undefined): string[] {
  const { products, max_price: ceiling, shipping_address: address, ...rest } = payload;
  return [
    ...objectsIn({ products }, 'products').map((line) => `  ${lineText(line, titleOf)}`),
    ...alignedLines([
      ...(typeof ceiling === 'number' ? [['ceiling', formatMoney(ceiling)] as const] : []),
      ...(isObject(address) ? [['ship to', addressLine(address)] as const] : []),
      ...otherRows(rest),
    ]),
  ];
}

type TitledRow = readonly [title: string, text: string];

/** A row for each field of a payload. */
export const otherRows = (fields: Fields): TitledRow[] =>
  Object.entries(fields).map(([name, value]) => [fieldTitle(name), valueText(value)]);

/** Rows as indented lines, their texts in one column. */
export function alignedLines(rows: readonly TitledRow[]): string[] {
  const width = Math.max(0, ...rows.map(([title]) => title.length));
  return rows.map(([title, text]) => `  ${title.padEnd(width)}  ${text}`);
}

function lineText(line: JsonObject, titleOf: TitleOf): string {
  const choices = [
    ...objectsIn(line, 'variant').map((it) => `${plainText(it.label)}: ${plainText(it.value)}`),
    ...listIn(line, 'condition_in').map(plainText),
    ...listIn(line, 'condition_not_in').map((it) => `not ${plainText(it)}`),
  ];
  return `${plainText(line.quantity ?? 1)} x ${titleOf(plainText(line.url)) ?? plainText(line.url)}${choices.length > 0 ? ` (${choices.join(', ')})` : ''}`;
}

const fieldTitle = (name: string): string =>
  (eachPlainField.find(([field]) => field === name)?.[1].title ?? name.replaceAll('_', ' ')).toLowerCase();

function valueText(value: unknown): string {
  if (value === true) return 'yes';
  if (!isObject(value)) return plainText(value);
  const parts = Object.entries(value).map(([name, inner]) => `${name}=${plainText(inner)}`);
  return parts.join(', ');
}
