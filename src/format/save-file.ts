import { randomBytes } from 'node:crypto';
import { constants, fstatSync, type Stats, writeFileSync } from 'node:fs';
import { type FileHandle, link, lstat, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ErrandError, StorageError, UsageError } from '../platform/errors.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** What the person who named the file can mend. */
const wrongPlaces: Readonly<Record<string, string>> = {
  EEXIST: 'already exists; use --force to overwrite it',
  EISDIR: 'is a folder; name a file',
  ENOENT: 'cannot be written: its folder is not there',
  ENOTDIR: 'cannot be written: its folder is a file',
  ENXIO: 'cannot be written: nobody reads from it',
};

/**
 * Writes a file that is whole from its first moment under its name. Without `force` what has come to stand there is
 * left alone. With it a file is replaced, that which a link leads to and not the link; a device or a FIFO is written to.
 * @param mode of the new file; by the umask without it. @param isTyped whether a person has typed the path: a name that
 * comes from elsewhere replaces a plain file of that name alone. @returns its size in bytes.
 * @throws UsageError, StorageError naming the path; whatever the chunks throw. Nothing is left behind.
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
    const size = await writeChunks(file, chunks, { isKept: true });
    if (force) await rename(draft, path);
    else await giveName(draft, path);
    return size;
  } finally {
    // What stopped the writing is what is told.
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** A link that comes to stand there after this is replaced itself; nothing is written to where it leads. */
async function checkPlain(path: string): Promise<void> {
  const isPlain = await lstat(path).then(
    (stats) => stats.isFile(),
    (error: unknown) => codeOf(error) === 'ENOENT',
  );
  if (!isPlain) throw new UsageError(`${path} is there, and is no plain file; move it away`);
}

/** What a path leads to; undefined where there is nothing. */
async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Not to be replaced: a device, a FIFO, a socket, or the file that this process prints to. */
const isStream = (stats: Stats): boolean =>
  !(stats.isFile() || stats.isDirectory()) || printedTo(stats) !== undefined;

/** The descriptor, of stdout or stderr, that leads to the same file. */
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
  // A FIFO that nobody reads would hold the process for good; its reader stays while one writer is there.
  const reached = there.isFIFO() ? await open(path, constants.O_WRONLY | constants.O_NONBLOCK) : undefined;
  try {
    return await writeChunks(await open(path, constants.O_WRONLY), chunks, { isKept: false });
  } finally {
    await reached?.close();
  }
}

/** After what has been printed; to open the file anew would write over it. */
async function print(descriptor: number, chunks: Chunks): Promise<number> {
  let size = 0;
  for await (const chunk of chunks) {
    writeFileSync(descriptor, chunk);
    size += Buffer.byteLength(chunk);
  }
  return size;
}

/** Where a link leads to, be there a file yet or not. @throws NodeJS.ErrnoException for links in a circle. */
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

/** A link, unlike a new name, is never given to what is there already; some file systems have none. */
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

/** Bytes that are gathered before they are written. */
const atOnce = 256 * 1024;

/** Writes and closes. @param isKept whether it is a file of a disk, which is to outlast a power cut. */
async function writeChunks(
  file: FileHandle,
  chunks: Chunks,
  { isKept }: { readonly isKept: boolean },
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
    // A file that is named before its bytes are on the disk may be empty after a power cut.
    if (isKept) await file.sync();
  } finally {
    await file.close();
  }
  return size;
}
