import { orderOfRow, rowReader } from '../../api/bulk-row.ts';
import { isObject, listIn, numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { sha256 } from '../../format/canonical.ts';
import type { Intent, JournalRecord } from '../../journal/journal-record.ts';
import type { OrderToReserve } from '../../journal/reservation-row.ts';
import { hostAsName } from './retailers.ts';
import { hostOf, productOf } from './url-forms.ts';

/** An order as a policy judges it, before anything is sent. */
export interface SpendingOrder extends OrderToReserve {
  readonly lines: readonly OrderLine[];
  /** Two capitals. */
  readonly country: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The number of its row, where it comes from a table. */
  readonly row: number | undefined;
}

export interface OrderLine {
  readonly url: string;
  readonly quantity: number;
  readonly host: string;
  /** What its retailer is known by: the host, and a name where the policy names retailers. */
  readonly retailer: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

interface Terms {
  readonly feeCents: number;
  readonly isRehearsal: boolean;
  /** Numbers of the rows of a batch, as a spreadsheet shows them. */
  readonly numbers?: readonly number[] | undefined;
}

/** The orders that an intent leads to; of a batch one for each row whose price can be read. Pure. */
export function ordersOf(intent: Intent, { numbers, ...terms }: Terms): SpendingOrder[] {
  if (intent.operation !== 'bulk.create')
    return [orderOf(intent, intent.key, paidAtLeast(intent, terms.feeCents), intent.body, terms, undefined)];
  return [...rowsIn(intent)].map(({ key, body, price }, index) => {
    // A price that nobody can read here may be read by the service: no limit holds it.
    const cents = price === null ? Number.MAX_SAFE_INTEGER : price + terms.feeCents;
    return orderOf(intent, key, cents, body, terms, numbers?.[index] ?? index + 1);
  });
}

/** What each order of a record may cost, without the fee; cents. Pure. */
export function ceilingsOf({ key, base_url: baseUrl, account, operation, body }: JournalRecord) {
  const ceilings =
    operation === 'bulk.create'
      ? [...rowsIn({ key, body })].map(({ key: row, price }) => ({ key: row, cents: price ?? 0 }))
      : [{ key, cents: numberIn(body, 'max_price') ?? 0 }];
  return ceilings.map((one) => ({ ...one, baseUrl, account, intent: key, feeCents: 0 }));
}

/** The rows of a batch as orders, each with its idempotency key and its ceiling in cents, null where it cannot be read. Pure. */
export function* rowsIn({ body, key: batch }: Pick<Intent, 'body' | 'key'>): Generator<{
  readonly key: string;
  readonly body: Fields;
  readonly price: number | null;
}> {
  const read = rowReader();
  for (const [index, cells] of objectsIn(body, 'rows').entries()) {
    const { plan, values, row } = read(textCells(cells));
    const key = row.cell('idempotency_key') || `${batch} ${index}`;
    yield { key, body: { ...orderOfRow(plan, values, row) }, price: row.maxPrice };
  }
}

function orderOf(
  { baseUrl, account, key: intent }: Intent,
  key: string,
  cents: number,
  body: Fields,
  { feeCents, isRehearsal }: Omit<Terms, 'numbers'>,
  row: number | undefined,
): SpendingOrder {
  const lines = objectsIn(body, 'products').map((line): OrderLine => {
    const url = textIn(line, 'url') ?? '';
    const host = hostOf(url);
    return { url, host, quantity: numberIn(line, 'quantity') ?? 1, retailer: [hostAsName(host)] };
  });
  const metadata = plainMetadata(own(body, 'metadata'));
  const address = own(body, 'shipping_address');
  return {
    ...{ key, baseUrl, account, intent, cents, feeCents, isRehearsal, lines, metadata, row },
    country: (textIn(address, 'country') ?? '').trim().toUpperCase(),
    facts: {
      retailers: [...new Set(lines.flatMap(({ retailer }) => retailer))],
      metadata: Object.entries(metadata).map(metadataHash),
      products: [...new Set(lines.map(({ url }) => hash(productOf(url))))],
      address: addressHash(address),
    },
  };
}

/** What is paid up front may be more than the ceiling and the fee that the contract names. */
function paidAtLeast({ body, payment }: Intent, feeCents: number): number {
  const ceiling = numberIn(body, 'max_price') ?? Number.MAX_SAFE_INTEGER - feeCents;
  const isUsd = payment?.currency.toLowerCase() === 'usd' && /^\d{1,15}$/.test(payment.amount);
  return Math.max(ceiling + feeCents, isUsd ? Number(payment.amount) : 0);
}

/** Top-level values that can be compared with what a policy says. */
const plainMetadata = (metadata: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(metadata) ? metadata : {}).flatMap(([key, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[key, String(value)]] : [],
    ),
  );

export const metadataHash = ([key, value]: readonly [string, string]): string =>
  hash(JSON.stringify([key, value]));

/** What makes a place; another name at the same door is the same address. */
const place = ['address_line1', 'address_line2', 'city', 'state', 'postal_code', 'country'] as const;

/** A place in one spelling, by its parts. Pure. */
export const placeText = (part: (name: (typeof place)[number]) => string): string =>
  JSON.stringify(
    place.map((name) => {
      const text = singleSpaced(part(name).trim()).toUpperCase();
      return name === 'postal_code' ? text.replace(/^(\d{5})-\d{4}$/, '$1') : text;
    }),
  );

/** Most texts are so already, and to look is cheaper than to write them anew. */
const singleSpaced = (text: string): string => (/\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ') : text);

const addressHash = (address: unknown): string => hash(placeText((name) => textIn(address, name) ?? ''));

const hash = (text: string): string => sha256(text).slice(0, 16);

/** The keys of the rows of a journaled batch, by the number of the row. */
export function rowKeysOf(body: Fields): string[] {
  const read = rowReader();
  return listIn(body, 'rows').map((cells) => read(textCells(Object(cells))).row.cell('idempotency_key'));
}

const textCells = (cells: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, String(cell ?? '')]));
