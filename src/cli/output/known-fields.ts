import { isRecord } from '../../format/path.ts';
import type { KnownFields, ListResult, OutputOptions, RecordResult, Row } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import { didYouMean } from '../../platform/near-words.ts';
import type { Io } from '../../platform/streams.ts';
import { noteLines } from './notice.ts';

const maxNamed = 40;

/**
 * Checks `--fields` against the first record. If neither the record nor the contract has a path, this is an error for a
 * read-only command. For a command that has already written, it is only a note.
 * @throws UsageError before anything is printed.
 */
export async function withKnownFields<R extends RecordResult | ListResult>(
  result: R,
  { fields, knownFields }: OutputOptions,
  io: Io,
): Promise<R> {
  // If there are no columns, skip the check, because the records are then events of several shapes.
  if (!fields || !knownFields || result.columns.length === 0) return result;
  const check = (record: Row | undefined): Promise<void> =>
    checkFields(result, record, fields, knownFields, io);
  if (result.kind === 'record') await check(result.record);
  return result.kind === 'list' ? { ...result, rows: checkedRows(result.rows, check) } : result;
}

async function* checkedRows(
  rows: ListResult['rows'],
  check: (first: Row | undefined) => Promise<void>,
): AsyncGenerator<Row> {
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst) await check(row);
    isFirst = false;
    yield row;
  }
  if (isFirst) await check(undefined);
}

async function checkFields(
  { columns, screen = [] }: RecordResult | ListResult,
  record: Row | undefined,
  fields: readonly string[],
  { inContract, refuses }: KnownFields,
  io: Io,
): Promise<void> {
  const paths = new Set(columns.map(({ path }) => path));
  const unknown: string[] = [];
  for (const path of fields) {
    if (paths.has(path) || mayHave(record, path, inContract === undefined)) continue;
    if (!(await inContract?.(path))) unknown.push(path);
  }
  if (unknown.length === 0) return;
  const headings = [...columns, ...screen].map(({ name }) => name.replaceAll(' ', '-'));
  const known = [...new Set([...headings, ...Object.keys(record ?? {}), ...paths])];
  const more = known.length > maxNamed ? ', …' : '';
  const near = didYouMean(unknown[0] ?? '', known);
  const message = `--fields: there is no field ${unknown.join(', ')}; there are ${known.slice(0, maxNamed).join(', ')}${more}${near}`;
  if (refuses) throw new UsageError(message);
  noteLines([`note: ${message}`], io);
}

/**
 * Whether a record has a field at a path. With `isOpen`, a path that leads through a null or into the elements of a
 * list also counts. This record lacks the field then, but other records may have it.
 */
function mayHave(record: Row | undefined, path: string, isOpen: boolean): boolean {
  let value: unknown = record;
  for (const key of path.split('.')) {
    if (isRecord(value) && Object.hasOwn(value, key)) value = Reflect.get(value, key);
    else return isOpen && record !== undefined && (value === null || Array.isArray(value));
  }
  return record !== undefined;
}
