import type { Context } from '../context.ts';
import { ErrandError, UsageError } from '../errors.ts';
import type { Batch } from './batch.ts';
import { layoutOf } from './layout.ts';
import { readTable } from './read.ts';
import { type Reasons, readReasons, reasonOf } from './reasons.ts';

type Chunks = AsyncIterable<Uint8Array>;

/**
 * A batch's results as the service writes them, with what it does not say: why an order failed, and in place of the
 * batch's own index the number that the row has in its file, where that is known here. Cells that a spreadsheet would run
 * are prefixed.
 */
export async function* filledResults(context: Context, chunks: Chunks, batch: Batch): AsyncGenerator<string> {
  const [layout, reasons] = [await layoutOf(context, batch.id), await readReasons(context, [batch])];
  const { csvRow } = await import('../output/csv.ts');
  let columns: Columns | undefined;
  try {
    for await (const { headings, rows } of readTable(chunks, { name: 'the results', delimiter: ',' })) {
      if (!columns) {
        columns = columnsOf(headings);
        yield csvRow(layout && columns.index >= 0 ? headings.with(columns.index, 'row') : headings);
      }
      for (const cells of rows) yield csvRow(filled(cells, columns, layout?.numbers, reasons));
    }
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause;
    throw new ErrandError('unavailable', `the service's response is not CSV: ${cause.message}`, {
      cause,
      hint: '--raw-csv prints it as it comes.',
    });
  }
}

interface Columns {
  readonly index: number;
  readonly order: number;
  readonly error: number;
}

const columnsOf = (headings: readonly string[]): Columns => ({
  index: headings.indexOf('index'),
  order: headings.indexOf('order_id'),
  error: headings.indexOf('error'),
});

function filled(
  cells: readonly string[],
  { index, order, error }: Columns,
  numbers: readonly number[] | undefined,
  reasons: Reasons,
): string[] {
  const shown = [...cells];
  const number = numbers?.[Number(cells[index])];
  if (number !== undefined) shown[index] = String(number);
  if (error >= 0) shown[error] = reasonOf({ error: cells[error], order_id: cells[order] }, reasons);
  return shown;
}
