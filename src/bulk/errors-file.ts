import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { byteOrderMark } from '../platform/csv-cell.ts';
import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import type { ShownIssue } from './check.ts';

/** Where every error of a file is written, however many there are. */
export const errorsOption = {
  errors: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'write every error to it as CSV; overwrites only the errors of an earlier check',
  },
} as const;

/** Whether the errors are written to a file. */
export const savesErrors = ({ errors }: { readonly errors?: string | undefined }): boolean =>
  errors !== undefined;

const headings = ['row', 'column', 'value', 'message'];
const firstLine = `${headings.join(',')}\n`;

/** Lines that are written at once. */
const atOnce = 1000;

/**
 * Passes on what is wrong with a file, and writes all of it to a file of its own once it is known. Without a path it
 * only passes it on. @throws UsageError, StorageError naming the path; nothing is left half written.
 */
export async function* savingIssues(
  { output: { excel = false } }: Context,
  issues: AsyncIterable<readonly ShownIssue[]>,
  path: string | undefined,
): AsyncGenerator<readonly ShownIssue[]> {
  if (path === undefined) return yield* issues;
  const { saveFile } = await import('../format/save-file.ts');
  const { csvRecords } = await import('../format/csv.ts');
  const force = await isErrorsFile(path);
  const lines = new PassThrough();
  if (excel) lines.write(byteOrderMark);
  const saved = saveFile(path, lines, { force });
  // It may fail before anybody waits for it.
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
    // What is not whole never gets the file's name.
    if (!lines.writableEnded) lines.destroy(new Error('the check was cut short'));
    await saved.catch(() => {});
  }
}

/** Whether what stands there are errors that an earlier check wrote. @throws UsageError where it is anything else. */
async function isErrorsFile(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new UsageError(`--errors ${path} cannot be read (${cause.code})`, { cause });
  });
  if (!file) return false;
  try {
    if (!(await file.stat()).isFile()) throw new UsageError(`--errors ${path}: it is not a file`);
    const most = Buffer.byteLength(byteOrderMark + firstLine);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(most), 0, most, 0);
    const beginning = buffer.toString('utf8', 0, bytesRead);
    if ([firstLine, byteOrderMark + firstLine].some((line) => beginning.startsWith(line))) return true;
  } finally {
    await file.close();
  }
  throw new UsageError(
    `--errors ${path}: that file is there already, and holds no errors of a check; name another`,
  );
}
