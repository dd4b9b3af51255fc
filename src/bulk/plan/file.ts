import { constants } from 'node:fs';
import { stat as lookAt, lstat, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { reasonOf } from '../../config/paths.ts';
import { saveFile } from '../../format/save-file.ts';
import { UsageError } from '../../platform/errors.ts';

/** No plan is larger, bytes. */
const mostBytes = 256 * 1024 * 1024;

/** Writes a plan whole or not at all, for its owner alone: it holds addresses. @throws UsageError, StorageError naming the path. */
export async function writePlan(path: string, bytes: Buffer, force: boolean): Promise<void> {
  if (bytes.length > mostBytes)
    throw new UsageError(
      `the plan would have ${megabytes(bytes.length)}, and ${megabytes(mostBytes)} is the most; split the file`,
    );
  await saveFile(path, [bytes], { force, mode: 0o600 });
}

/**
 * Whether a plan of `source` may be written there; asked before the work is done. @throws UsageError naming the path: one that is
 * `source` itself would lose the orders, `force` or not.
 */
export async function checkTarget(path: string, source: string, force: boolean): Promise<void> {
  if (path === '-')
    throw new UsageError('--out names a file: the plan is read again by `bulk show` and `bulk apply`');
  if (await isSameFile(path, source))
    throw new UsageError(
      `--out: ${path} is the file that is planned, and the plan would take its place; name another`,
    );
  const stat = await lstat(path).catch(() => undefined);
  if (stat?.isDirectory()) throw new UsageError(`--out: ${path} is a folder; name a file`);
  if (stat && !stat.isFile() && !stat.isSymbolicLink())
    throw new UsageError(`--out: ${path} is not a plain file; name another`);
  if (stat && !force) throw new UsageError(`${path} already exists; use --force to overwrite it`);
  const folder = await lookAt(dirname(path)).catch(() => undefined);
  if (!folder?.isDirectory())
    throw new UsageError(`${path} cannot be written: its folder is ${folder ? 'a file' : 'not there'}`);
}

/** Whether two paths lead to one file, by whatever names or links. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map((path) => lookAt(path, { bigint: true }).catch(() => undefined)),
  );
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Where a plan of a file is usually put: beside it, and never in its place. */
export const usualTarget = (source: string): string =>
  source === '-' ? 'orders.plan' : `${basename(source).replace(/\.(?:csv|tsv|txt)$/i, '')}.plan`;

/** The bytes of a plan's file. @throws UsageError naming what cannot be read. */
export async function readPlanFile(path: string): Promise<Buffer> {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    const file = await open(path, O_RDONLY | O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (stat.isDirectory()) throw new UsageError(`${path} is a folder; name a plan`);
      if (!stat.isFile()) throw new UsageError(`${path} is not a plain file; a plan is one`);
      if (stat.size > mostBytes)
        throw new UsageError(
          `${path} has ${megabytes(stat.size)}; no plan has more than ${megabytes(mostBytes)}`,
        );
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const code = codeOf(cause);
    const reason = code === 'ENOENT' ? 'there is no such file' : reasonOf(cause);
    if (batchForm.test(path) && code === 'ENOENT')
      throw new UsageError(`${path} is not a file; name the plan file that \`bulk plan\` wrote`, {
        cause,
        next: [{ command: `errand bulk get ${path}`, when: 'if you mean a batch' }],
      });
    throw new UsageError(`${path} cannot be read: ${reason}`, { cause });
  }
}

/** The number of a row, or an id or its beginning. */
const batchForm = /^(?:@\d{1,9}|[0-9a-f]{8}[0-9a-f-]{0,28})$/i;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
