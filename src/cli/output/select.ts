import { columnValue } from '../../format/cell.ts';
import { accessor, isRecord } from '../../format/path.ts';
import type { Column, ListResult, RecordResult, Row } from '../../format/result.ts';

/** The columns that `--fields` selects, in the same order. For an unknown path, there is a plain text column. */
export function selectColumns(
  columns: readonly Column[],
  fields: readonly string[] | undefined,
): readonly Column[] {
  if (!fields) return columns.filter(({ isNamedOnly }) => !isNamedOnly);
  const known = new Map(columns.map((column) => [column.path, column]));
  // The user lists the fields in order of importance, so a narrow terminal hides the last ones first.
  return fields.map((path, index) => ({
    name: path,
    path,
    ...known.get(path),
    weight: fields.length - index,
  }));
}

/**
 * Adds a column `state`, so that `--fields` can select the derived state, which otherwise only the TTY columns have.
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

/** Normalizes a name, so that case and the separators between words make no difference. */
const folded = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]+/g, ' ');

/** For each field of `--fields` that is the heading of a table column, adds that column. */
export function withHeadings<R extends RecordResult | ListResult>(result: R, fields: readonly string[]): R {
  const { columns, screen = [] } = result;
  const headings = fields.flatMap((field): Column[] => {
    if (columns.some(({ path }) => path === field)) return [];
    const column = [...columns, ...screen].find(
      ({ name, absoluteName = name }) => folded(name) === folded(field) || absoluteName === folded(field),
    );
    if (!column) return [];
    const read = accessor(field);
    // If the record has a field of that name, the field takes precedence over the column.
    return [
      { ...column, path: field, value: (row, titleOf) => read(row) ?? columnValue(column, row, titleOf) },
    ];
  });
  return headings.length === 0 ? result : { ...result, columns: [...columns, ...headings] };
}

/**
 * Projects a record to `--fields` for JSON. The result is an object keyed by path, in the order of `--fields`. A value
 * is null if there is nothing at its path and no column computes the value. Without fields, returns the record itself.
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

/** One column per key of the rows, in order of first appearance. */
export function inferColumns(rows: readonly unknown[]): Column[] {
  const keys = new Set(rows.flatMap((row) => (isRecord(row) ? Object.keys(row) : [])));
  return Array.from(keys, (key) => ({
    name: key,
    path: key,
    value: (row) => (Object.hasOwn(row, key) ? row[key] : undefined),
  }));
}
