import { type BulkColumn, bulkListSeparator, meaningOf } from '../../api/bulk-columns.ts';
import { objectsIn, own, textIn } from '../../api/json.ts';
import { canonicalPage } from '../../format/canonical-product.ts';
import { canonicalRecipient, type RecipientParts } from '../../format/canonical-recipient.ts';
import { type JournalRecord, paidAccount } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { hostOf } from '../../spending/policy/policy.ts';
import type { FileCheck } from '../check/file-check.ts';
import { AmountSpread, farLines } from '../check/outliers.ts';
import { rowsText } from '../check/row-sample.ts';
import { maxValues, totalsText } from '../plan/totals.ts';
import { nameOf, numbersOf, ordering, withinMs } from '../plan/twins.ts';
import type { Batch } from './batches.ts';
import { keptKeys, keptLines, type SentBefore } from './kept-keys.ts';

/** Maximum number of rows named in a message. */
const maxNamed = 3;

/** Finds unusual rows in an upload. Reads the rows once and does not query the service. */
export class UploadWarnings {
  /** Numbers of rows that reuse an order's key with different content; filled by `lines`. */
  readonly reusedKeyRows = new Set<number>();
  readonly #spread = new AmountSpread();
  readonly #cells = new CellReader();
  /** Totals by host. */
  readonly #totals = new Map<string, { orders: number; cents: number }>();
  /** First row number of each product and address. */
  readonly #first = new Map<number, number>();
  /** Rows after the first with the same product and address, by their hash. */
  readonly #further = new Map<number, number[]>();
  /** Row number by idempotency key. */
  readonly #keys = new Map<number, number>();
  /** Hash of each row's cells. It is needed only if the file supplies its own keys. */
  readonly #cellCodes = new Map<number, number>();
  #hasOwnKeys = false;

  /** Rows may come in any order. @param hasOwnKeys tells whether any row has a key given in the file. */
  add({ rows, numbers }: Pick<Batch, 'rows' | 'numbers'>, hasOwnKeys: boolean): void {
    this.#hasOwnKeys = hasOwnKeys;
    for (const [index, row] of rows.entries()) {
      const number = numbers[index] ?? 0;
      const cell = this.#cells.read(row);
      const cents = Number(cell('max_price'));
      const urls = urlsIn(cell);
      this.#spread.add(number, cents);
      this.#keys.set(codeOf(cell('idempotency_key')), number);
      if (hasOwnKeys) this.#cellCodes.set(number, codeOf(JSON.stringify(row)));
      this.#addTotals(hostsOf(urls), cents);
      for (const code of duplicateCodes(urls, placeOf(cell))) this.#addDuplicate(code, number);
    }
  }

  #addTotals(hosts: readonly string[], cents: number): void {
    for (const host of hosts) {
      const total = this.#totals.get(host);
      if (total) {
        total.orders += 1;
        total.cents += cents;
      } else if (this.#totals.size <= maxValues) this.#totals.set(host, { orders: 1, cents });
    }
  }

  #addDuplicate(code: number, number: number): void {
    const first = this.#first.get(code);
    if (first === undefined || number < first) this.#first.set(code, number);
    if (first === undefined) return;
    const further = this.#further.get(code) ?? [];
    this.#further.set(code, further);
    further.push(Math.max(first, number));
  }

  /** Findings to review before these rows are sent, one per line; empty if nothing stands out. */
  async lines(context: Context, check: FileCheck): Promise<string[]> {
    return [
      ...this.#totalLines(),
      ...farLines(this.#spread),
      ...this.#duplicateLines(),
      ...(await this.#earlierLines(context, check)),
    ];
  }

  /**
   * Totals by retailer. Empty if there is a single retailer, whose total is the file's, or if there are too many hosts
   * to form groups.
   */
  #totalLines(): string[] {
    if (this.#totals.size < 2 || this.#totals.size > maxValues) return [];
    const groups = [...this.#totals].map(([value, { orders, cents }]) => ({
      ...{ value, orders, ceilings_cents: cents },
    }));
    return [
      totalsText(
        'retailer',
        groups.sort((one, other) => other.ceilings_cents - one.ceilings_cents),
      ),
    ];
  }

  #duplicateLines(): string[] {
    const pairs = new Map<number, number>();
    for (const [code, rows] of this.#further)
      for (const row of rows) pairs.set(row, this.#first.get(code) ?? row);
    const first = firstOf(pairs).map(([row, other]) => `row ${row} as row ${other}`);
    return first.length === 0
      ? []
      : [`${rowsText(pairs.size)}: same product and address as an earlier row; ${named(first, pairs.size)}`];
  }

  async #earlierLines(context: Context, check: FileCheck): Promise<string[]> {
    try {
      const { duplicates, sent, nameOf } = await earlierRows(context, {
        hasOwnKeys: this.#hasOwnKeys,
        cellsOf: (row) => this.#cellCodes.get(row),
        rowOfKey: (key) => this.#keys.get(codeOf(key)),
        rowsOf: (code) => {
          const first = this.#first.get(code);
          return first === undefined ? [] : [first, ...(this.#further.get(code) ?? [])];
        },
      });
      const edited = [...sent].filter(([, before]) => before.some(({ content }) => content !== undefined));
      const found = edited.length === 0 ? undefined : await keptKeys(context, new Map(edited), check.valid());
      const retained = found ? keptLines(found) : [];
      for (const { row } of found?.ordered ?? []) this.reusedKeyRows.add(row);
      const [first] = firstOf(duplicates);
      if (!first) return retained;
      const [row, duplicate] = first;
      const start = duplicates.size > 1 ? 'first ' : '';
      return [
        `${rowsText(duplicates.size)}: same product and address as an order of the last week; ${start}row ${row} as ${await nameOf(duplicate)}`,
        ...retained,
      ];
    } catch (error) {
      // Ignore the error, because the upload itself will fail on it with its own message.
      if (error instanceof StorageError) return [];
      throw error;
    }
  }
}

/** The first rows by number, with their values. */
const firstOf = <T>(rows: ReadonlyMap<number, T>): (readonly [number, T])[] =>
  [...rows].sort(([one], [other]) => one - other).slice(0, maxNamed);

const named = (first: readonly string[], count: number): string =>
  count > first.length ? `first ${first.join(', ')}` : first.join(', ');

/** Maximum number of earlier rows to scan, newest first. The limit keeps an upload from waiting long. */
const maxRows = 200_000;

/** An order of this machine, or a row of a batch. */
interface EarlierOrder {
  readonly key: string;
  /** Row index within its batch. */
  readonly rowIndex: number;
  /** Hashes of product and address. A duplicate of the order has at least one of the same hashes. */
  readonly codes: readonly number[];
  /** Cells of a row, or a single order. */
  readonly content: Readonly<Record<string, unknown>>;
}

type Ordered = Pick<JournalRecord, 'operation' | 'order_id' | 'key' | 'created_at'>;

/** An earlier order with the same product and address as a row. */
interface EarlierDuplicate {
  readonly record: Ordered;
  readonly rowIndex: number;
}

/** View of the rows to send. */
interface Rows {
  /** Number of the row that has this key, which an earlier request used. That row is not ordered again. */
  rowOfKey(key: string): number | undefined;
  /** Numbers of rows with this product and address. */
  rowsOf(code: number): readonly number[];
  /**
   * Hash of a row's cells; undefined if the file supplies no keys. Only a key from the file can stay the same while the
   * content changes.
   */
  cellsOf(row: number): number | undefined;
  readonly hasOwnKeys: boolean;
}

/** Matches between the rows and earlier orders of this machine. */
interface Earlier {
  /** For each row number, the newest order of the last week with the row's product and address. */
  readonly duplicates: ReadonlyMap<number, EarlierDuplicate>;
  /** For each row number, the earlier requests that used the row's key, newest first. */
  readonly sent: ReadonlyMap<number, readonly SentBefore[]>;
  nameOf(twin: EarlierDuplicate): Promise<string>;
}

/**
 * Scans this machine's earlier orders once. A row sent before is never reported as a duplicate. @throws StorageError.
 */
async function earlierRows(context: Context, rows: Rows): Promise<Earlier> {
  const duplicates = new Map<number, EarlierDuplicate>();
  const sent = new Map<number, SentBefore[]>();
  const weekAgo = context.clock.now() - withinMs;
  let looked = 0;
  for await (const record of ordersSince(context, rows.hasOwnKeys ? 0 : weekAgo)) {
    const { operation, order_id, key, created_at } = record;
    const retained = { operation, order_id, key, created_at };
    const isRecent = Date.parse(created_at) >= weekAgo;
    for (const order of ordersIn(record)) {
      looked += 1;
      const own = rows.rowOfKey(order.key);
      if (own !== undefined) {
        const before = sent.get(own) ?? [];
        sent.set(own, before);
        if (rows.hasOwnKeys) before.push(sentBefore(record, order, rows.cellsOf(own)));
      } else if (isRecent)
        for (const row of order.codes.flatMap((code) => rows.rowsOf(code)))
          if (!duplicates.has(row)) duplicates.set(row, { record: retained, rowIndex: order.rowIndex });
    }
    if (looked >= maxRows) break;
  }
  for (const row of sent.keys()) duplicates.delete(row);
  return {
    duplicates,
    sent,
    nameOf: async ({ record, rowIndex }) =>
      nameOf(record, (await numbersOf(context, record))?.[rowIndex] ?? rowIndex + 1),
  };
}

function sentBefore(
  { operation, order_id: madeId }: Ordered,
  { content, rowIndex }: EarlierOrder,
  cells: number | undefined,
): SentBefore {
  if (operation !== 'bulk.create') return { madeId, place: undefined, content };
  return {
    madeId,
    place: rowIndex,
    content: codeOf(JSON.stringify(content)) === cells ? undefined : content,
  };
}

/** This machine's orders for the current account, newest first. @param sinceMs start, ms since the epoch. */
async function* ordersSince(context: Context, sinceMs: number): AsyncGenerator<JournalRecord> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return;
  const { account } = await context.sender();
  const journal = await context.journal();
  for (const key of journal.keysSince(baseUrl.value, new Date(sinceMs).toISOString())) {
    // Yield to the event loop so that Ctrl-C is handled.
    await new Promise((resolve) => setImmediate(resolve));
    context.signal.throwIfAborted();
    const record = journal.find(key, baseUrl.value);
    if (
      !record ||
      !ordering.includes(record.operation) ||
      record.state === 'refused' ||
      record.state === 'damaged'
    )
      continue;
    if (record.account === account || record.account === paidAccount) yield record;
  }
}

function* ordersIn({ operation, key, body }: JournalRecord): Generator<EarlierOrder> {
  if (operation !== 'bulk.create') {
    const urls = objectsIn(body, 'products').map((line) => textIn(line, 'url') ?? '');
    const address = own(body, 'shipping_address');
    yield {
      key,
      rowIndex: 0,
      content: body,
      codes: duplicateCodes(urls, (part) => textIn(address, part) ?? ''),
    };
    return;
  }
  const cells = new CellReader();
  for (const [rowIndex, row] of objectsIn(body, 'rows').entries()) {
    const cell = cells.read(row);
    const own = cell('idempotency_key') || `${key} ${rowIndex}`;
    yield { key: own, rowIndex, content: row, codes: duplicateCodes(urlsIn(cell), placeOf(cell)) };
  }
}

/** Cell text by column; empty if missing. */
type CellOf = (column: BulkColumn) => string;

/** Finds cells by heading, without validating them. Resolves each heading only once. */
class CellReader {
  readonly #known = new Set<string>();
  /** Known headings of each column. */
  readonly #headings = new Map<BulkColumn, string[]>();

  read(row: Readonly<Record<string, unknown>>): CellOf {
    for (const heading of Object.keys(row)) if (!this.#known.has(heading)) this.#learn(heading);
    return (column) => {
      const [heading, ...others] = this.#headings.get(column) ?? [];
      if (heading === undefined) return '';
      // If a row has several of these headings, the first wins.
      const own =
        others.length === 0
          ? heading
          : Object.keys(row).find((one) => one === heading || others.includes(one));
      return own !== undefined && Object.hasOwn(row, own) ? String(row[own] ?? '').trim() : '';
    };
  }

  #learn(heading: string): void {
    this.#known.add(heading);
    const meaning = meaningOf(heading);
    if (!('column' in meaning)) return;
    const headings = this.#headings.get(meaning.column);
    if (headings) headings.push(heading);
    else this.#headings.set(meaning.column, [heading]);
  }
}

const urlsIn = (cell: CellOf): string[] =>
  cell('product_url')
    .split(bulkListSeparator)
    .map((url) => url.trim());

/** 53-bit hash of a text, MurmurHash-style with two lanes; collisions are very unlikely. */
function codeOf(text: string): number {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x85ebca77);
    other = Math.imul(other ^ unit, 0xc2b2ae3d);
  }
  one ^= Math.imul(one ^ (other >>> 15), 0x735a2d97);
  other ^= Math.imul(other ^ (one >>> 15), 0xcaf649a9);
  one ^= other >>> 16;
  other ^= one >>> 16;
  return 2 ** 21 * (other >>> 0) + (one >>> 11);
}

/** Canonical product URL and host, cached for the last URL because consecutive rows often order the same product. */
let last = { url: '', product: '', host: '' };

function productAt(url: string): typeof last {
  if (last.url !== url) last = { url, product: canonicalPage(url), host: hostOf(url) };
  return last;
}

/** Distinct hosts of product URLs. */
const hostsOf = (urls: readonly string[]): string[] => [...new Set(urls.map((url) => productAt(url).host))];

/** Text of a part of an address; empty if missing. */
type PartOf = (name: keyof RecipientParts | 'name') => string;

/** Hashes of product and address. Orders that share a hash are duplicates, barring a rare collision. */
function duplicateCodes(urls: readonly string[], part: PartOf): number[] {
  const recipient = canonicalRecipient({
    ...{ first_name: part('name') || part('first_name'), last_name: part('last_name') },
    ...{ address_line1: part('address_line1'), address_line2: part('address_line2') },
    ...{ postal_code: part('postal_code'), country: part('country') },
  });
  const codes = urls.map((url) => codeOf(`${productAt(url).product} ${recipient}`));
  return codes.length === 1 ? codes : [...new Set(codes)];
}

/** Address parts of a row's order. */
const placeOf =
  (cell: CellOf): PartOf =>
  (part) =>
    cell(part) || (part === 'country' ? 'US' : '');
