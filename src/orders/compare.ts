import { isObject, own } from '../api/json.ts';
import type { Shape } from '../api/schemas/index.ts';
import { canonicalJson } from '../format/canonical.ts';
import { eachOrderField } from './input/fields.ts';
import type { Order, OrderRecord } from './order-record.ts';
import {
  type Same,
  sameCountry,
  sameEntries,
  sameNumber,
  samePhone,
  samePlace,
  samePostalCode,
  sameText,
  sameUrl,
  sameValue,
} from './same-value.ts';

export interface Difference {
  readonly field: string;
  readonly requested: unknown;
  readonly existing: unknown;
  /** The service spells the same thing its own way. */
  readonly isSpelling: boolean;
}

type Body = Shape<'OrderCreate'>;

/**
 * Where an existing order differs from what was requested; empty when it is that very order. Every field of the request
 * is compared, but only where the order shows it: an older service may echo less than it was sent.
 */
export const differences = (body: Body, order: OrderRecord): Difference[] =>
  eachOrderField.flatMap(([field]) => {
    const compareOwnWay = ownWays[field];
    if (compareOwnWay === null) return [];
    return compareOwnWay?.(body, order) ?? compare(field, body[field], own(order, field), sameValue);
  });

/**
 * Whether a response describes another order than the one that was sent, as a confused cache may: other products, another
 * ceiling, another intent in the metadata, or somebody else somewhere else.
 */
export function isAnotherOrder(body: Body, order: OrderRecord): boolean {
  const fields = differences(body, order)
    .filter(({ isSpelling, existing }) => !isSpelling && !isNothing(existing))
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
 * Whether an order goes to another recipient than the one that was requested, told by name, street, postal code and
 * country as far as the order shows them. A service may split names and street lines in other ways.
 */
export function hasOtherRecipient(
  { shipping_address: requested }: Body,
  { shipping_address: existing }: OrderRecord,
): boolean {
  const differs = (parts: readonly (keyof Address)[], same: Same): boolean => {
    const [one, other] = [joined(requested, parts), joined(existing, parts)];
    return one !== '' && other !== '' && !same(one, other);
  };
  // Where an order has no second line, it may not show it.
  const isElsewhere =
    differs(['address_line1', 'address_line2'], samePlace) &&
    (joined(existing, ['address_line2']) !== '' || differs(['address_line1'], samePlace));
  const hasPostalCode = [requested, existing].every((address) => joined(address, ['postal_code']) !== '');
  return (
    isElsewhere ||
    differs(['first_name', 'last_name'], sameText) ||
    (hasPostalCode ? differs(['postal_code'], samePostalCode) : differs(['city'], samePlace)) ||
    differs(['country'], sameCountry)
  );
}

type Address = Body['shipping_address'];

const joined = (address: unknown, parts: readonly (keyof Address)[]): string =>
  parts
    .map((part) => own(address, part))
    .filter((value) => !isNothing(value))
    .join(' ');

/** Whether an order is the one that was requested, as the journal keeps the request. */
export const describes = (body: Readonly<Record<string, unknown>>, order: object): boolean =>
  Array.isArray(body.products) &&
  // The journal writes down what was checked when it was requested, and every field of an order is read as unknown.
  differences(body as unknown as Body, order as OrderRecord).every(({ isSpelling }) => isSpelling);

type Compare = (body: Body, order: OrderRecord) => Difference[];
/** One for each part of a field, so that a part that is left out does not compile. */
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

/** The fields that cannot be compared as they stand; null for what no order shows. */
const ownWays: { readonly [K in keyof Body]?: Compare | null } = {
  products: lineDifferences,
  shipping_address: inParts('shipping_address', {
    first_name: sameText,
    last_name: sameText,
    address_line1: samePlace,
    address_line2: samePlace,
    city: samePlace,
    state: samePlace,
    postal_code: samePostalCode,
    country: samePlace,
    phone_number: samePhone,
  }),
  metadata: (body, order) =>
    compare('metadata', body.metadata, order.metadata, sameEntries).map((difference) =>
      isNothing(body.metadata) ? asSpelling(difference) : difference,
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

/** A service may add what nobody requested: entries of the metadata, or the way in which it is paid. */
const asSpelling = (difference: Difference): Difference => ({ ...difference, isSpelling: true });

/** An order shows how it is paid by the block that it has: none where the wallet pays. */
function paymentDifferences({ payment: requested }: Body, { payment, connect }: OrderRecord): Difference[] {
  const isShown = isObject(payment) || isObject(connect) || (payment === null && connect === null);
  if (!isShown) return [];
  const paidBy = isObject(payment) ? own(payment, 'mode') : 'wallet';
  const existing = isObject(connect) ? 'connect' : paidBy;
  const mode = requested?.mode ?? (existing === 'wallet' ? existing : null);
  const found = compare('payment.mode', mode, existing, sameText);
  return requested?.mode === undefined ? found.map(asSpelling) : found;
}

const lineFields: Parts<Body['products'][number]> = {
  url: sameUrl,
  quantity: sameNumber,
  variant: sameValue,
  condition_in: sameValue,
  condition_not_in: sameValue,
};

/** A service may list the lines in another order. */
function lineDifferences({ products }: Body, { items: echoed }: OrderRecord): Difference[] {
  if (!Array.isArray(echoed) || echoed.length === 0) return [];
  const items: unknown[] = [...echoed];
  if (items.length !== products.length) {
    const lines = { requested: `${products.length} lines`, existing: `${items.length} lines` };
    return [{ field: 'products', ...lines, isSpelling: false }];
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

const lineDifference = (place: string, line: object, item: unknown): Difference[] =>
  Object.entries(lineFields).flatMap(([field, same]) =>
    compare(`${place}.${field}`, own(line, field), own(item, field), same),
  );

/** Differences that count weigh more than any number of spellings. */
const weight = (found: readonly Difference[]): number =>
  found.reduce((sum, { isSpelling }) => sum + (isSpelling ? 1 : 100), 0);

function compare(field: string, requested: unknown, existing: unknown, same: Same): Difference[] {
  if (existing === undefined || (isNothing(requested) && isNothing(existing))) return [];
  if (canonicalJson(requested ?? null) === canonicalJson(existing ?? null)) return [];
  const isSpelling = !isNothing(requested) && !isNothing(existing) && same(requested, existing);
  return [{ field, requested: requested ?? null, existing, isSpelling }];
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === '' || isEmpty(value);

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
