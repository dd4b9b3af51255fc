import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ErrandError, StorageError, UsageError } from '../../errors.ts';

/** Largest label, bytes. */
const largest = 25 * 1024 * 1024;

/**
 * Writes a file that is whole from its first moment under its name. Without `force` what has come to stand there is
 * left alone. @returns its size in bytes. @throws ErrandError, UsageError, StorageError; nothing is left behind.
 */
export async function saveFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  force: boolean,
): Promise<number> {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const size = await writeDraft(draft, chunks);
    if (force) await rename(draft, path);
    else await giveName(draft, path);
    return size;
  } catch (cause) {
    if (cause instanceof ErrandError) throw cause;
    const code = codeOf(cause);
    if (code === 'EEXIST')
      throw new UsageError(`${path} is there already; --force writes over it`, { cause });
    throw new StorageError(`${path} cannot be written (${String(code)})`, { cause });
  } finally {
    await rm(draft, { force: true });
  }
}

const withoutLinks: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

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

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

async function writeDraft(draft: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(draft, 'wx');
  let size = 0;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > largest)
        throw new ErrandError('unavailable', `a label is larger than ${largest} bytes; it was not kept`);
      await file.write(chunk);
    }
    if (size === 0) throw new ErrandError('unavailable', 'the service gave an empty label; it was not kept');
  } finally {
    await file.close();
  }
  return size;
}
