import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { countText } from '../../format/counts.ts';
import type { Row } from '../../format/result.ts';
import { byteOrderMark } from '../../platform/csv-cell.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { ShownIssue } from './check.ts';
import { addRow, hasMore, noRows, type RowSample, rowsText } from './row-sample.ts';

/** Rows with the same issue in the same column. */
interface IssueGroup extends RowSample {
  readonly column: string;
  /** Cell value in the first row. */
  readonly value: string;
  /** Message of the first row. */
  readonly message: string;
  /** Whether the rows of the group have different values, or different numbers in their messages. */
  isVaried: boolean;
}

/** Maximum number of groups. The maximum bounds the memory if every row fails in its own way. */
const maxGroups = 1000;

/** Groups a file's issues, so that an error in 20,000 rows is reported once. */
export class IssueGroups {
  readonly #groups = new Map<string, IssueGroup>();
  /** Number of errors that belong to none of the groups. */
  #others = 0;

  /** Index of the groups by message and column, so that most messages need not be normalized. */
  readonly #known = new Map<string, Map<string, IssueGroup>>();

  add(issues: readonly ShownIssue[]): void {
    for (const issue of issues) this.#add(issue);
  }

  #add({ row, column, value, message }: ShownIssue): void {
    const group = this.#known.get(message)?.get(column) ?? this.#groupOf(column, value, message);
    if (!group) {
      this.#others += 1;
      return;
    }
    addRow(group, row);
    group.isVaried ||= value !== group.value || message !== group.message;
  }

  /** Returns undefined once the maximum number of groups is reached. */
  #groupOf(column: string, value: string, message: string): IssueGroup | undefined {
    // Treat "write 1250 for 12.50" and "write 600 for 6.00" as the same error.
    const kind = `${column}\n${message.replace(/; write .*$/s, '').replace(/\d+/g, '#')}`;
    const known = this.#groups.get(kind);
    if (!known && this.#groups.size >= maxGroups) return undefined;
    const group = known ?? { column, value, message, isVaried: false, ...noRows() };
    this.#groups.set(kind, group);
    if (this.#known.size >= maxGroups) return group;
    const ofMessage = this.#known.get(message) ?? new Map<string, IssueGroup>();
    this.#known.set(message, ofMessage.set(column, group));
    return group;
  }

  /** Sorts the groups: the most frequent one first, equally frequent ones by their first rows. */
  #sorted(): IssueGroup[] {
    return [...this.#groups.values()].toSorted(
      (one, other) => other.count - one.count || (one.first[0] ?? 0) - (other.first[0] ?? 0),
    );
  }

  /** Yields the groups as table rows, each with its row numbers. */
  *shown(): Generator<Row> {
    for (const group of this.#sorted()) {
      const { column, message, value, isVaried } = group;
      yield { row: namedRows(group), column, value: isVaried ? `such as ${value}` : value, message };
    }
    if (this.#others > 0)
      yield { row: `${countText(this.#others)} more`, message: 'other errors; --errors FILE writes all' };
  }

  /** Formats at most `limit` groups as lines. @param rest formats the number of the remaining groups or rows. */
  lines(limit: number, rest: (count: number) => string = moreErrors): string[] {
    const groups = this.#sorted();
    const left = groups.slice(limit).reduce((sum, { count }) => sum + count, this.#others);
    return [...groups.slice(0, limit).map(groupText), ...(left > 0 ? [rest(left)] : [])];
  }
}

const moreErrors = (count: number): string =>
  `… and ${countText(count)} more ${count === 1 ? 'error' : 'errors'}; --errors FILE writes all`;

/** Formats `row 7: city is missing`, or `20,000 rows: city is missing; first rows 2, 3, 4`. */
function groupText(group: IssueGroup): string {
  const { count, first, column, value, isVaried, message } = group;
  const cell = value === '' ? '' : `${isVaried ? 'such as ' : ''}"${value}"`;
  const what = [column, cell, message].filter((part) => part !== '').join(' ');
  if (count === 1) return `row ${first[0]}: ${what}`;
  return `${rowsText(count)}: ${what}; ${hasMore(group) ? 'first rows' : 'rows'} ${first.join(', ')}`;
}

/** Formats `7`, or `2, 3, 4 … (20,000 rows)`. */
const namedRows = (group: IssueGroup): string =>
  group.first.join(', ') + (hasMore(group) ? ` … (${rowsText(group.count)})` : '');

/** Option for writing every error to a file, however many there are. */
export const errorsOption = {
  errors: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'write every error to it as CSV; overwrites only the errors of an earlier check',
  },
} as const;

export const savesErrors = ({ errors }: { readonly errors?: string | undefined }): boolean =>
  errors !== undefined;

const headings = ['row', 'column', 'value', 'message'];
const firstLine = `${headings.join(',')}\n`;

/** Number of lines to write per chunk. */
const atOnce = 1000;

/**
 * Yields the issues unchanged and writes them to a file, which appears once all of them are written. Without a path,
 * only yields the issues. @throws UsageError, StorageError naming the path; a partial file is never left behind.
 */
export async function* savingIssues(
  { output: { excel = false } }: Context,
  issues: AsyncIterable<readonly ShownIssue[]>,
  path: string | undefined,
): AsyncGenerator<readonly ShownIssue[]> {
  if (path === undefined) return yield* issues;
  const { saveFile } = await import('../../format/save-file.ts');
  const { csvRecords } = await import('../../format/csv.ts');
  const force = await isErrorsFile(path);
  const lines = new PassThrough();
  if (excel) lines.write(byteOrderMark);
  const saved = saveFile(path, lines, { force });
  // Mark the promise as handled, because it may reject before anything awaits it.
  saved.catch(() => {});
  let cells: string[][] = [headings];
  const flush = async (): Promise<void> => {
    const isFull = !lines.write(csvRecords(cells, { delimiter: ',', raw: false, visible: false }));
    cells = [];
    if (isFull) await Promise.race([once(lines, 'drain'), saved]);
  };
  try {
    for await (const found of issues) {
      for (const { row, column, value, message } of found) cells.push([String(row), column, value, message]);
      if (cells.length >= atOnce) await flush();
      yield found;
    }
    await flush();
    lines.end();
    await saved;
  } finally {
    // Make sure that an incomplete file never appears at the path.
    if (!lines.writableEnded) lines.destroy(new Error('the check was cut short'));
    await saved.catch(() => {});
  }
}

/**
 * Whether the file at the path holds the errors of an earlier check. False if there is no file. @throws UsageError if
 * the file holds anything else.
 */
async function isErrorsFile(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new UsageError(`--errors ${path} cannot be read (${cause.code})`, { cause });
  });
  if (!file) return false;
  try {
    if (!(await file.stat()).isFile()) throw new UsageError(`--errors ${path}: it is not a file`);
    const limit = Buffer.byteLength(byteOrderMark + firstLine);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(limit), 0, limit, 0);
    const head = buffer.toString('utf8', 0, bytesRead);
    if ([firstLine, byteOrderMark + firstLine].some((line) => head.startsWith(line))) return true;
  } finally {
    await file.close();
  }
  throw new UsageError(
    `--errors ${path}: that file is there already, and holds no errors of a check; name another`,
  );
}
