import { createReadStream, rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Context } from '../../context.ts';
import { ErrandError, StorageError, UsageError } from '../../errors.ts';
import { piecesOf } from '../../io.ts';
import { readPipe } from '../read-pipe.ts';

/** A table that can be read more than once. */
export interface Source {
  /** As it was given. */
  readonly path: string;
  /** As messages and the service name it. */
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
  close(): void;
}

/** A file, or stdin for `-`; stdin and what a pipe holds are kept aside as long as the command runs. @throws UsageError naming what cannot be read. */
export async function openSource(context: Context, path: string): Promise<Source> {
  if (path === '-') return spooled(context, path, fromStdin(context));
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : cause.code;
    throw new UsageError(`${path} cannot be read: ${reason}`, { cause });
  });
  if (found.isDirectory()) throw new UsageError(`${path} cannot be read: it is a folder`);
  if (found.isFIFO()) return spooled(context, path, readPipe(path, context.signal));
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

function fromStdin({ io: { stdin }, signal }: Context): AsyncIterable<Buffer> {
  if (stdin.isTerminal) throw new UsageError('- reads stdin, and stdin is a terminal; name a file');
  return piecesOf(stdin.stream, signal);
}

/** What comes only once is kept in a file, to be read as often as it takes. */
async function spooled(context: Context, from: string, chunks: AsyncIterable<Buffer>): Promise<Source> {
  const { makePrivateFolder } = await import('../../settings/paths.ts');
  const { state } = context.settings.folders;
  makePrivateFolder(state);
  const path = join(state, `upload-${context.pid}-${context.clock.now()}.csv`);
  const remove = (): void => rmSync(path, { force: true });
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of chunks) await file.write(chunk);
    } finally {
      await file.close();
    }
  } catch (cause) {
    remove();
    if (cause instanceof ErrandError) throw cause;
    throw new StorageError(
      `${from === '-' ? 'stdin' : from} cannot be kept in ${path} (${cause instanceof Error ? cause.message : String(cause)})`,
      {
        cause,
      },
    );
  }
  return {
    path: from,
    name: from === '-' ? 'stdin.csv' : pipeName(from),
    chunks: () => chunksOf(path),
    close: remove,
  };
}

/** What a shell puts in the place of `<(…)` ends in a number. */
const pipeName = (path: string): string => (/\/\d+$/.test(path) ? 'pipe.csv' : basename(path));
