import { rowReader } from '../../api/bulk-row.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { plainText } from '../../format/path.ts';
import { pages } from '../../http/paging.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { differences } from '../../orders/compare.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { rowsText } from '../check/spend.ts';
import { checkOneReading, countPrice, emptyPrices } from '../csv/amounts.ts';
import { layoutOf } from '../csv/headings.ts';
import { readOptions } from '../csv/reading.ts';
import type { TableFlags } from '../csv/table-options.ts';
import { RowKeys, readRows, stableKey, type UploadRow } from '../rows.ts';
import { type Batch, type BatchRow, earlierOrder, rowsOf } from './batch.ts';
import { changeText, type KeptKey, keptLinesAfter, orderOfCells } from './kept-keys.ts';
import { openSource } from './source.ts';

/** The rows of a batch as they were uploaded, and how they stood in their file, where that is known. */
export interface UploadedRows {
  readonly rows: readonly UploadRow[];
  readonly layout: TableLayout | undefined;
}

/** The rows of a batch that was uploaded from here. @throws ErrandError where this machine does not know them. */
export async function journaledRows(context: Context, batch: Batch): Promise<UploadedRows> {
  const found = await findJournaledRows(context, batch);
  if (found) return found;
  const { id } = batch;
  throw new ErrandError('not_found', `the rows of batch ${id} are not known here`, {
    hint: 'Name the CSV that was uploaded with --file.',
  });
}

/** The same; undefined where this machine does not know them. */
export async function findJournaledRows(context: Context, { id }: Batch): Promise<UploadedRows | undefined> {
  const journal = await context.journal();
  const rows = journal.madeBy(id, context.settings.baseUrl.value)?.body.rows;
  // What was uploaded from here was journaled as rows of cells.
  if (Array.isArray(rows)) return { rows: rows as UploadRow[], layout: await layoutOf(context, id) };
  return undefined;
}

/** The rows of a file as they were uploaded as one batch, each with the key that it got then. @throws UsageError for another file. */
export async function rowsOfFile(
  context: Context,
  path: string,
  { run, batch, ...flags }: TableFlags & { readonly run: string; readonly batch: Batch },
): Promise<UploadedRows> {
  const source = await openSource(context, path);
  const keys = new RowKeys(run);
  const rows: UploadRow[] = [];
  const numbers: number[] = [];
  let headings: readonly string[] = [];
  const prices = emptyPrices();
  try {
    const options = await readOptions(context, source, flags);
    for await (const part of readRows(source.chunks(), options)) {
      for (const row of part) {
        rows.push(keys.keyed(row));
        numbers.push(row.number);
        headings = row.plan.headings;
        if (row.openPrice) countPrice(prices, row.number, row.openPrice);
      }
    }
  } finally {
    await source.close();
  }
  checkOneReading(context, source.name, prices);
  if (rows.length === batch.row_count) return { rows, layout: { headings, numbers } };
  throw new UsageError(
    `${path} has ${rowsText(rows.length)} and the batch ${plainText(batch.row_count)}: it is not the file that was uploaded as this batch`,
  );
}

/** What the orders of rows may cost together, cents. */
export function ceilingsOf(rows: readonly UploadRow[]): number {
  const read = rowReader();
  return rows.reduce((sum, cells) => sum + (read(cells).row.maxPrice ?? 0), 0);
}

/** Where an order was made: the row of a batch. */
export interface MadeIn {
  readonly batchId: string;
  readonly index: number;
}

/**
 * The row to send again. Where no order came of it its key is still good, and keeps a later upload of the whole file
 * from placing it twice; where an order failed, a key that follows from the batch and the row that made it makes a new one,
 * once, whichever upload it is tried again from.
 */
export function rowAgain(
  { id }: Batch,
  { index, orderId }: BatchRow,
  row: UploadRow | undefined,
  madeIn: MadeIn = { batchId: id, index },
): UploadRow {
  if (!row)
    throw new ErrandError(
      'unavailable',
      `row ${index} of batch ${id} is not among the rows that were uploaded`,
      {
        outcome: 'not_sent',
      },
    );
  return orderId === undefined
    ? row
    : { ...row, idempotency_key: stableKey(['retry', madeIn.batchId, madeIn.index]) };
}

/** Orders that are looked through, at most. */
const mostOrders = 20_000;

/** A row that met an order with its key. */
interface Met {
  readonly row: number;
  readonly asked: Readonly<Record<string, unknown>>;
}

/**
 * What is told of rows of batches whose key is that of an order with other content; of what cannot be read, nothing.
 * @param told numbers of rows that need not be told again.
 */
export async function keptAfter(
  context: Context,
  batches: Iterable<Batch>,
  told: ReadonlySet<number>,
): Promise<string[]> {
  try {
    const met = await metOrders(context, batches, told);
    const kept = met.size === 0 ? [] : await compared(context, met);
    return keptLinesAfter(kept.sort((one, other) => one.row - other.row));
  } catch (error) {
    // What was ordered stands without it.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}

/** The rows of batches that met an order, by its id. */
async function metOrders(
  context: Context,
  batches: Iterable<Batch>,
  told: ReadonlySet<number>,
): Promise<Map<string, Met[]>> {
  const met = new Map<string, Met[]>();
  for (const batch of batches) {
    const found = rowsOf(batch).flatMap((row) => {
      const id = earlierOrder(row, batch);
      return id === undefined ? [] : [{ id, index: row.index }];
    });
    const uploaded = found.length === 0 ? undefined : await findJournaledRows(context, batch);
    for (const { id, index } of found) {
      const cells = uploaded?.rows[index];
      if (!cells) continue;
      const row = uploaded.layout?.numbers[index] ?? index + 1;
      if (told.has(row)) continue;
      const again = { row, asked: orderOfCells(cells) };
      const known = met.get(id);
      if (known) known.push(again);
      else met.set(id, [again]);
    }
  }
  return met;
}

async function compared(context: Context, met: Map<string, Met[]>): Promise<KeptKey[]> {
  const client = await context.client();
  const kept: KeptKey[] = [];
  let looked = 0;
  for await (const { rows } of pages(client, 'order.list', { query: { limit: 500 } }, { all: true })) {
    for (const order of rows) {
      const id = plainText(order.id).toLowerCase();
      for (const { row, asked } of met.get(id) ?? []) {
        // What a row asks for is an order: it was read from checked cells.
        const changes = differences(asked as unknown as Shape<'OrderCreate'>, order)
          .filter(({ isSpelling }) => !isSpelling)
          .map(({ field, requested, existing }) => changeText(field.split('.'), existing, requested));
        if (changes.length > 0) kept.push({ row, changes });
      }
      met.delete(id);
    }
    looked += rows.length;
    if (met.size === 0 || looked >= mostOrders) break;
  }
  return kept;
}
