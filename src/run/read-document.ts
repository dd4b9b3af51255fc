import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { ErrandError, UsageError } from '../platform/errors.ts';
import { readPipe } from '../platform/streams.ts';
import type { Context } from './context.ts';
import type { OrderContext } from './order-context.ts';

/** Maximum size, in bytes, of a file or stdin that holds one record. */
const largest = 5 * 1024 * 1024;

export interface Document {
  /** File name, or `stdin`; used in messages. */
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Reads one JSON or YAML object from a file, or from stdin for `-`. Rejects a decimal number under one of `centFields`,
 * because files use integer cents.
 * @throws UsageError naming the file, the line if known, and the problem.
 */
export async function readDocument(
  context: Context,
  flag: string,
  path: string,
  centFields: readonly string[] = [],
): Promise<Document> {
  const name = path === '-' ? 'stdin' : path;
  const bytes = await readBytes(context, flag, path, { bytes: largest, holds: 'one record' });
  const text = decode(name, bytes);
  if (text.trim() === '') throw new UsageError(`${name} is empty; ${flag} takes a JSON or YAML object`);
  const value = await parse(name, text, centFields);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${name} holds no object; ${flag} takes one JSON or YAML object`);
  }
  return { name, value: Object.fromEntries(Object.entries(value)) };
}

function decode(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${name} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

async function parse(name: string, text: string, centFields: readonly string[]): Promise<unknown> {
  const isJson = /\.json$/i.test(name) || text.trimStart().startsWith('{');
  if (isJson) checkJson(name, text);
  const { parseDocument } = await import('../format/parse-document.ts');
  return parseDocument(name, text, isJson, centFields);
}

function checkJson(name: string, text: string): void {
  try {
    JSON.parse(text);
  } catch (cause) {
    const at = cause instanceof Error ? / at position (\d+)/.exec(cause.message)?.[1] : undefined;
    const line = at === undefined ? '' : `, line ${text.slice(0, Number(at)).split('\n').length}`;
    throw new UsageError(
      `${name}${line} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

interface Bound {
  readonly bytes: number;
  /** Describes what the file may hold. This is part of the error for a file that is too large. */
  readonly holds: string;
}

/**
 * Reads a whole file, or stdin for `-`.
 * @throws UsageError if the file cannot be read or exceeds the limit. If it cannot be read, the error names the flag
 * and the file; if it exceeds the limit, only the file.
 */
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

async function readAllOf(chunks: AsyncIterable<Buffer>, path: string, bound: Bound): Promise<Buffer> {
  const read: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bound.bytes) throw tooLarge(path, size, bound);
    read.push(chunk);
  }
  return Buffer.concat(read);
}

/** Reads to the end, or until the limit is exceeded. Therefore an endless device cannot keep it reading forever. */
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

const sized = (bytes: number, limit: number): string =>
  limit < megabyte ? `${bytes} bytes` : `${Math.ceil(bytes / megabyte)} MB`;

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
