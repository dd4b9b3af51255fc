import { resultOf } from './groups.ts';
import type { Report } from './read.ts';
import { headingsOf } from './rows.ts';
import { resultColumns } from './summary.ts';

/**
 * What became of the rows of a file as one CSV: its own columns as they are there, and behind them what became of each
 * row. Cells that a spreadsheet would run are prefixed.
 */
export async function* resultsCsv({ rows }: Report): AsyncGenerator<string> {
  const { csvFormat } = await import('../../format/csv.ts');
  const columns = resultColumns({
    headings: headingsOf(rows),
    isNumbered: rows.every(({ number }) => number !== undefined),
    isFromHere: rows.length === 0 || rows.some(({ isFromHere }) => isFromHere),
  });
  const { row, end } = csvFormat(columns, { delimiter: ',', raw: false, visible: false });
  for (const [index, one] of rows.entries()) yield row(resultOf(one), index);
  yield end(rows.length);
}
