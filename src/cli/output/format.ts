import { chunksOf, recordsOf } from '../../format/raw-records.ts';
import type { Format, OutputOptions, PagedRows, Row, RowsOfPage } from '../../format/result.ts';
import type { Writer } from './writer.ts';

/** Whether a record is printed exactly as the service's compact JSON. */
export const isWrittenAsSent = ({ format, fields, query }: OutputOptions): boolean =>
  format === 'ndjson' && fields === undefined && query === undefined;

/**
 * Streams a list. Stops the source when the reader of stdout closes. If the source fails, stdout stays well-formed: it
 * is empty if there were no records; otherwise it holds all records so far and the end of the list. Only the exit code
 * shows that such a list is incomplete.
 * @returns the number of records.
 */
export async function printRows(
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  format: Format,
  out: Writer,
): Promise<number> {
  let count = 0;
  const print = (row: unknown): Promise<void> | undefined => {
    const waiting = out.write(format.row(row, count), format.scrub);
    count += 1;
    return waiting;
  };
  const printPage = async (page: RowsOfPage<unknown>): Promise<void> => {
    const { sent } = page;
    if (!sent) return forEachRow(page.rows, print, out);
    for (const { from, to, lines } of chunksOf(sent)) {
      if (lines) {
        count += to - from;
        await out.writeBytes(lines);
      } else await forEachRow(recordsOf(sent, from, to), print, out);
      if (out.isClosed) return;
    }
  };
  try {
    if (isPaged(rows)) {
      for await (const page of rows.pages()) {
        await printPage(page);
        if (out.isClosed) break;
      }
    } else await forEachRow(rows, print, out);
  } catch (error) {
    if (count > 0) out.write(format.end(count), format.scrub);
    await out.flush();
    throw error;
  }
  out.write(format.end(count), format.scrub);
  await out.flush();
  return count;
}

/**
 * Use separate loops for sync and async rows, because awaiting each available record would cost more than printing it.
 */
async function forEachRow(
  rows: Iterable<unknown> | AsyncIterable<unknown>,
  print: (row: unknown) => Promise<void> | undefined,
  out: Writer,
): Promise<void> {
  if (Symbol.asyncIterator in rows) {
    for await (const row of rows) {
      const waiting = print(row);
      if (waiting) await waiting;
      if (out.isClosed) return;
    }
    return;
  }
  for (const row of rows) {
    const waiting = print(row);
    if (waiting) await waiting;
    if (out.isClosed) return;
  }
}

const isPaged = (rows: Iterable<unknown> | AsyncIterable<unknown>): rows is PagedRows<unknown> =>
  'pages' in rows && typeof rows.pages === 'function';

/** Collects all rows in memory, for operations on the whole list such as queries. */
export async function collect(rows: Iterable<Row> | AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
