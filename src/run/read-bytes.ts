import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { readPipe } from '../platform/read-pipe.ts';
import type { OrderContext } from './order-context.ts';

interface Bound {
  readonly bytes: number;
  /** What the file is for, in the message of one that is too large. */
  readonly holds: string;
}

/** A file, or stdin for `-`, whole. @throws UsageError naming the flag and the file, also past the bound. */
export async function readBytes(
  context: Pick<OrderContext, 'readInput' | 'signal'>,
  flag: string,
  path: string,
  bound: Bound,
): Promise<Buffer> {
  if (path === '-') return context.readInput(bound.bytes);
  try {
    const isPipe = statSync(path).isFIFO();
    return isPipe
      ? await readAllOf(readPipe(path, context.signal), path, bound)
      : readFile(flag, path, bound);
  } catch (error) {
    if (error instanceof ErrandError) throw error;
    throw new UsageError(`${flag}: ${path} cannot be read (${reason(error)})`, { cause: error });
  }
}

function readFile(flag: string, path: string, bound: Bound): Buffer {
  const file = openSync(path, 'r');
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw new UsageError(`${flag}: ${path} is a folder; name a file`);
    if (stat.size > bound.bytes) throw tooLarge(path, stat.size, bound);
    return readAll(file, path, bound);
  } finally {
    closeSync(file);
  }
}

async function readAllOf(pieces: AsyncIterable<Buffer>, path: string, bound: Bound): Promise<Buffer> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > bound.bytes) throw tooLarge(path, size, bound);
    read.push(piece);
  }
  return Buffer.concat(read);
}

/** Reads to the end or one byte past the limit, so that a device is bounded like a file. */
function readAll(file: number, path: string, bound: Bound): Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024);
    const read = readSync(file, chunk);
    if (read === 0) return Buffer.concat(chunks);
    size += read;
    if (size > bound.bytes) throw tooLarge(path, size, bound);
    chunks.push(chunk.subarray(0, read));
  }
}

const megabyte = 1024 * 1024;

const sized = (bytes: number, most: number): string =>
  most < megabyte ? `${bytes} bytes` : `${Math.ceil(bytes / megabyte)} MB`;

const tooLarge = (name: string, size: number, { bytes, holds }: Bound): UsageError =>
  new UsageError(
    `${name} is too large (${sized(size, bytes)}); it holds ${holds}, at most ${sized(bytes, bytes)}`,
  );

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}
