import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ErrandError, StorageError, UsageError } from '../errors.ts';

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** What the person who named the file can mend. */
const wrongPlaces: Readonly<Record<string, string>> = {
  EEXIST: 'already exists; use --force to overwrite it',
  EISDIR: 'is a folder; name a file',
  ENOENT: 'cannot be written: its folder is not there',
  ENOTDIR: 'cannot be written: its folder is a file',
};

/**
 * Writes a file that is whole from its first moment under its name. Without `force` what has come to stand there is
 * left alone. @param mode of the new file; by the umask without it. @returns its size in bytes.
 * @throws UsageError, StorageError naming the path; whatever the chunks throw. Nothing is left behind.
 */
export async function saveFile(
  path: string,
  chunks: Chunks,
  { force, mode }: { readonly force: boolean; readonly mode?: number },
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}`);
  try {
    const size = await writeDraft(draft, chunks, mode);
    if (force) await rename(draft, path);
    else await giveName(draft, path);
    return size;
  } catch (cause) {
    if (cause instanceof ErrandError) throw cause;
    const code = codeOf(cause);
    const wrong = wrongPlaces[code];
    if (wrong) throw new UsageError(`${path} ${wrong}`, { cause });
    throw new StorageError(`${path} cannot be written (${code})`, { cause });
  } finally {
    // What stopped the writing is what is told.
    await rm(draft, { force: true }).catch(() => {});
  }
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

async function writeDraft(draft: string, chunks: Chunks, mode: number | undefined): Promise<number> {
  const file = await open(draft, 'wx', mode);
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
    await file.sync();
  } finally {
    await file.close();
  }
  return size;
}
