import { rowReader } from '../api/bulk-row.ts';
import { plainText } from '../format/path.ts';
import type { TableLayout } from '../journal/uploads.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import type { Batch, BatchRow } from './batch.ts';
import { checkOneReading, countPrice, emptyPrices } from './csv/amounts.ts';
import { layoutOf } from './csv/headings.ts';
import { readOptions } from './reading.ts';
import { RowKeys, readRows, stableKey, type UploadRow } from './rows.ts';
import { openSource } from './source.ts';
import { rowsText } from './spend.ts';
import type { TableFlags } from './table-options.ts';

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
