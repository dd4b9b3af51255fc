import type { Column, Row } from '../../format/result.ts';
import type { WrittenCell } from '../xlsx/write.ts';
import { resultOf } from './groups.ts';
import type { Report } from './read.ts';
import { asInFile, headingsOf } from './rows.ts';
import { resultColumns } from './summary.ts';

/** Columns of the results: first the file's own columns, then the outcome of each row. */
const columnsOf = ({ rows }: Report): readonly Column[] =>
  resultColumns({
    headings: headingsOf(rows.map(({ own }) => ({ own: own.inFile ?? own }))),
    isNumbered: rows.every(({ number }) => number !== undefined),
    isFromHere: rows.length === 0 || rows.some(({ isFromHere }) => isFromHere),
  });

/** Rows to format at a time, because the library's setup for each call costs as much as a few rows. */
const rowsAtOnce = 64;

/** Results as CSV. Escapes cells that a spreadsheet would execute. */
export async function* resultsCsv(report: Report): AsyncGenerator<string> {
  const { cellReader, csvRecords } = await import('../../format/csv.ts');
  const columns = columnsOf(report);
  const readers = columns.map(cellReader);
  const options = { delimiter: ',', raw: false, visible: false } as const;
  yield csvRecords([columns.map(({ path }) => path)], options);
  for (let from = 0; from < report.rows.length; from += rowsAtOnce) {
    const records = report.rows.slice(from, from + rowsAtOnce).map((row) => resultOf(asInFile(row)));
    yield csvRecords(
      records.map((record) => readers.map((read) => read(record))),
      options,
    );
  }
}

/**
 * Results as a workbook, with the same headings and rows as the CSV. Amounts and counts are numbers; all other cells
 * are text.
 */
export async function* resultsWorkbook(report: Report): AsyncGenerator<Uint8Array> {
  const [{ cellReader }, { workbookOf }] = await Promise.all([
    import('../../format/csv.ts'),
    import('../xlsx/write.ts'),
  ]);
  const columns = columnsOf(report);
  const readers = columns.map((column) => {
    const read = cellReader(column);
    const isNumber = column.kind === 'count' || column.kind === 'money';
    return (record: Row): WrittenCell => {
      const text = read(record);
      return isNumber && wholeNumber.test(text) ? Number(text) : text;
    };
  });
  function* rows(): Generator<readonly WrittenCell[]> {
    for (const one of report.rows) {
      const record = resultOf(asInFile(one));
      yield readers.map((read) => read(record));
    }
  }
  yield* workbookOf(
    'results',
    columns.map(({ path }) => path),
    rows(),
  );
}

const wholeNumber = /^-?\d{1,15}$/;
