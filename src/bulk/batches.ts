import type { FileRow, UploadRow } from './rows.ts';
import { keyOfRows, type RowKeys } from './rows.ts';

/** How many rows one request carries by default. */
export const usualBatchRows = 500;

/** Rows that are uploaded together. */
export interface Batch {
  /** Follows from the rows. */
  readonly key: string;
  readonly rows: readonly UploadRow[];
  /** Where each row stands in the file. */
  readonly numbers: readonly number[];
  /** The columns of the file as they are sent, in their order. */
  readonly headings: readonly string[];
  /** The same as the file heads them, where that is known. */
  readonly fileHeadings?: readonly string[] | undefined;
}

/** Valid rows in batches of `size`, each row with its key. */
export async function* batchesOf(
  rows: AsyncIterable<readonly FileRow[]>,
  keys: RowKeys,
  size: number,
): AsyncGenerator<Batch> {
  let waiting: FileRow[] = [];
  for await (const part of rows) {
    for (const row of part) {
      waiting.push(row);
      if (waiting.length < size) continue;
      yield batchOf(waiting, keys);
      waiting = [];
    }
  }
  if (waiting.length > 0) yield batchOf(waiting, keys);
}

function batchOf(rows: readonly FileRow[], keys: RowKeys): Batch {
  const keyed = rows.map((row) => keys.keyed(row));
  return {
    key: keyOfRows(keyed),
    rows: keyed,
    numbers: rows.map(({ number }) => number),
    headings: rows[0]?.plan.headings ?? [],
    fileHeadings: rows[0]?.plan.fileHeadings,
  };
}
