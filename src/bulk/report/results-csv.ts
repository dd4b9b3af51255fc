import { resultOf } from './groups.ts';
import type { Report } from './read.ts';
import { headingsOf } from './rows.ts';
import { resultColumns } from './summary.ts';

/**
 * Results CSV: the file's own columns, followed by each row's outcome. Escapes cells that a spreadsheet would execute.
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
