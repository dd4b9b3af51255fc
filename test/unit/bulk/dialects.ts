import { orderOfRow } from '../../../src/api/bulk-row.ts';
import { noReadings, readingLines } from '../../../src/bulk/csv/shop-export-quirks.ts';
import { type RowsOptions, readRows } from '../../../src/bulk/rows.ts';

/** The orders a file describes, the same in every dialect. */
export interface Wanted {
  readonly url: string;
  readonly cents: number;
  readonly first: string;
  readonly last: string;
  readonly street: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly phone: string;
}

export const wanted: readonly Wanted[] = [
  {
    url: 'https://shop.example/a?x=1,2;y',
    cents: 4550,
    first: 'Zoë',
    last: 'Müller',
    street: '1 "Old" Main St, Apt 4',
    city: 'Lakewood',
    state: 'NJ',
    zip: '08701',
    phone: '5125550100',
  },
  {
    url: 'https://shop.example/b',
    cents: 125_000,
    first: 'Grace',
    last: 'Hopper',
    street: '5 Broad St; rear',
    city: 'Austin',
    state: 'TX',
    zip: '78701-1234',
    phone: '+1 512 555 0101',
  },
];

export type Price = 'cents' | 'units' | 'dollars' | 'comma';
export interface Dialect {
  readonly delimiter?: string;
  readonly newline?: string;
  readonly encoding?: 'utf-8' | 'latin1' | 'utf-16le' | 'utf-16be';
  readonly mark?: boolean;
  readonly price?: Price;
  readonly quoteAll?: boolean;
  /** Lines above the header row. */
  readonly above?: readonly string[];
  /** Lines below the rows. */
  readonly below?: readonly string[];
  readonly headings?: readonly string[];
  readonly country?: string;
  readonly spell?: (text: string) => string;
  /** Extra trailing columns, with header. */
  readonly more?: readonly (readonly [heading: string, cell: string])[];
  readonly last?: string;
}

export const usualHeadings = [
  'product_url',
  'PRICE',
  'name',
  'address',
  'city',
  'state',
  'zip',
  'phone',
  'country',
];

const grouped = (units: string, sign: string): string => units.replace(/(?<=\d)(?=(?:\d{3})+$)/g, sign);
function priceText(cents: number, price: Price): string {
  const [units, rest] = [String(Math.floor(cents / 100)), String(cents % 100).padStart(2, '0')];
  if (price === 'cents') return String(cents);
  if (price === 'units') return `${units}.${rest}`;
  return price === 'dollars' ? `$${grouped(units, ',')}.${rest}` : `${grouped(units, '.')},${rest}`;
}

export function fileOf(orders: readonly Wanted[], dialect: Dialect = {}): Buffer {
  const { delimiter = ',', newline = '\n', encoding = 'utf-8', mark = false, price = 'cents' } = dialect;
  const {
    quoteAll = false,
    above = [],
    below = [],
    headings = usualHeadings,
    country = 'US',
    more = [],
  } = dialect;
  const { spell = (text: string) => text, last = newline } = dialect;
  const cell = (text: string): string =>
    quoteAll || new RegExp(`[${delimiter}"\\r\\n]`).test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const heading = price === 'cents' ? 'max_price_cents' : 'max_price';
  const rows = orders.map((one) => [
    ...[
      one.url,
      spell(priceText(one.cents, price)),
      `${one.first} ${one.last}`,
      one.street,
      one.city,
      one.state,
    ],
    ...[spell(one.zip), spell(one.phone), country],
    ...more.map(([, text]) => text),
  ]);
  const names = [
    ...headings.map((name) => (name === 'PRICE' ? heading : name)),
    ...more.map(([name]) => name),
  ];
  const lines = [...above, ...[names, ...rows].map((cells) => cells.map(cell).join(delimiter)), ...below];
  const text = `${mark ? '\ufeff' : ''}${lines.join(newline)}${last}`;
  if (encoding === 'latin1') return Buffer.from(text, 'latin1');
  if (encoding === 'utf-8') return Buffer.from(text);
  const little = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16le' ? little : little.swap16();
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export type Options = Partial<RowsOptions> & { readonly size?: number };

/** Reads the orders of a file and the notes shown to the user; throws on an invalid row. */
export async function read(bytes: Uint8Array, { size = 65_536, ...options }: Options = {}) {
  const readings = noReadings();
  const orders: ReturnType<typeof orderOfRow>[] = [];
  const numbers: number[] = [];
  const given = { name: 'orders.csv', map: {}, readings, ...options };
  for await (const rows of readRows(chunksOf(bytes, size), given))
    for (const { plan, cells, row, issues, number } of rows) {
      if (issues.length > 0)
        throw new Error(
          issues.map(({ column, value, message }) => `${column} ${value} ${message}`).join('\n'),
        );
      orders.push(orderOfRow(plan, cells, row));
      numbers.push(number);
    }
  return { orders, numbers, told: readingLines(readings) };
}

export const asOrders = (orders: readonly Wanted[], country = 'US') =>
  orders.map((one) => ({
    products: [{ url: one.url, quantity: 1 }],
    max_price: one.cents,
    shipping_address: {
      first_name: one.first,
      last_name: one.last,
      address_line1: one.street,
      city: one.city,
      state: one.state,
      postal_code: one.zip,
      phone_number: one.phone,
      country,
    },
  }));
