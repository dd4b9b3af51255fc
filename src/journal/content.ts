import { canonicalJson, sha256 } from '../format/canonical.ts';
import { parseUrl } from '../platform/net/urls.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * SHA-256 of an intent's content without its idempotency key. Equivalent intents have the same hash, even if they are
 * written differently.
 */
export const contentHash = (operation: string, body: Fields): string =>
  sha256(canonicalJson(canonicalContent(operation, body)));

/** Normalizes an intent's content, without its idempotency key, so that equivalent intents are equal. Pure. */
export function canonicalContent(operation: string, body: Fields): Fields {
  const { idempotency_key: _, ...rest } = body;
  const form = Object.hasOwn(forms, operation) ? forms[operation] : undefined;
  return form ? form(rest) : rest;
}

/** Paths of the fields in which two intents differ. Pure. */
export function differingFields(operation: string, one: Fields, other: Fields): string[][] {
  const form = (Object.hasOwn(forms, operation) && forms[operation]) || fieldsOf;
  const [first, second] = [form(one), form(other)];
  return differing(first, second).flatMap((field) =>
    field === 'shipping_address'
      ? differing(fieldsOf(first[field]), fieldsOf(second[field])).map((part) => [field, part])
      : [[field]],
  );
}

/**
 * SHA-256 of an order's address. Every spelling of the same address has the same hash. Undefined without an address.
 */
export const addressHash = ({ shipping_address: address }: Fields): string | undefined =>
  typeof address === 'object' && address !== null
    ? sha256(canonicalJson(canonicalAddress(address)))
    : undefined;

const differing = (one: Fields, other: Fields): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (field) =>
      field !== 'idempotency_key' &&
      canonicalJson([one[field] ?? null]) !== canonicalJson([other[field] ?? null]),
  );

/** Normalizes an order: ignores address spelling, explicit defaults, empty fields and line order. Pure. */
function canonicalOrder(body: Fields): Fields {
  const { products, shipping_address: address, metadata, payment, ...rest } = body;
  return {
    ...filled(rest),
    products: list(products).map(canonicalLine).sort(byText),
    shipping_address: canonicalAddress(address),
    metadata: fieldsOf(metadata),
    payment: { mode: 'wallet', ...filled(payment) },
  };
}

const canonicalAddress = (address: unknown): Fields => mapFields(filled(address), normalized);

/** Normalizes a return. Pure. */
function canonicalReturn({ order_id, items, ...rest }: Fields): Fields {
  return {
    ...filled(rest),
    order_id: String(order_id).toLowerCase(),
    items: list(items)
      .map((item) => {
        const { order_item_id, quantity } = fieldsOf(item);
        return { order_item_id: String(order_item_id).toLowerCase(), quantity };
      })
      .sort(byText),
  };
}

function canonicalLine(line: unknown): Fields {
  const { url, ...rest } = fieldsOf(line);
  const text = String(url);
  return { quantity: 1, ...filled(rest), url: parseUrl(text)?.href ?? text };
}

/** Ignores whitespace and case. */
const normalized = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().replace(/\s+/g, ' ').toUpperCase() : value;

/** Drops fields that are null, false or empty, at any depth. */
function filled(value: unknown): Fields {
  const entries = Object.entries(fieldsOf(value)).flatMap(([name, inner]): [string, unknown][] => {
    if (inner === undefined || inner === null || inner === false || inner === '') return [];
    if (Array.isArray(inner)) return inner.length === 0 ? [] : [[name, inner]];
    if (typeof inner !== 'object') return [[name, inner]];
    const fields = filled(inner);
    return Object.keys(fields).length === 0 ? [] : [[name, fields]];
  });
  return Object.fromEntries(entries);
}

const mapFields = (fields: Fields, map: (value: unknown) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value)]));

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const byText = (a: unknown, b: unknown): number => (canonicalJson(a) < canonicalJson(b) ? -1 : 1);

/** Content of a batch: its rows, without the file name and the notifications. Pure. */
const canonicalBatch = ({ rows }: Fields): Fields => ({ rows });

const forms: Readonly<Record<string, (body: Fields) => Fields>> = {
  'order.create': canonicalOrder,
  'agent.order.create': canonicalOrder,
  'return.create': canonicalReturn,
  'bulk.create': canonicalBatch,
};
