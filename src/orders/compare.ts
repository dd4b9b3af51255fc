import { namedCountry, usStates } from '../api/country.ts';
import { isObject, own } from '../api/json.ts';
import { type PlainFieldName, plainOrderFields } from '../api/order-fields.ts';
import type { Shape } from '../api/schemas/index.ts';
import { canonicalJson } from '../format/canonical.ts';
import { canonicalPage } from '../format/canonical-product.ts';
import { barePlace } from '../format/canonical-recipient.ts';
import { bare } from '../format/folded.ts';
import { formatMoney } from '../format/money.ts';
import { parseUrl } from '../platform/net/urls.ts';
import { eachOrderField } from './input/fields.ts';
import type { Order, OrderRecord } from './order-record.ts';

/** Whether two values are equivalent, even if the service spells one of them differently. */
type Same = (requested: unknown, existing: unknown) => boolean;

const exact: Same = (a, b) => canonicalJson(a) === canonicalJson(b);

const ofTexts =
  (same: (a: string, b: string) => boolean): Same =>
  (a, b) =>
    isScalar(a) && isScalar(b) ? same(String(a), String(b)) : exact(a, b);

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/**
 * Whether one text abbreviates the other, such as `US` and `USA`. Both must start with the same letter. The longer text
 * must contain the letters of the shorter text in the same order.
 */
function abbreviates(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short === long) return true;
  if (/\p{N}/u.test(a + b) || short[0] !== long[0]) return false;
  let at = 0;
  for (const letter of long) if (letter === short[at]) at += 1;
  return at === short.length;
}

const sameText = ofTexts((a, b) => bare(a) === bare(b));

const samePlace = ofTexts((a, b) => barePlace(a) === barePlace(b));

const stateCodes: ReadonlyMap<string, string> = new Map(
  Object.entries(usStates).flatMap(([code, name]) => [
    [code, code],
    [bare(name), code],
  ]),
);

/** Compares codes and names. If the state is unknown, the code must abbreviate the name. */
const sameState = ofTexts((a, b) => {
  const [one, other] = [bare(a), bare(b)];
  const [code, otherCode] = [stateCodes.get(one), stateCodes.get(other)];
  if (code !== undefined && otherCode !== undefined) return code === otherCode;
  const isCodeAndName = one.length > 3 !== other.length > 3;
  return one === other || (isCodeAndName && abbreviates(one, other));
});

/** Compares country names, and country codes of two or three letters. An unknown name matches anything. */
const sameCountry = ofTexts((a, b) => {
  const [one = '', other = ''] = [a, b].map((text) => bare(namedCountry(text) ?? text));
  return one.length > 3 || other.length > 3 || abbreviates(one, other);
});

/** Compares postal codes, with or without the ZIP+4 suffix. */
const samePostalCode = ofTexts((a, b) => {
  const [short = '', long = ''] = [bare(a), bare(b)].sort((one, other) => one.length - other.length);
  return short === long || (short.length >= 4 && long.startsWith(short));
});

/** Compares phone numbers, with or without the country code. */
const samePhone = ofTexts((a, b) => {
  const [short = '', long = ''] = [a, b]
    .map((text) => text.replace(/\D/g, ''))
    .sort((one, other) => one.length - other.length);
  return short === long || (short.length >= 6 && long.endsWith(short.replace(/^0/, '')));
});

/** Compares numbers, which may be given as text. An empty string is not a number. */
const sameNumber = ofTexts((a, b) => a.trim() !== '' && b.trim() !== '' && Number(a) === Number(b));

const sameUrl = ofTexts((a, b) => canonicalPage(a) === canonicalPage(b));

/** Compares the requested entries; the service may add or omit some. */
const sameEntries: Same = (requested, existing) =>
  isObject(requested) && isObject(existing)
    ? Object.entries(requested).every(
        ([key, value]) => !Object.hasOwn(existing, key) || sameText(value, existing[key]),
      )
    : exact(requested, existing);

/** Compares numbers, text, and nested lists and objects of them. */
const sameValue: Same = (a, b) => {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, at) => sameValue(one, b[at]));
  if (isObject(a) && isObject(b)) return Object.keys(a).every((key) => sameValue(a[key], b[key]));
  return typeof a === 'number' ? sameNumber(a, b) : sameText(a, b);
};

export interface Difference {
  readonly field: string;
  readonly requested: unknown;
  readonly existing: unknown;
  /** True if both values mean the same and differ only in the service's own spelling. */
  readonly isVariant: boolean;
}

type Body = Shape<'OrderCreate'>;

/**
 * Differences between an existing order and a request; empty if the order is the requested one. Compares only fields of
 * the request that the order shows, because an older service may return fewer fields.
 */
export const differences = (body: Body, order: OrderRecord): Difference[] =>
  eachOrderField.flatMap(([field]) => {
    const compareOwnWay = ownWays[field];
    if (compareOwnWay === null) return [];
    return compareOwnWay?.(body, order) ?? compare(field, body[field], own(order, field), sameValue);
  });

/**
 * Whether a response describes another order than the one sent, which a faulty cache may cause. That is the case if
 * products, ceiling or metadata differ, or if both the person and the address differ.
 */
export function isOtherOrder(body: Body, order: OrderRecord): boolean {
  const fields = differences(body, order)
    .filter(({ isVariant, existing }) => !isVariant && !isNothing(existing))
    .map(({ field }) => field);
  const isElsewhere = ['address_line1', 'postal_code', 'city'].some((part) =>
    fields.includes(`shipping_address.${part}`),
  );
  const isSomebodyElse = fields.some((field) => /^shipping_address\.(?:first|last)_name$/.test(field));
  return (
    fields.some((field) => field.startsWith('products') || field === 'max_price' || field === 'metadata') ||
    (isElsewhere && isSomebodyElse)
  );
}

/**
 * Like `isOtherOrder`, but stricter. Used for orders that were not received as the response to the request. Also
 * rejects a missing variant or condition, and a different account or gift setting.
 * @param order is an order as `absentAsNull` returns it.
 */
export function isOtherThanRequested(body: Body, order: OrderRecord): boolean {
  return (
    isOtherOrder(body, order) ||
    differences(body, order).some(
      ({ field, requested, existing, isVariant }) =>
        !isVariant && (isNothing(existing) ? isShownWhereSent(field) : isPlain(field, requested)),
    )
  );
}

const lineField = /^products\.\d+\.(?:variant|condition_in|condition_not_in)$/;
const plainShown: readonly string[] = [
  'retailer_credentials_id',
  'is_gift',
  'gift_message',
] satisfies PlainFieldName[];
const isShownWhereSent = (field: string): boolean => lineField.test(field) || plainShown.includes(field);

/** If no account is requested, the service may choose one. */
const isPlain = (field: string, requested: unknown): boolean =>
  Object.hasOwn(plainOrderFields, field) && (field !== 'retailer_credentials_id' || !isNothing(requested));

/** In an order that has lines, sets omitted fields to null, because a service may leave out fields that are null. */
export function absentAsNull<T extends OrderRecord>(order: T): T {
  if (!Array.isArray(order.items) || order.items.length === 0) return order;
  const items = order.items.map((item: unknown) =>
    isObject(item) ? { variant: null, condition_in: null, condition_not_in: null, ...item } : item,
  );
  const plain = Object.fromEntries(plainShown.map((field) => [field, own(order, field) ?? null]));
  return { ...order, ...plain, items };
}

/**
 * Whether an order goes to another recipient than requested, judging by the fields that the order shows. A service may
 * split names and street lines differently, and may omit the phone number, but must not omit a street line.
 */
export function hasOtherRecipient(
  { shipping_address: requested }: Body,
  { shipping_address: existing }: OrderRecord,
): boolean {
  const differs = (parts: readonly (keyof Address)[], same: Same): boolean => {
    const [one, other] = [joined(requested, parts), joined(existing, parts)];
    return one !== '' && other !== '' && !same(one, other);
  };
  return (
    differs(['address_line1', 'address_line2'], samePlace) ||
    differs(['first_name', 'last_name'], sameText) ||
    differs(['postal_code'], samePostalCode) ||
    differs(['city'], samePlace) ||
    differs(['state'], sameState) ||
    differs(['country'], sameCountry) ||
    differs(['phone_number'], samePhone)
  );
}

/** Whether an order has a product in common with a request, even if the service writes the URL very differently. */
export const hasSameProduct = ({ products }: Body, { items }: OrderRecord): boolean =>
  Array.isArray(items) &&
  items.some((item: unknown) => products.some(({ url }) => isOfOneProduct(url, String(own(item, 'url')))));

const isOfOneProduct = (one: string, other: string): boolean =>
  sameUrl(one, other) || (lastOfPath(one) !== '' && lastOfPath(one) === lastOfPath(other));

const lastOfPath = (text: string): string =>
  (parseUrl(text)?.pathname ?? text)
    .split('/')
    .map(bare)
    .findLast((part) => part !== '') ?? '';

type Address = Body['shipping_address'];

const joined = (address: unknown, parts: readonly (keyof Address)[]): string =>
  parts
    .map((part) => own(address, part))
    .filter((value) => !isNothing(value))
    .join(' ');

/** Whether an order matches a request, as the journal recorded the request. */
export const describes = (body: Readonly<Record<string, unknown>>, order: object): boolean =>
  Array.isArray(body.products) &&
  // The casts are safe. The body was validated before it was written to the journal, and every field of the order is
  // read as unknown.
  differences(body as unknown as Body, order as OrderRecord).every(({ isVariant }) => isVariant);

type Compare = (body: Body, order: OrderRecord) => Difference[];
/** One comparison for each part of a field. If a comparison is missing, this does not compile. */
type Parts<T> = { readonly [K in keyof Required<T>]: Same };

const inParts =
  <K extends keyof Body & keyof Order>(field: K, parts: Parts<NonNullable<Body[K]>>): Compare =>
  (body, { [field]: existing }) =>
    existing === undefined
      ? []
      : Object.entries<Same>(parts).flatMap(([part, same]) =>
          compare(
            `${field}.${part}`,
            own(body[field], part),
            existing === null ? null : own(existing, part),
            same,
          ),
        );

/** Fields that need a comparison of their own; null for fields that no order shows. */
const ownWays: { readonly [K in keyof Body]?: Compare | null } = {
  products: lineDifferences,
  shipping_address: inParts('shipping_address', {
    first_name: sameText,
    last_name: sameText,
    address_line1: samePlace,
    address_line2: samePlace,
    city: samePlace,
    state: sameState,
    postal_code: samePostalCode,
    country: sameCountry,
    phone_number: samePhone,
  }),
  metadata: (body, order) =>
    compare('metadata', body.metadata, order.metadata, sameEntries).map((difference) =>
      isNothing(body.metadata) ? asVariant(difference) : difference,
    ),
  customer_notifications: inParts('customer_notifications', { email: sameText }),
  payment: paymentDifferences,
  fulfillment: inParts('fulfillment', {
    gift: sameText,
    items: sameText,
    quantity: sameText,
    excluded_merchants: sameValue,
  }),
  idempotency_key: null,
  webhooks: null,
};

/**
 * Marks a difference as a mere variant, because a service may add what nobody requested, such as metadata or a payment
 * mode.
 */
const asVariant = (difference: Difference): Difference => ({ ...difference, isVariant: true });

/**
 * Derives an order's payment mode from the payment block of the order. An order without such a block was paid from the
 * wallet.
 */
function paymentDifferences({ payment: requested }: Body, { payment, connect }: OrderRecord): Difference[] {
  const isShown = isObject(payment) || isObject(connect) || (payment === null && connect === null);
  if (!isShown) return [];
  const paidBy = isObject(payment) ? own(payment, 'mode') : 'wallet';
  const existing = isObject(connect) ? 'connect' : paidBy;
  const mode = requested?.mode ?? (existing === 'wallet' ? existing : null);
  const found = compare('payment.mode', mode, existing, sameText);
  return requested?.mode === undefined ? found.map(asVariant) : found;
}

const lineFields: Parts<Body['products'][number]> = {
  url: sameUrl,
  quantity: sameNumber,
  variant: sameValue,
  condition_in: sameValue,
  condition_not_in: sameValue,
};

const linesText = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`;

/** Compares the lines of orders. The sequence of the lines does not matter. */
function lineDifferences({ products }: Body, { items: echoed }: OrderRecord): Difference[] {
  if (!Array.isArray(echoed) || echoed.length === 0) return [];
  const items: unknown[] = [...echoed];
  if (items.length !== products.length) {
    const lines = { requested: linesText(products.length), existing: linesText(items.length) };
    return [{ field: 'products', ...lines, isVariant: false }];
  }
  return products.flatMap((line, index) => {
    const ranked = items
      .map((item, at) => ({ at, found: lineDifference(`products.${index}`, line, item) }))
      .sort((a, b) => weight(a.found) - weight(b.found));
    const [best] = ranked;
    if (best) items.splice(best.at, 1);
    return best?.found ?? [];
  });
}

const lineDifference = (path: string, line: object, item: unknown): Difference[] =>
  Object.entries(lineFields).flatMap(([field, same]) =>
    compare(`${path}.${field}`, own(line, field), own(item, field), same),
  );

/** A single real difference outweighs any number of differences in spelling. */
const weight = (found: readonly Difference[]): number =>
  found.reduce((sum, { isVariant }) => sum + (isVariant ? 1 : 100), 0);

function compare(field: string, requested: unknown, existing: unknown, same: Same): Difference[] {
  if (existing === undefined || (isNothing(requested) && isNothing(existing))) return [];
  if (canonicalJson(requested ?? null) === canonicalJson(existing ?? null)) return [];
  const isVariant = !isNothing(requested) && !isNothing(existing) && same(requested, existing);
  return [{ field, requested: requested ?? null, existing, isVariant }];
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === '' || isEmpty(value);

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** The differences as shown in an error. Leaves out fields that are only spelled differently. */
export const shownDifferences = (
  differing: readonly Difference[],
): readonly Omit<Difference, 'isVariant'>[] =>
  differing
    .filter(({ isVariant }) => !isVariant)
    .map(({ field, requested, existing }) => ({ field, requested, existing }));

/** The same as text: `quantity: requested 2, exists 1`. */
export const differencesText = (differing: readonly Difference[]): string =>
  shownDifferences(differing)
    .map(
      ({ field, requested, existing }) =>
        `${field}: requested ${JSON.stringify(requested)}, exists ${JSON.stringify(existing)}`,
    )
    .join('; ');

/** The differences in a form for people: `ceiling $50.00, now $51.00`. */
export const changesText = (differing: readonly Difference[]): string =>
  shownDifferences(differing)
    .map(
      ({ field, requested, existing }) =>
        `${changedField(field)} ${changedValue(field, existing)}, now ${changedValue(field, requested)}`,
    )
    .join('; ');

function changedField(field: string): string {
  const [, line = '0', part] = /^products\.(\d+)\.(.+)$/.exec(field) ?? [];
  if (part !== undefined) return line === '0' ? part : `${part} of line ${Number(line) + 1}`;
  return fieldLabels[field] ?? field.replaceAll(/[_.]/g, ' ');
}

const fieldLabels: Readonly<Partial<Record<string, string>>> = {
  max_price: 'ceiling',
  is_gift: 'gift',
  po_number: 'PO number',
};

function changedValue(field: string, value: unknown): string {
  if (field === 'is_gift') return value === true ? 'yes' : 'no';
  if (isNothing(value)) return 'none';
  if (field === 'max_price' && typeof value === 'number') return formatMoney(value);
  return typeof value === 'string' && /^[\p{L}\p{N} .,:/@+-]+$/u.test(value) ? value : JSON.stringify(value);
}
