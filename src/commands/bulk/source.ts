import { createReadStream, rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from '../../context.ts';
import { StorageError, UsageError } from '../../errors.ts';

/** A table that can be read more than once. */
export interface Source {
  /** As it was given. */
  readonly path: string;
  /** As messages and the service name it. */
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
  close(): void;
}

/** A file, or stdin for `-`, kept aside as long as the command runs. @throws UsageError naming what cannot be read. */
export async function openSource(context: Context, path: string): Promise<Source> {
  if (path === '-') return spooled(context);
  const reason = await stat(path).then(
    (found) => (found.isDirectory() ? 'it is a folder' : undefined),
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'there is no such file' : error.code),
  );
  if (reason !== undefined) throw new UsageError(`${path} cannot be read: ${reason}`);
  return { path, name: basename(path), chunks: () => chunksOf(path), close: () => {} };
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { highWaterMark: 256 * 1024 });
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    throw new UsageError(`${path} cannot be read (${String(cause.code)})`, { cause });
  }
}

async function spooled(context: Context): Promise<Source> {
  const { stdin } = context.io;
  if (stdin.isTerminal) throw new UsageError('- reads stdin, and stdin is a terminal; name a file');
  const { makePrivateFolder } = await import('../../settings/paths.ts');
  const { state } = context.settings.folders;
  makePrivateFolder(state);
  const path = join(state, `upload-${context.pid}-${context.clock.now()}.csv`);
  const remove = (): void => rmSync(path, { force: true });
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of stdin.stream) await file.write(chunk);
    } finally {
      await file.close();
    }
  } catch (cause) {
    remove();
    throw new StorageError(`stdin cannot be kept in ${path}`, { cause });
  }
  return { path: '-', name: 'stdin.csv', chunks: () => chunksOf(path), close: remove };
}
