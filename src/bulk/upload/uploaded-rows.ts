import { orderOfRow, rowReader } from '../../api/bulk-row.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import { pages } from '../../http/paging.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { differences } from '../../orders/compare.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { rowsText } from '../check/row-sample.ts';
import { checkOneReading, countPrice, emptyPrices } from '../csv/amounts.ts';
import { layoutByKey } from '../csv/headings.ts';
import { readOptions } from '../csv/reading.ts';
import type { TableFlags } from '../csv/table-options.ts';
import { RowKeys, readRows, type UploadRow } from '../rows.ts';
import { type Batch, earlierOrder, rowsOf } from './batch.ts';
import { openSource } from './source.ts';

/** Rows of a batch as they were uploaded, and their layout in the file, if known. */
export interface UploadedRows {
  readonly rows: readonly UploadRow[];
  readonly layout: TableLayout | undefined;
}

/** Rows of a batch that this machine uploaded. @throws ErrandError if this machine does not know the rows. */
export async function journaledRows(context: Context, batch: Batch): Promise<UploadedRows> {
  const found = await findJournaledRows(context, batch);
  if (found) return found;
  const { id } = batch;
  throw new ErrandError('not_found', `the rows of batch ${id} are not known here`, {
    hint: 'Name the CSV that was uploaded with --file.',
  });
}

/** Does the same as `journaledRows`, but returns undefined if this machine does not know the rows. */
export async function findJournaledRows(context: Context, { id }: Batch): Promise<UploadedRows | undefined> {
  const journal = await context.journal();
  const made = journal.madeBy(id, context.settings.baseUrl.value);
  const rows = made?.body.rows;
  // Uploads from this machine are journaled as rows of cells.
  if (made && Array.isArray(rows))
    return { rows: rows as UploadRow[], layout: await layoutByKey(context, made.key) };
  return undefined;
}

/**
 * Rebuilds the rows of a batch from the file, each with its original key. @throws UsageError if the file is not the one
 * that was uploaded.
 */
export async function rowsOfFile(
  context: Context,
  path: string,
  { run, batch, ...flags }: TableFlags & { readonly run: string; readonly batch: Batch },
): Promise<UploadedRows> {
  const source = await openSource(context, path, flags);
  const keys = new RowKeys(run);
  const rows: UploadRow[] = [];
  const numbers: number[] = [];
  let columns: Omit<TableLayout, 'numbers'> = { headings: [] };
  const prices = emptyPrices();
  try {
    const options = await readOptions(context, source, flags);
    for await (const part of readRows(source.chunks(), options)) {
      for (const row of part) {
        rows.push(keys.keyed(row));
        numbers.push(row.number);
        columns = { headings: row.plan.headings, fileHeadings: row.plan.fileHeadings };
        if (row.openPrice) countPrice(prices, row.number, row.openPrice);
      }
    }
  } finally {
    await source.close();
  }
  checkOneReading(context, source.name, prices);
  if (rows.length === batch.row_count) return { rows, layout: { ...columns, numbers } };
  throw new UsageError(
    `${path} has ${rowsText(rows.length)} and the batch ${plainText(batch.row_count)}: it is not the file that was uploaded as this batch`,
  );
}

/** Maximum total of the rows' orders, in cents. */
export function ceilingsOf(rows: readonly UploadRow[]): number {
  const read = rowReader();
  return rows.reduce((sum, cells) => sum + (read(cells).row.maxPrice ?? 0), 0);
}

/** Maximum number of orders to search. */
const maxOrders = 20_000;

/** A row whose key already had an order. */
interface Met {
  readonly row: number;
  readonly requestedOrder: Readonly<Record<string, unknown>>;
}

/** Warnings about rows whose key belongs to an order with different content. If reading fails, returns no warnings. */
export async function reusedKeyWarnings(context: Context, batches: Iterable<Batch>): Promise<string[]> {
  try {
    const met = await metOrders(context, batches);
    const reused = met.size === 0 ? [] : await compared(context, met);
    return reusedKeyLines(reused.sort((one, other) => one.row - other.row));
  } catch (error) {
    // Ignore the error, because the orders are valid even without these warnings.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}

/** Rows whose keys already had an order, by order id. */
async function metOrders(context: Context, batches: Iterable<Batch>): Promise<Map<string, Met[]>> {
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
      const again = { row, requestedOrder: orderOfCells(cells) };
      const known = met.get(id);
      if (known) known.push(again);
      else met.set(id, [again]);
    }
  }
  return met;
}

async function compared(context: Context, met: Map<string, Met[]>): Promise<ReusedKey[]> {
  const client = await context.client();
  const reused: ReusedKey[] = [];
  let looked = 0;
  for await (const { rows } of pages(client, 'order.list', { query: { limit: 500 } }, { all: true })) {
    for (const order of rows) {
      const id = plainText(order.id).toLowerCase();
      for (const { row, requestedOrder } of met.get(id) ?? []) {
        // The cast is safe: the row was parsed from validated cells, so it is a complete order.
        const changes = differences(requestedOrder as unknown as Shape<'OrderCreate'>, order)
          .filter(({ isVariant }) => !isVariant)
          .map(({ field, requested, existing }) => changeText(field.split('.'), existing, requested));
        if (changes.length > 0) reused.push({ row, changes });
      }
      met.delete(id);
    }
    looked += rows.length;
    if (met.size === 0 || looked >= maxOrders) break;
  }
  return reused;
}

type Fields = Readonly<Record<string, unknown>>;

/** A row whose key belongs to an order with different content. */
interface ReusedKey {
  readonly row: number;
  /** The differences, each in a form such as `max_price $40.00, now $45.00`. */
  readonly changes: readonly string[];
}

/** Maximum number of rows to name, of differences to show per row, and of characters to show per value. */
const [maxNamed, maxChanges, maxValueLength] = [3, 2, 40];

export const orderOfCells = (row: UploadRow): Fields => {
  const { plan, values, row: read } = rowReader()(row);
  return { ...orderOfRow(plan, values, read) };
};

/** Formats `max_price $40.00, now $45.00`. */
const changeText = (path: readonly string[], was: unknown, is: unknown): string =>
  `${path.at(-1)} ${shown(path, was)}, now ${shown(path, is)}`;

function shown([field]: readonly string[], value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty';
  if (field === 'max_price' && typeof value === 'number') return formatMoney(value);
  const text = typeof value === 'object' ? JSON.stringify(value) : plainText(value);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength - 1)}…` : text;
}

/** Warnings to print after the service has responded. */
function reusedKeyLines(reused: readonly ReusedKey[]): string[] {
  const [first] = reused;
  if (!first) return [];
  if (reused.length === 1)
    return [
      `row ${first.row} keeps the key of an order placed before with other content (${changesText(first)}): it was not ordered; give it a new key or leave its key empty`,
    ];
  const named = reused.slice(0, maxNamed).map((one) => `row ${one.row} (${changesText(one)})`);
  const more = reused.length > named.length ? ' …' : '';
  return [
    `${rowsText(reused.length)} keep the keys of orders placed before with other content: ${named.join(', ')}${more}: they were not ordered; give them new keys or leave their keys empty`,
  ];
}

/** Formats `max_price $40.00, now $45.00; city Austin, now Dallas and 2 more`. */
function changesText({ changes }: Pick<ReusedKey, 'changes'>): string {
  const more = changes.length - maxChanges;
  return changes.slice(0, maxChanges).join('; ') + (more > 0 ? ` and ${more} more` : '');
}
