import { isObject, type JsonObject } from '../../../api/json.ts';
import { eachPlainField } from '../../../api/order-fields.ts';
import { normaliseSpellings, type Spelling } from '../../../api/sandbox-faults.ts';
import type { Random } from '../../store/random.ts';

export interface OrderJson extends JsonObject {
  readonly id: unknown;
  readonly shipping_address: JsonObject;
  readonly items: readonly JsonObject[];
}

export const isOrderRecord = (value: unknown): value is OrderJson =>
  isObject(value) &&
  'id' in value &&
  isObject(value.shipping_address) &&
  Array.isArray(value.items) &&
  value.items.every(isObject);

/** Spells the order records in a response as given, or in ways drawn for each. */
export function normalise(value: unknown, named: readonly string[], random: Random): unknown {
  if (Array.isArray(value)) return value.map((each) => normalise(each, named, random));
  if (!isObject(value)) return value;
  if (isOrderRecord(value)) {
    const names = named.length > 0 ? named : random.some(Object.keys(normaliseSpellings), 1);
    return names.filter(isSpelling).reduce<OrderJson>((order, name) => spellings[name](order), value);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, normalise(each, named, random)]),
  );
}

const isSpelling = (name: string): name is Spelling => Object.hasOwn(spellings, name);

type Change = (value: unknown) => unknown;
type Respell = (order: OrderJson) => OrderJson;

/** A change to texts alone. */
const text =
  (change: (text: string) => string): Change =>
  (value) =>
    typeof value === 'string' ? change(value) : value;

const upper = text((value) => value.toUpperCase());

const inAddress =
  (keys: readonly string[], change: Change): Respell =>
  (order) => ({ ...order, shipping_address: changed(order.shipping_address, keys, change) });

const inItems =
  (keys: readonly string[], change: Change): Respell =>
  (order) => ({ ...order, items: order.items.map((item) => changed(item, keys, change)) });

const changed = (object: JsonObject, keys: readonly string[], change: Change): JsonObject => ({
  ...object,
  ...Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, change(object[key])])),
});

const each =
  (change: Change): Change =>
  (value) => {
    if (Array.isArray(value)) return value.map(each(change));
    if (!isObject(value)) return change(value);
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, each(change)(part)]));
  };

const trimmed = each(text((value) => value.trim().replace(/ {2,}/g, ' ')));
const emptied: Change = (value) => value ?? '';
const present = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

const plainTexts = eachPlainField.flatMap(([name, { type }]) => (type === 'string' ? [name] : []));

const spellings: Readonly<Record<Spelling, Respell>> = {
  phone: (order) => inAddress(['phone_number'], international(order.shipping_address.country))(order),
  zip: inAddress(
    ['postal_code'],
    text((code) => (/^\d{5}$/.test(code) ? `${code}-0001` : code)),
  ),
  city: inAddress(['city'], upper),
  street: inAddress(['address_line1', 'address_line2'], text(standardStreet)),
  state: inAddress(
    ['state'],
    text((state) => (state === state.toUpperCase() ? state.toLowerCase() : state.toUpperCase())),
  ),
  country: inAddress(
    ['country'],
    text((code) => threeLetters[code.toUpperCase()] ?? code),
  ),
  name: inAddress(['first_name', 'last_name'], upper),
  spaces: (order) => ({
    ...changed(order, [...plainTexts, 'metadata'], trimmed),
    id: order.id,
    shipping_address: changed(order.shipping_address, Object.keys(order.shipping_address), trimmed),
    items: order.items,
  }),
  metadata: (order) => ({
    ...order,
    metadata: { ...(isObject(order.metadata) && order.metadata), source: 'api' },
  }),
  price: (order) => ({ ...order, max_price: String(order.max_price) }),
  quantity: inItems(['quantity'], String),
  url: inItems(['url'], text(standardUrl)),
  items: (order) => ({ ...order, items: order.items.toReversed() }),
  variant: inItems(['variant'], each(text((value) => value.toLowerCase()))),
  absent: (order) => ({
    ...present(order),
    id: order.id,
    shipping_address: present(order.shipping_address),
    items: order.items.map(present),
  }),
  empty: (order) => ({
    ...changed(order, plainTexts, emptied),
    id: order.id,
    shipping_address: changed(order.shipping_address, ['address_line2', 'state'], emptied),
    items: order.items,
  }),
};

const threeLetters: Readonly<Record<string, string>> = { US: 'USA', DE: 'DEU', IT: 'ITA' };
const callingCodes: Readonly<Record<string, string>> = { US: '1', DE: '49', IT: '39' };

const international = (country: unknown): Change =>
  text((phone) => {
    const digits = phone.replace(/\D/g, '');
    const code = callingCodes[String(country).toUpperCase()] ?? '';
    return phone.startsWith('+') || digits.length > 10 ? `+${digits}` : `+${code}${digits}`;
  });

const abbreviations: Readonly<Record<string, string>> = {
  STREET: 'ST',
  AVENUE: 'AVE',
  ROAD: 'RD',
  DRIVE: 'DR',
  APARTMENT: 'APT',
  SUITE: 'STE',
};

function standardStreet(street: string): string {
  const words = street.toUpperCase().split(' ');
  return words.map((word) => abbreviations[word] ?? word).join(' ');
}

function standardUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.hash = '';
  url.searchParams.sort();
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url.href;
}
