import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { saveFile } from '../../format/save-file.ts';
import { StorageError, UsageError } from '../../platform/errors.ts';

/** A file of books as it was when it was read. */
export interface BookFile {
  /** Where it is, with links followed. */
  readonly path: string;
  /** Undefined where there is none yet, or an empty one. */
  readonly text: string | undefined;
  readonly stats: Stats | undefined;
}

/** Bytes that no books have that can be read at once. */
const tooManyBytes = 400 * 1024 * 1024;

/** @throws UsageError for what is no file of text; StorageError where it cannot be read. */
export function readBookFile(name: string): BookFile {
  try {
    const stats = statSync(name, { throwIfNoEntry: false });
    if (!stats) return { path: name, text: undefined, stats };
    if (!stats.isFile()) throw new UsageError(`--out ${name} is not a file; leave --out away for stdout`);
    if (stats.size > tooManyBytes) throw new UsageError(`--out ${name} is too large; begin another file`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(name));
    return { path: realpathSync(name), text: text === '' ? undefined : text, stats };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    if (cause instanceof TypeError) throw new UsageError(`--out ${name} is not UTF-8 text`, { cause });
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
    if (code === 'ENOTDIR') throw new UsageError(`--out ${name} cannot be written: its folder is a file`);
    throw new StorageError(`--out ${name} cannot be read (${code})`, { cause });
  }
}

/**
 * Puts the new text in the place of the old one, whole; where the file has been changed meanwhile it stays as it is.
 * @throws UsageError, StorageError.
 */
export async function replaceBookFile({ path, stats }: BookFile, chunks: Iterable<string>): Promise<void> {
  function* unlessChanged(): Generator<string> {
    yield* chunks;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.mtimeMs === stats?.mtimeMs && now?.size === stats?.size && now?.ino === stats?.ino) return;
    throw new StorageError(`${path} was changed while the orders were read; it was left as it is`, {
      hint: 'Run the command again.',
    });
  }
  await saveFile(path, unlessChanged(), {
    force: stats !== undefined,
    ...(stats && { mode: stats.mode & 0o777 }),
  });
}
