import type { Shape } from '../contract/schemas/index.ts';
import type { Row } from '../output/result.ts';
import { canonicalJson } from '../state/canonical.ts';

export interface Difference {
  readonly field: string;
  readonly asked: unknown;
  readonly existing: unknown;
}

type Body = Shape<'OrderCreate'>;

/**
 * Where an existing order differs from what was asked for; empty when it is that very order.
 * Compares only what both sides carry: an older service may echo less than it was sent.
 */
export function differences(body: Body, order: Row): Difference[] {
  return [
    ...lineDifferences(body, order),
    ...addressDifferences(body, order),
    ...plainFields.flatMap((field) => compare(field, body[field], order[field])),
  ];
}

const plainFields = [
  'max_price',
  'metadata',
  'po_number',
  'is_gift',
  'gift_message',
  'handling_days_max',
  'retailer_credentials_id',
] as const satisfies readonly (keyof Body)[];

function lineDifferences(body: Body, order: Row): Difference[] {
  const items: unknown[] = Array.isArray(order.items) ? order.items : [];
  if (items.length !== body.products.length) {
    return [{ field: 'products', asked: `${body.products.length} lines`, existing: `${items.length} lines` }];
  }
  return body.products.flatMap((line, index) => {
    const item = asRow(items[index]);
    return [
      ...compare(`products.${index}.url`, line.url, item.url),
      ...compare(`products.${index}.quantity`, line.quantity, item.quantity),
      ...compare(`products.${index}.variant`, line.variant, item.variant),
    ];
  });
}

function addressDifferences(body: Body, order: Row): Difference[] {
  const existing = asRow(order.shipping_address);
  const asked = { ...body.shipping_address, country: body.shipping_address.country.toUpperCase() };
  return Object.entries(asked).flatMap(([field, value]) =>
    compare(
      `shipping_address.${field}`,
      value,
      field === 'country' ? String(existing[field]).toUpperCase() : existing[field],
    ),
  );
}

function compare(field: string, asked: unknown, existing: unknown): Difference[] {
  if (existing === undefined || (isAbsent(asked) && isAbsent(existing))) return [];
  return canonicalJson(asked ?? null) === canonicalJson(existing ?? null)
    ? []
    : [{ field, asked: asked ?? null, existing }];
}

/** A field that was not given comes back as any of these. */
const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || value === false || canonicalJson(value) === '{}';

const asRow = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
