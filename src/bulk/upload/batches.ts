import { type JsonObject, listIn, objectsIn, textIn } from '../../api/json.ts';
import { type FileRow, keyOfRows, type RowKeys, type UploadRow } from '../rows.ts';

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

/** The rows of batches in others of `size`; their columns are the same. */
export async function* batchesAgain(batches: AsyncIterable<Batch>, size: number): AsyncGenerator<Batch> {
  let waiting: Batch | undefined;
  for await (const batch of batches) {
    const rows: UploadRow[] = [...(waiting?.rows ?? []), ...batch.rows];
    const numbers: number[] = [...(waiting?.numbers ?? []), ...batch.numbers];
    waiting = undefined;
    for (let at = 0; at < rows.length; at += size) {
      const some = { ...batch, rows: rows.slice(at, at + size), numbers: numbers.slice(at, at + size) };
      if (some.rows.length === size) yield { ...some, key: keyOfRows(some.rows) };
      else waiting = some;
    }
  }
  if (waiting) yield { ...waiting, key: keyOfRows(waiting.rows) };
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

/** A batch as JSON, as it is kept. */
export const keptBatch = ({ key, rows, numbers, headings, fileHeadings }: Batch): JsonObject => ({
  ...{ key, rows, numbers, headings },
  ...(fileHeadings && { fileHeadings }),
});

/** A batch as it was kept. */
export function batchIn(body: JsonObject): Batch {
  const fileHeadings = listIn(body, 'fileHeadings').map(String);
  return {
    key: textIn(body, 'key') ?? '',
    // What is kept was written as rows of cells.
    rows: objectsIn(body, 'rows') as readonly UploadRow[],
    numbers: listIn(body, 'numbers').map(Number),
    headings: listIn(body, 'headings').map(String),
    ...(fileHeadings.length > 0 && { fileHeadings }),
  };
}
