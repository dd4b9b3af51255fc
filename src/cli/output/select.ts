import { accessor, isRecord } from '../../format/path.ts';
import type { Column, ListResult, RecordResult, Row } from '../../format/result.ts';

/** The columns that `--fields` names, in its order: known ones as they are, any other path as plain text. */
export function selectColumns(
  columns: readonly Column[],
  fields: readonly string[] | undefined,
): readonly Column[] {
  if (!fields) return columns;
  const known = new Map(columns.map((column) => [column.path, column]));
  // Who names columns means the first ones most, so a narrow terminal hides the last ones.
  return fields.map((path, index) => ({
    name: path,
    path,
    ...known.get(path),
    weight: fields.length - index,
  }));
}

/**
 * The result with the one state of its records, which only a terminal's columns have, under the name that its heading
 * shows, so that `--fields` can name it: `state`.
 */
export function withStates<R extends RecordResult | ListResult>(result: R): R {
  const { columns, screen = [] } = result;
  const states = screen
    .filter(
      ({ kind, value, name }) => kind === 'status' && value && !columns.some(({ path }) => path === name),
    )
    .map((column): Column => ({ ...column, path: column.name }));
  return states.length === 0 ? result : { ...result, columns: [...columns, ...states] };
}

/**
 * What `--fields` leaves of a record in JSON: an object with the paths as keys, in their order; null where nothing
 * stands at a path and no column computes it. Without fields the record itself.
 */
export function projection(
  columns: readonly Column[],
  fields: readonly string[] | undefined,
): (value: unknown) => unknown {
  if (!fields) return (value) => value;
  const readers = fields.map((path) => {
    const read = accessor(path);
    const computed = columns.find((column) => column.path === path)?.value;
    return [path, (row: Row): unknown => read(row) ?? computed?.(row) ?? null] as const;
  });
  return (value) =>
    isRecord(value) ? Object.fromEntries(readers.map(([path, read]) => [path, read(value)])) : value;
}

/** A column for each key of the rows, in the order in which they are first seen. */
export function inferColumns(rows: readonly unknown[]): Column[] {
  const keys = new Set(rows.flatMap((row) => (isRecord(row) ? Object.keys(row) : [])));
  return Array.from(keys, (key) => ({
    name: key,
    path: key,
    value: (row) => (Object.hasOwn(row, key) ? row[key] : undefined),
  }));
}
