import { randomBytes } from 'node:crypto';
import { constants, fstatSync, type Stats, writeFileSync } from 'node:fs';
import { type FileHandle, link, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ErrandError, StorageError, UsageError } from '../platform/errors.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Errors that the user can fix, if the user named the file. */
const wrongPlaces: Readonly<Record<string, string>> = {
  EEXIST: 'already exists; use --force to overwrite it',
  EISDIR: 'is a folder; name a file',
  ENOENT: 'cannot be written: its folder is not there',
  ENOTDIR: 'cannot be written: its folder is a file',
  ENXIO: 'cannot be written: nobody reads from it',
};

/**
 * Writes a file atomically, so that it appears under its name only when complete. Without `force`, leaves an existing
 * file alone. With `force`, follows links, replaces a file, and writes to a device or FIFO. @param mode gives the
 * permissions of the new file. If unset, the umask determines them. @param isTyped tells whether the user typed the
 * path. A path from elsewhere may replace only a regular file. @returns the file's size in bytes. @throws UsageError or
 * StorageError naming the path, or whatever the chunks throw. Leaves no partial file behind.
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
    // Report the original write error rather than a failed cleanup.
    await rm(draft, { force: true }).catch(() => {});
  }
}

/**
 * Rejects a path if something other than a regular file is there. If a link is created after this check, saving
 * replaces the link and never writes through it.
 */
async function checkPlain(path: string): Promise<void> {
  const isPlain = await lstat(path).then(
    (stats) => stats.isFile(),
    (error: unknown) => codeOf(error) === 'ENOENT',
  );
  if (!isPlain) throw new UsageError(`${path} is there, and is no plain file; move it away`);
}

/** Stats of the file that a path leads to; undefined if there is none. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Whether a target must not be replaced. This is a device, a FIFO, a socket, or the file to which this process prints.
 */
const isStream = (stats: Stats): boolean =>
  !(stats.isFile() || stats.isDirectory()) || printedTo(stats) !== undefined;

/** Descriptor of stdout or stderr, if it prints to the given file; undefined if neither does. */
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
  // Opening a FIFO without a reader would block forever. The first open fails instead, and then keeps the reader
  // attached.
  const reached = there.isFIFO() ? await open(path, constants.O_WRONLY | constants.O_NONBLOCK) : undefined;
  try {
    return await writeChunks(await open(path, constants.O_WRONLY), chunks, { isDurable: false });
  } finally {
    await reached?.close();
  }
}

/**
 * Appends to what was already printed, through the open descriptor. If the file were reopened, the new output would
 * overwrite the earlier output.
 */
async function print(descriptor: number, chunks: Chunks): Promise<number> {
  let size = 0;
  for await (const chunk of chunks) {
    writeFileSync(descriptor, chunk);
    size += Buffer.byteLength(chunk);
  }
  return size;
}

/**
 * Resolves a link to its target, even if the target does not exist yet. @throws NodeJS.ErrnoException for circular
 * links.
 */
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

/** `link`, unlike `rename`, never replaces an existing file, but some file systems do not support it. */
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

/** Number of bytes to buffer before a write. */
const atOnce = 256 * 1024;

/**
 * Writes and closes a file. @param isDurable tells whether the file is on a disk, so that it must survive a power
 * failure.
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
    // If a file is renamed before fsync, it may be empty after a power failure.
    if (isDurable) await file.sync();
  } finally {
    await file.close();
  }
  return size;
}
