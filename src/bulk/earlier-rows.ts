import type { Context } from '../context.ts';
import { objectsIn, own, textIn } from '../contract/json.ts';
import { type JournalRecord, paidAccount } from '../state/journal-record.ts';
import { journalExists } from '../state/journal-tables.ts';
import { nameOf, numbersOf, ordering, withinMs } from './plan/twins.ts';
import { CellReader, placeOf, twinCodes, urlsIn } from './row-cells.ts';

/** Earlier rows that are looked at, the newest first: more would hold up an upload. */
const mostRows = 200_000;

/** An order of this machine, or a row of a batch. */
interface EarlierOrder {
  readonly key: string;
  /** Its place among the rows of its batch. */
  readonly place: number;
  /** What its twins have in common with it. */
  readonly codes: readonly number[];
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
}

/**
 * The rows that order what was ordered from this machine in the last week: the same product for the same address.
 * @returns by the number of the row the newest order. @throws StorageError.
 */
export async function earlierTwins(
  context: Context,
  rows: Rows,
): Promise<{
  readonly twins: ReadonlyMap<number, EarlierTwin>;
  nameOf(twin: EarlierTwin): Promise<string>;
}> {
  const twins = new Map<number, EarlierTwin>();
  const sent = new Set<number>();
  let looked = 0;
  for await (const record of ordersSince(context, context.clock.now() - withinMs)) {
    const { operation, order_id, key, created_at } = record;
    const kept = { operation, order_id, key, created_at };
    for (const order of ordersIn(record)) {
      looked += 1;
      const own = rows.rowOfKey(order.key);
      if (own !== undefined) sent.add(own);
      else
        for (const row of order.codes.flatMap((code) => rows.rowsOf(code)))
          if (!twins.has(row)) twins.set(row, { record: kept, place: order.place });
    }
    if (looked >= mostRows) break;
  }
  for (const row of sent) twins.delete(row);
  return {
    twins,
    nameOf: async ({ record, place }) =>
      nameOf(record, (await numbersOf(context, record))?.[place] ?? place + 1),
  };
}

/** What was ordered from here with the key in use, newest first. @param sinceMs epoch. */
async function* ordersSince(context: Context, sinceMs: number): AsyncGenerator<JournalRecord> {
  const { folders, baseUrl } = context.settings;
  if (!journalExists(folders.state)) return;
  const { account } = await context.sender();
  const journal = await context.journal();
  for (const key of journal.keysSince(baseUrl.value, new Date(sinceMs).toISOString())) {
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
    yield { key, place: 0, codes: twinCodes(urls, (part) => textIn(address, part) ?? '') };
    return;
  }
  const cells = new CellReader();
  for (const [place, row] of objectsIn(body, 'rows').entries()) {
    const cell = cells.read(row);
    const own = cell('idempotency_key') || `${key} ${place}`;
    yield { key: own, place, codes: twinCodes(urlsIn(cell), placeOf(cell)) };
  }
}
