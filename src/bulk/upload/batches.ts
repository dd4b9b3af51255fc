import { type JsonObject, listIn, objectsIn, textIn } from '../../api/json.ts';
import { type FileRow, keyOfRows, type RowKeys, type UploadRow } from '../rows.ts';

/** Default number of rows per request. */
export const defaultBatchRows = 500;

/** Rows uploaded in one request. */
export interface Batch {
  /** Idempotency key of the batch, derived from its rows. */
  readonly key: string;
  readonly rows: readonly UploadRow[];
  /** Row numbers in the file. */
  readonly numbers: readonly number[];
  /** Column headings as they are sent, in file order. */
  readonly headings: readonly string[];
  /** The headings as written in the file, if known. */
  readonly fileHeadings?: readonly string[] | undefined;
  /** Numbers of the rows whose keys the file gives. */
  readonly ownKeys?: readonly number[] | undefined;
}

/** Groups valid rows into batches of `size`, and adds each row's key. */
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

/** Regroups batches into batches of `size`. The columns stay the same. */
export async function* batchesAgain(batches: AsyncIterable<Batch>, size: number): AsyncGenerator<Batch> {
  let waiting: Batch | undefined;
  for await (const batch of batches) {
    const rows: UploadRow[] = [...(waiting?.rows ?? []), ...batch.rows];
    const numbers: number[] = [...(waiting?.numbers ?? []), ...batch.numbers];
    const ownKeys = new Set([...(waiting?.ownKeys ?? []), ...(batch.ownKeys ?? [])]);
    waiting = undefined;
    for (let at = 0; at < rows.length; at += size) {
      const some = partOf(batch, rows.slice(at, at + size), numbers.slice(at, at + size), ownKeys);
      if (some.rows.length === size) yield { ...some, key: keyOfRows(some.rows) };
      else waiting = some;
    }
  }
  if (waiting) yield { ...waiting, key: keyOfRows(waiting.rows) };
}

/** A part of a batch: some of its rows, with its columns. The part has the key of the whole batch. */
export function partOf(
  { ownKeys: _, ...batch }: Batch,
  rows: readonly UploadRow[],
  numbers: readonly number[],
  ownKeys: ReadonlySet<number>,
): Batch {
  return { ...batch, rows, numbers, ...ownKeysOf(numbers.filter((number) => ownKeys.has(number))) };
}

function batchOf(rows: readonly FileRow[], keys: RowKeys): Batch {
  const keyed = rows.map((row) => keys.keyed(row));
  return {
    key: keyOfRows(keyed),
    rows: keyed,
    numbers: rows.map(({ number }) => number),
    headings: rows[0]?.plan.headings ?? [],
    fileHeadings: rows[0]?.plan.fileHeadings,
    ...ownKeysOf(rows.filter(({ row }) => row.cell('idempotency_key') !== '').map(({ number }) => number)),
  };
}

const ownKeysOf = (ownKeys: readonly number[]): Pick<Batch, 'ownKeys'> =>
  ownKeys.length > 0 ? { ownKeys } : {};

/** Serializes a batch for storage. */
export const serializeBatch = ({
  key,
  rows,
  numbers,
  headings,
  fileHeadings,
  ownKeys,
}: Batch): JsonObject => ({
  ...{ key, rows, numbers, headings },
  ...(fileHeadings && { fileHeadings }),
  ...(ownKeys && { ownKeys }),
});

/** Deserializes a stored batch. */
export function batchIn(body: JsonObject): Batch {
  const fileHeadings = listIn(body, 'fileHeadings').map(String);
  return {
    key: textIn(body, 'key') ?? '',
    // `serializeBatch` stored the rows as cells, so the cast is safe.
    rows: objectsIn(body, 'rows') as readonly UploadRow[],
    numbers: listIn(body, 'numbers').map(Number),
    headings: listIn(body, 'headings').map(String),
    ...(fileHeadings.length > 0 && { fileHeadings }),
    ...ownKeysOf(listIn(body, 'ownKeys').map(Number)),
  };
}
