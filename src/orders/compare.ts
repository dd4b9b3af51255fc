import { own } from '../contract/json.ts';
import type { Shape } from '../contract/schemas/index.ts';
import { canonicalJson } from '../state/canonical.ts';
import type { Order, OrderRecord } from './order-record.ts';
import {
  type Same,
  sameEntries,
  sameNumber,
  samePhone,
  samePlace,
  samePostalCode,
  sameText,
  sameTexts,
  sameUrl,
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
 * Where an existing order differs from what was requested; empty when it is that very order.
 * Compares only what both sides carry: an older service may echo less than it was sent.
 */
export function differences(body: Body, order: OrderRecord): Difference[] {
  return [
    ...lineDifferences(body, order),
    ...Object.entries(addressFields).flatMap(([field, same]) =>
      compare(
        `shipping_address.${field}`,
        own(body.shipping_address, field),
        own(order.shipping_address, field),
        same,
      ),
    ),
    ...Object.entries(orderFields).flatMap(([field, same]) =>
      compare(field, own(body, field), own(order, field), same),
    ),
  ];
}

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

const addressFields: { readonly [K in keyof Body['shipping_address']]?: Same } = {
  first_name: sameText,
  last_name: sameText,
  address_line1: samePlace,
  address_line2: samePlace,
  city: samePlace,
  state: samePlace,
  postal_code: samePostalCode,
  country: samePlace,
  phone_number: samePhone,
};

const orderFields: { readonly [K in keyof Body & keyof Order]?: Same } = {
  max_price: sameNumber,
  metadata: sameEntries,
  po_number: sameText,
  is_gift: sameText,
  gift_message: sameText,
  handling_days_max: sameNumber,
  retailer_credentials_id: sameText,
};

const lineFields: { readonly [K in keyof Body['products'][number]]?: Same } = {
  url: sameUrl,
  quantity: sameNumber,
  variant: sameTexts,
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
  return [
    {
      field,
      requested: requested ?? null,
      existing,
      isSpelling: isSpelling || isAddedMetadata(field, requested),
    },
  ];
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === false || value === '' || isEmpty(value);

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** A service may add entries of its own where none were requested. */
const isAddedMetadata = (field: string, requested: unknown): boolean =>
  field === 'metadata' && isNothing(requested);
