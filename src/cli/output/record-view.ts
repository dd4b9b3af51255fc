import { cellMood, cellText, columnValue } from '../../format/cell.ts';
import { isRecord } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';
import { measureFor, pad } from '../../format/width.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { foldValue } from './notice.ts';
import { paintMood } from './paint.ts';
import { inferColumns } from './select.ts';
import { type TableOptions, tableLines } from './table.ts';

/** Maximum depth at which a nested record is shown as a view. Deeper records are printed as JSON. */
const maxDepth = 4;

/**
 * Formats a record as lines of name and value. A nested list of records becomes an indented table, a nested object an
 * indented view. Values are shown in full, wrapped at word boundaries to the terminal width.
 * @param hidden receives the names of columns for which a nested table has no room.
 * @param showEmpty tells whether a column without a value gets a line too, which is so if the user requested the
 * columns explicitly.
 */
export async function recordLines(
  record: unknown,
  columns: readonly Column[],
  options: TableOptions,
  hidden: Set<string>,
  showEmpty: boolean,
  depth = 1,
): Promise<string[]> {
  const entries = columns
    .map((column) => ({
      column,
      name: safeText(column.name),
      value: columnValue(column, record, options.titleOf),
    }))
    .filter(({ value }) => showEmpty || !isEmpty(value));
  const measure = await measureFor(entries.map(({ name }) => name));
  const width = Math.max(
    0,
    ...entries.filter(({ value }) => !opens(value, depth)).map(({ name }) => measure(name)),
  );
  const lines = entries.map(async ({ column, name, value }) => {
    if (opens(value, depth)) {
      const inner = await nested(value, column, options, hidden, depth + 1);
      return [options.paint.strong(name), ...inner.map((line) => `  ${line}`)];
    }
    const text = cellText(column, record, options);
    const painted = paintMood(cellMood(column, record), options.paint);
    const label = options.paint.faint(pad(name, width, 'left', measure));
    const room = options.width === undefined ? 0 : options.width - width - 2;
    if (room < minWidth) return [`${label}  ${painted(text)}`.trimEnd()];
    const [first = '', ...rest] = foldValue(text, room, options.command).map((line) => painted(line));
    return [`${label}  ${first}`.trimEnd(), ...rest.map((line) => `${' '.repeat(width + 2)}${line}`)];
  });
  return (await Promise.all(lines)).flat();
}

/** Minimum width for wrapping at word boundaries. */
const minWidth = 20;

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (isRecord(value) && Object.keys(value).length === 0);

/** Whether a value is shown below its name. This is so for an object, and for a list that contains an object. */
function opens(value: unknown, depth: number): value is object {
  if (depth >= maxDepth || isEmpty(value)) return false;
  return Array.isArray(value) ? value.some(isRecord) : isRecord(value);
}

async function nested(
  value: object,
  column: Column,
  options: TableOptions,
  hidden: Set<string>,
  depth: number,
): Promise<string[]> {
  const inner = {
    ...options,
    width: options.width === undefined ? undefined : Math.max(1, options.width - 2),
  };
  if (!Array.isArray(value))
    return await recordLines(value, column.columns ?? inferColumns([value]), inner, hidden, false, depth);
  const columns =
    column.columns ??
    inferColumns(value).filter((inferred) => value.some((row) => isPlain(columnValue(inferred, row))));
  const table = await tableLines(value, columns, inner);
  for (const name of table.hidden) hidden.add(name);
  return table.lines;
}

const isPlain = (value: unknown): boolean => !isEmpty(value) && !isRecord(value);
