import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AmountUnit, amountUnits } from '../../api/amount.ts';
import { isObject, type JsonObject, listIn, numberIn, own, textIn } from '../../api/json.ts';
import { closeAll } from '../../platform/async.ts';
import { ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
import { readChunks, readPipe } from '../../platform/streams.ts';
import type { Context } from '../../run/context.ts';
import { savedSheet, type TableFlags, tableOptions } from '../csv/table-options.ts';
import { defaultBatchRows } from './batches.ts';

/**
 * Inputs that determine the rows, keys and batches of an upload. With equal inputs, the same file makes the same
 * upload.
 */
export interface UploadSource {
  /** Absolute path of the file; null for piped input. */
  readonly path: string | null;
  /** Hash of the file. */
  readonly sha256: string;
  readonly table: Omit<TableFlags, 'useMap' | 'saveMap' | 'own'>;
  readonly batchSize: number;
  readonly run: string;
  readonly skipInvalid: boolean;
  readonly skipDuplicates: boolean;
  readonly again: boolean;
  readonly notifies: boolean;
  /** Shard of the file, such as `3/8`; undefined for the whole file. */
  readonly shard: string | undefined;
  /** Whether several workers send the upload from a queue. */
  readonly isShared: boolean;
}

/** Rows skipped by an upload. */
export interface LeftOut {
  readonly count: number;
  /** Numbers of the first skipped rows, as far as known, counted as in a spreadsheet. */
  readonly first: readonly number[];
}

/** Reads the skipped rows of a stored upload. */
export function leftOutOf(stored: JsonObject): LeftOut {
  const leftOut = own(stored, 'leftOut');
  const first = own(leftOut, 'first');
  return {
    count: numberIn(leftOut, 'count') ?? 0,
    first: Array.isArray(first) ? first.filter((row) => typeof row === 'number') : [],
  };
}

/** Serializes an upload's source for storage. */
export const serializeSource = (source: UploadSource, leftOut: LeftOut): JsonObject => ({
  ...source,
  leftOut,
});

/** Deserializes an upload's source. */
export function sourceOf(stored: JsonObject): UploadSource {
  const table = own(stored, 'table');
  return {
    path: textIn(stored, 'path') ?? null,
    sha256: textIn(stored, 'sha256') ?? '',
    table: {
      preset: textIn(table, 'preset'),
      // Earlier versions accepted files with headings that stood for no column.
      isAsBefore: own(table, 'isAsBefore') !== false,
      map: mapIn(own(table, 'map')),
      referenceColumn: textsIn(table, 'referenceColumn'),
      namespace: textIn(table, 'namespace'),
      amounts: oneOf<AmountUnit>(amountUnits, textIn(table, 'amounts')),
      locale: textIn(table, 'locale'),
      encoding: oneOf(tableOptions.encoding.values, textIn(table, 'encoding')),
      delimiter: oneOf(tableOptions.delimiter.values, textIn(table, 'delimiter')),
      quotes: oneOf(tableOptions.quotes.values, textIn(table, 'quotes')),
      default: mapIn(own(table, 'default')),
      sheet: textIn(table, 'sheet'),
    },
    batchSize: numberIn(stored, 'batchSize') ?? defaultBatchRows,
    run: textIn(stored, 'run') ?? '',
    skipInvalid: own(stored, 'skipInvalid') === true,
    skipDuplicates: own(stored, 'skipDuplicates') === true,
    again: own(stored, 'again') === true,
    notifies: own(stored, 'notifies') === true,
    shard: textIn(stored, 'shard'),
    isShared: own(stored, 'isShared') === true,
  };
}

const mapIn = (value: unknown): Readonly<Record<string, string>> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, to]) => [key, String(to)])) : {};

function textsIn(value: unknown, name: string): readonly string[] | undefined {
  const texts = listIn(value, name).map(String);
  return texts.length > 0 ? texts : undefined;
}

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((value) => value === text);

/** A table that can be read several times. */
export interface Source {
  /** The path as given. */
  readonly path: string;
  /** File name for messages and for the service. */
  readonly name: string;
  /** Whether the source is piped input, which a later command cannot reopen. */
  readonly isPipe: boolean;
  /** Whether the table is a sheet of a workbook. If so, `chunks` yields the sheet as CSV in UTF-8. */
  readonly isWorkbook?: boolean;
  chunks(): AsyncIterable<Uint8Array>;
  /** The bytes of the file; set only if `chunks` yields something else. */
  bytes?(): AsyncIterable<Uint8Array>;
  /** Opens spare storage for data derived from the table. The storage exists as long as the private copy. */
  readonly spare?: () => Promise<Spare>;
  close(): Promise<void>;
}

/** Anonymous storage for blocks. Each block is verified by its hash when it is read. @throws StorageError. */
export type Spare = Pick<PrivateBlocks, 'add' | 'read'>;

/** Which part of a file is read. */
export interface SourceOptions {
  /** Name of a sheet; undefined for the sheet that the saved map names, or else the first sheet. */
  readonly sheet?: string | undefined;
  readonly useMap?: string | undefined;
}

/**
 * Opens a file, or stdin for `-`. While the command runs, a private copy holds piped input or a sheet of a workbook.
 * @throws UsageError naming what cannot be read.
 */
export async function openSource(
  context: Context,
  path: string,
  options: SourceOptions = {},
): Promise<Source> {
  const found = await asTable(context, await find(context, path), options);
  return found.isPipe || found.isWorkbook ? copied(context, found) : { ...found, close: async () => {} };
}

/**
 * Opens a private copy of a file, so that exactly what is validated and shown is sent, even if the file changes in the
 * meantime. @throws UsageError naming what cannot be read; StorageError if the copy cannot be written.
 */
export async function openCopy(context: Context, path: string, options: SourceOptions = {}): Promise<Source> {
  return copied(context, await asTable(context, await find(context, path), options));
}

type Found = Pick<Source, 'path' | 'name' | 'isPipe' | 'isWorkbook' | 'chunks' | 'bytes'>;

/**
 * Makes a workbook readable as CSV. Other files stay as they are. @throws UsageError if the kind of workbook is
 * unsupported, or if a sheet was requested of a file that is no workbook.
 */
async function asTable(context: Context, found: Found, { sheet, useMap }: SourceOptions): Promise<Found> {
  const { path, name, isPipe } = found;
  const first = await firstChunk(found.chunks());
  if (!isPipe) await first.release();
  const { isWorkbook, workbookAsCsv } = await import('../xlsx/as-csv.ts');
  const chunks = (): AsyncIterable<Uint8Array> => (isPipe ? first.whole() : found.chunks());
  if (!isWorkbook(first.chunk, name)) {
    if (sheet !== undefined) throw new UsageError(`--sheet ${sheet}: ${name} is no workbook (.xlsx)`);
    return { ...found, chunks };
  }
  const chosen = sheet ?? (await savedSheet(context, useMap));
  // A pipe has no file name of its own, so give the invented name the right extension.
  const called = isPipe ? name.replace(/^(stdin|pipe)\.csv$/, '$1.xlsx') : name;
  return {
    ...{ path, name: called, isPipe, isWorkbook: true },
    ...(!isPipe && { bytes: found.chunks }),
    chunks: () => workbookAsCsv(chunks(), { name: called, sheet: chosen, note: context.note }),
  };
}

/** Reads the first chunk of a stream. `whole` yields this chunk and the rest of the stream. */
async function firstChunk(chunks: AsyncIterable<Uint8Array>) {
  const rest = chunks[Symbol.asyncIterator]();
  const { value, done } = await rest.next();
  const chunk: Uint8Array = done ? new Uint8Array() : value;
  return {
    chunk,
    async *whole(): AsyncGenerator<Uint8Array> {
      yield chunk;
      yield* { [Symbol.asyncIterator]: () => rest };
    },
    /** Closes the stream. After that, it cannot be read any further. */
    release: async (): Promise<void> => {
      await rest.return?.();
    },
  };
}

async function find(context: Context, path: string): Promise<Found> {
  if (path === '-') return { path, name: 'stdin.csv', isPipe: true, chunks: () => fromStdin(context) };
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    const reason = cause.code === 'ENOENT' ? 'there is no such file' : cause.code;
    throw new UsageError(`${path} cannot be read: ${reason}`, { cause });
  });
  if (found.isDirectory()) throw new UsageError(`${path} cannot be read: it is a folder`);
  if (found.isFIFO())
    return { path, name: pipeName(path), isPipe: true, chunks: () => readPipe(path, context.signal) };
  if (!found.isFile()) throw new UsageError(`${path} cannot be read: it is neither a file nor a pipe`);
  return { path, name: basename(path), isPipe: false, chunks: () => chunksOf(path, context.signal) };
}

/**
 * Number of bytes to read at once. All rows of a chunk are freed together, and larger chunks keep more memory alive
 * than the GC can reclaim cheaply.
 */
const chunkBytes = 64 * 1024;

async function* chunksOf(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
      signal.throwIfAborted();
      yield chunk;
    }
  } catch (cause) {
    if (signal.aborted || !(cause instanceof Error && 'code' in cause)) throw cause;
    throw new UsageError(`${path} cannot be read (${String(cause.code)})`, { cause });
  }
}

function fromStdin({ io: { stdin }, signal }: Context): AsyncIterable<Buffer> {
  if (stdin.isTerminal) throw new UsageError('- reads stdin, and stdin is a terminal; name a file');
  return readChunks(stdin.stream, signal);
}

async function copied(context: Context, { chunks, ...found }: Found): Promise<Source> {
  const { path } = found;
  const { makeStateFolder } = await import('../../config/paths.ts');
  const { state } = context.settings.folders;
  makeStateFolder(state, false);
  const opened: PrivateBlocks[] = [];
  const spare = (): Promise<PrivateBlocks> =>
    stored(async () => {
      const blocks = await PrivateBlocks.open(join(state, `upload-${randomUUID()}.csv`));
      opened.push(blocks);
      return blocks;
    });
  const close = (): Promise<void> => closeAll(opened.splice(0).map((blocks) => () => blocks.close()));
  try {
    const copy = await spare();
    await stored(() => addChunks(copy, chunks()));
    return {
      ...found,
      close,
      chunks: () => copy.read(),
      spare: async () => {
        const blocks = await spare();
        return { add: (block) => stored(() => blocks.add(block)), read: () => blocks.read() };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }

  async function stored<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof ErrandError || context.signal.aborted) throw cause;
      throw new StorageError(
        `${path === '-' ? 'stdin' : path} cannot be copied to ${state} (${cause instanceof Error ? cause.message : String(cause)})`,
        { cause },
      );
    }
  }
}

/** For `<(…)`, shells pass a path that ends in a number. */
const pipeName = (path: string): string => (/\/\d+$/.test(path) ? 'pipe.csv' : basename(path));

interface Block {
  readonly at: number;
  readonly length: number;
  readonly hash: Buffer;
}

/**
 * Storage that is written once and can be read several times, block by block. The file is unlinked right after it is
 * opened. So no other program can open the file, and no data stays on disk, however the process ends. Each block is
 * verified by its hash when read.
 */
export class PrivateBlocks {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #blocks: Block[] = [];
  #size = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /**
   * @param path is the file to create; it must not exist yet. @throws NodeJS.ErrnoException if it cannot be written.
   */
  static async open(path: string): Promise<PrivateBlocks> {
    const blocks = new PrivateBlocks(await open(path, 'wx+', 0o600), path);
    try {
      blocks.#unname();
      return blocks;
    } catch (error) {
      await blocks.close();
      throw error;
    }
  }

  /** @throws NodeJS.ErrnoException. */
  async add(block: Uint8Array): Promise<void> {
    await this.#file.writeFile(block);
    this.#blocks.push({ at: this.#size, length: block.length, hash: hashOf(block) });
    this.#size += block.length;
  }

  /**
   * Yields the blocks in the order in which they were added. @throws StorageError if a block does not match its hash.
   */
  async *read(): AsyncGenerator<Buffer> {
    for (const { at, length, hash } of this.#blocks) {
      const block = Buffer.allocUnsafe(length);
      const read = await readFully(this.#file, block, at);
      if (read !== length || !hashOf(block).equals(hash))
        throw new StorageError('the copy of the file that was checked has changed on the disk', {
          hint: 'Only rows that were checked are sent. Check the disk, then run the same command again.',
        });
      yield block;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
    this.#unname();
  }

  /** Unlinks the file. Platforms that cannot unlink an open file do this on close. */
  #unname(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      if (process.platform !== 'win32') throw error;
    }
  }
}

const hashOf = (block: Uint8Array): Buffer => createHash('sha256').update(block).digest();

async function readFully(file: FileHandle, block: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < block.length) {
    const { bytesRead } = await file.read(block, filled, block.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

const blockBytes = 64 * 1024;

/**
 * Stores chunks as blocks of equal size; the last block may be smaller. @throws NodeJS.ErrnoException, or the error
 * that `chunks` throws.
 */
async function addChunks(blocks: PrivateBlocks, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const block = Buffer.alloc(blockBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + blockBytes - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < blockBytes) continue;
      await blocks.add(block);
      filled = 0;
    }
  }
  if (filled > 0) await blocks.add(block.subarray(0, filled));
}
