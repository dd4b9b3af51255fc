import { randomBytes } from 'node:crypto';
import { constants, fstatSync, type Stats, writeFileSync } from 'node:fs';
import { type FileHandle, link, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ErrandError, StorageError, UsageError } from '../platform/errors.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Errors that the user who named the file can fix. */
const wrongPlaces: Readonly<Record<string, string>> = {
  EEXIST: 'already exists; use --force to overwrite it',
  EISDIR: 'is a folder; name a file',
  ENOENT: 'cannot be written: its folder is not there',
  ENOTDIR: 'cannot be written: its folder is a file',
  ENXIO: 'cannot be written: nobody reads from it',
};

/**
 * Writes a file atomically, so that it appears under its name only when complete. Leaves an existing file alone without
 * `force`. With `force`, follows links, replaces a file, and writes to a device or FIFO.
 * @param mode permissions of the new file; determined by the umask if unset.
 * @param isTyped tells whether the user typed the path. A path from elsewhere may replace only a regular file.
 * @returns the file's size in bytes.
 * @throws UsageError or StorageError naming the path, or whatever the chunks throw. Leaves no partial file behind.
 */
export async function saveFile(
  path: string,
  chunks: Chunks,
  {
    force,
    mode,
    isTyped = true,
  }: { readonly force: boolean; readonly mode?: number; readonly isTyped?: boolean },
): Promise<number> {
  try {
    const mayFollow = force && isTyped;
    const there = mayFollow ? await statsOf(path) : undefined;
    if (there && isStream(there)) return await writeInto(path, there, chunks);
    if (!isTyped) await checkPlain(path);
    const file = mayFollow ? await followed(path) : path;
    return await replace(file, chunks, { force, mode });
  } catch (cause) {
    if (cause instanceof ErrandError) throw cause;
    const code = codeOf(cause);
    const wrong = wrongPlaces[code];
    if (wrong) throw new UsageError(`${path} ${wrong}`, { cause });
    throw new StorageError(`${path} cannot be written (${code})`, { cause });
  }
}

async function replace(
  path: string,
  chunks: Chunks,
  { force, mode }: { readonly force: boolean; readonly mode: number | undefined },
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(draft, 'wx', mode);
    const size = await writeChunks(file, chunks, { isDurable: true });
    if (force) await rename(draft, path);
    else await giveName(draft, path);
    return size;
  } finally {
    // Report the original write error, not a failed cleanup.
    await rm(draft, { force: true }).catch(() => {});
  }
}

/**
 * Rejects a path that exists but is not a regular file. If a link is created after this check, saving replaces the link
 * and never writes through it.
 */
async function checkPlain(path: string): Promise<void> {
  const isPlain = await lstat(path).then(
    (stats) => stats.isFile(),
    (error: unknown) => codeOf(error) === 'ENOENT',
  );
  if (!isPlain) throw new UsageError(`${path} is there, and is no plain file; move it away`);
}

/** Stats of a path's target; undefined if there is none. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether a target must not be replaced: a device, FIFO, socket, or the file this process prints to. */
const isStream = (stats: Stats): boolean =>
  !(stats.isFile() || stats.isDirectory()) || printedTo(stats) !== undefined;

/** Descriptor of stdout or stderr, whichever prints to the same file; undefined if neither does. */
const printedTo = ({ dev, ino }: Stats): number | undefined =>
  [1, 2].find((descriptor) => {
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() && stats.dev === dev && stats.ino === ino;
    } catch {
      return false;
    }
  });

async function writeInto(path: string, there: Stats, chunks: Chunks): Promise<number> {
  const printed = printedTo(there);
  if (printed !== undefined) return print(printed, chunks);
  // Opening a FIFO without a reader would block forever. Holding this writer open keeps the reader attached.
  const reached = there.isFIFO() ? await open(path, constants.O_WRONLY | constants.O_NONBLOCK) : undefined;
  try {
    return await writeChunks(await open(path, constants.O_WRONLY), chunks, { isDurable: false });
  } finally {
    await reached?.close();
  }
}

/** Appends to what was already printed, through the open descriptor. Reopening the file would overwrite that output. */
async function print(descriptor: number, chunks: Chunks): Promise<number> {
  let size = 0;
  for await (const chunk of chunks) {
    writeFileSync(descriptor, chunk);
    size += Buffer.byteLength(chunk);
  }
  return size;
}

/** Resolves a link's target, even if it does not exist yet. @throws NodeJS.ErrnoException for circular links. */
async function followed(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const isLink = await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  );
  return isLink ? followed(resolve(dirname(path), await readlink(path))) : path;
}

const withoutLinks: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Unlike rename, link never replaces an existing file, but some file systems do not support it. */
async function giveName(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (!withoutLinks.includes(codeOf(error))) throw error;
    await (await open(path, 'wx')).close();
    await rename(draft, path);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

/** Bytes buffered before a write. */
const atOnce = 256 * 1024;

/**
 * Writes and closes a file.
 * @param isDurable tells whether the file is on disk and must survive a power failure.
 */
async function writeChunks(
  file: FileHandle,
  chunks: Chunks,
  { isDurable }: { readonly isDurable: boolean },
): Promise<number> {
  let size = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const write = async (): Promise<void> => {
    await file.writeFile(Buffer.concat(pending));
    [pending, pendingBytes] = [[], 0];
  };
  try {
    for await (const chunk of chunks) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      size += bytes.length;
      pending.push(bytes);
      pendingBytes += bytes.length;
      if (pendingBytes >= atOnce) await write();
    }
    await write();
    // A file renamed before fsync may be empty after a power failure.
    if (isDurable) await file.sync();
  } finally {
    await file.close();
  }
  return size;
}
