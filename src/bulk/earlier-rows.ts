import { objectsIn, own, textIn } from '../api/json.ts';
import { type JournalRecord, paidAccount } from '../journal/journal-record.ts';
import { journalExists } from '../journal/journal-tables.ts';
import type { Context } from '../run/context.ts';
import type { SentBefore } from './kept-keys.ts';
import { nameOf, numbersOf, ordering, withinMs } from './plan/twins.ts';
import { CellReader, codeOf, placeOf, twinCodes, urlsIn } from './row-cells.ts';

/** Earlier rows that are looked at, the newest first: more would hold up an upload. */
const mostRows = 200_000;

/** An order of this machine, or a row of a batch. */
interface EarlierOrder {
  readonly key: string;
  /** Its place among the rows of its batch. */
  readonly place: number;
  /** What its twins have in common with it. */
  readonly codes: readonly number[];
  /** A row of cells, or an order of its own. */
  readonly content: Readonly<Record<string, unknown>>;
}

type Ordered = Pick<JournalRecord, 'operation' | 'order_id' | 'key' | 'created_at'>;

/** What was ordered before as a row is now. */
interface EarlierTwin {
  readonly record: Ordered;
  readonly place: number;
}

/** What is to be sent, as far as it matters here. */
interface Rows {
  /** The number of the row with a key: it was sent before, and is not ordered again. */
  rowOfKey(key: string): number | undefined;
  /** Numbers of the rows with such a product for such a place. */
  rowsOf(code: number): readonly number[];
  /** Of the cells of a row; undefined where no row has a key of the file's own, which alone can outlive its content. */
  cellsOf(row: number): number | undefined;
  readonly hasOwnKeys: boolean;
}

/** What rows have in common with what this machine has ordered. */
interface Earlier {
  /** By the number of the row the newest order of the last week with the same product for the same address. */
  readonly twins: ReadonlyMap<number, EarlierTwin>;
  /** What was sent with the key of a row, newest first, by the row's number. */
  readonly sent: ReadonlyMap<number, readonly SentBefore[]>;
  nameOf(twin: EarlierTwin): Promise<string>;
}

/** Looks through what was ordered from this machine, once. A row that was sent before is no twin of anything. @throws StorageError. */
export async function earlierRows(context: Context, rows: Rows): Promise<Earlier> {
  const twins = new Map<number, EarlierTwin>();
  const sent = new Map<number, SentBefore[]>();
  const weekAgo = context.clock.now() - withinMs;
  let looked = 0;
  for await (const record of ordersSince(context, rows.hasOwnKeys ? 0 : weekAgo)) {
    const { operation, order_id, key, created_at } = record;
    const kept = { operation, order_id, key, created_at };
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
          if (!twins.has(row)) twins.set(row, { record: kept, place: order.place });
    }
    if (looked >= mostRows) break;
  }
  for (const row of sent.keys()) twins.delete(row);
  return {
    twins,
    sent,
    nameOf: async ({ record, place }) =>
      nameOf(record, (await numbersOf(context, record))?.[place] ?? place + 1),
  };
}

function sentBefore(
  { operation, order_id: madeId }: Ordered,
  { content, place }: EarlierOrder,
  cells: number | undefined,
): SentBefore {
  if (operation !== 'bulk.create') return { madeId, place: undefined, content };
  return { madeId, place, content: codeOf(JSON.stringify(content)) === cells ? undefined : content };
}

/** What was ordered from here with the key in use, newest first. @param sinceMs epoch. */
async function* ordersSince(context: Context, sinceMs: number): AsyncGenerator<JournalRecord> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return;
  const { account } = await context.sender();
  const journal = await context.journal();
  for (const key of journal.keysSince(baseUrl.value, new Date(sinceMs).toISOString())) {
    // Ctrl-C is heard between two records.
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
    yield { key, place: 0, content: body, codes: twinCodes(urls, (part) => textIn(address, part) ?? '') };
    return;
  }
  const cells = new CellReader();
  for (const [place, row] of objectsIn(body, 'rows').entries()) {
    const cell = cells.read(row);
    const own = cell('idempotency_key') || `${key} ${place}`;
    yield { key: own, place, content: row, codes: twinCodes(urlsIn(cell), placeOf(cell)) };
  }
}
