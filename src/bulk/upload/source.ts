import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type AmountUnit, amountUnits } from '../../api/amount.ts';
import { isObject, type JsonObject, numberIn, own, textIn } from '../../api/json.ts';
import { closeAll } from '../../platform/async.ts';
import { ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
import { piecesOf, readPipe } from '../../platform/streams.ts';
import type { Context } from '../../run/context.ts';
import { type TableFlags, tableOptions } from '../csv/table-options.ts';
import { tellingEarlier } from '../earlier-uploads.ts';
import { usualBatchRows } from './batches.ts';

/** What decides the rows, keys and batches of an upload: with it the same file is the same upload. */
export interface UploadSource {
  /** Absolute; null for what came through a pipe. */
  readonly path: string | null;
  /** Of the file. */
  readonly sha256: string;
  readonly table: Omit<TableFlags, 'useMap' | 'saveMap' | 'own'>;
  readonly batchSize: number;
  readonly run: string;
  readonly skipInvalid: boolean;
  readonly notifies: boolean;
  /** The part of the file that it is: `3/8`; undefined for all of it. */
  readonly shard: string | undefined;
  /** Several workers send it, from a queue. */
  readonly isShared: boolean;
}

/** The rows of a file that an upload was sent without. */
export interface LeftOut {
  readonly count: number;
  /** The first of them, as a spreadsheet numbers them, as far as they are known. */
  readonly first: readonly number[];
}

/** Which rows an upload was sent without, as it was kept. */
export function leftOutOf(kept: JsonObject): LeftOut {
  const leftOut = own(kept, 'leftOut');
  const first = own(leftOut, 'first');
  return {
    count: numberIn(leftOut, 'count') ?? 0,
    first: Array.isArray(first) ? first.filter((row) => typeof row === 'number') : [],
  };
}

/** The source of an upload as the state keeps it. */
export const keptSource = (source: UploadSource, leftOut: LeftOut): JsonObject => ({ ...source, leftOut });

/** The source of an upload as it was kept. */
export function sourceOf(kept: JsonObject): UploadSource {
  const table = own(kept, 'table');
  const map = own(table, 'map');
  return {
    path: textIn(kept, 'path') ?? null,
    sha256: textIn(kept, 'sha256') ?? '',
    table: {
      preset: textIn(table, 'preset'),
      // Earlier versions did not ask what each heading is.
      isAsBefore: own(table, 'isAsBefore') !== false,
      map: isObject(map) ? Object.fromEntries(Object.entries(map).map(([key, to]) => [key, String(to)])) : {},
      amounts: oneOf<AmountUnit>(amountUnits, textIn(table, 'amounts')),
      locale: textIn(table, 'locale'),
      encoding: oneOf(tableOptions.encoding.values, textIn(table, 'encoding')),
      delimiter: oneOf(tableOptions.delimiter.values, textIn(table, 'delimiter')),
    },
    batchSize: numberIn(kept, 'batchSize') ?? usualBatchRows,
    run: textIn(kept, 'run') ?? '',
    skipInvalid: own(kept, 'skipInvalid') === true,
    notifies: own(kept, 'notifies') === true,
    shard: textIn(kept, 'shard'),
    isShared: own(kept, 'isShared') === true,
  };
}

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((value) => value === text);

/** A table that can be read more than once. */
export interface Source {
  /** As it was given. */
  readonly path: string;
  /** As messages and the service name it. */
  readonly name: string;
  /** Whether it came through a pipe, so that it cannot be named again. */
  readonly isPipe: boolean;
  chunks(): AsyncIterable<Uint8Array>;
  /** Makes room for what is kept of it, beside a private copy and as long as that. */
  readonly spare?: () => Promise<Spare>;
  close(): Promise<void>;
}

/** Blocks of bytes under no name; each is compared with what was added before it is used. @throws StorageError. */
export type Spare = Pick<PrivateBlocks, 'add' | 'read'>;

/**
 * A file, or stdin for `-`. What comes through a pipe is kept in a private copy as long as the command runs.
 * @throws UsageError naming what cannot be read.
 */
export async function openSource(context: Context, path: string): Promise<Source> {
  const found = await find(context, path);
  return found.isPipe ? copied(context, found) : { ...found, close: async () => {} };
}

/**
 * The same, read once into a private copy: what is checked and shown is what is sent, whatever becomes of the file.
 * @throws UsageError naming what cannot be read; StorageError where the copy cannot be written.
 */
export async function openCopy(context: Context, path: string): Promise<Source> {
  const found = await find(context, path);
  return tellingEarlier(context, found.name, () => copied(context, found));
}

interface Found {
  readonly path: string;
  readonly name: string;
  readonly isPipe: boolean;
  chunks(): AsyncIterable<Uint8Array>;
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

/** What is read at once. The rows of a chunk live together: of larger ones more are alive than the collector clears away cheaply. */
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
  return piecesOf(stdin.stream, signal);
}

async function copied(context: Context, { path, name, isPipe, chunks }: Found): Promise<Source> {
  const { makeStateFolder } = await import('../../config/paths.ts');
  const { state } = context.settings.folders;
  makeStateFolder(state, false);
  const opened: PrivateBlocks[] = [];
  const spare = (): Promise<PrivateBlocks> =>
    kept(async () => {
      const blocks = await PrivateBlocks.open(join(state, `upload-${randomUUID()}.csv`));
      opened.push(blocks);
      return blocks;
    });
  const close = (): Promise<void> => closeAll(opened.splice(0).map((blocks) => () => blocks.close()));
  try {
    const copy = await spare();
    await kept(() => addChunks(copy, chunks()));
    return {
      ...{ path, name, isPipe, close },
      chunks: () => copy.read(),
      spare: async () => {
        const blocks = await spare();
        return { add: (block) => kept(() => blocks.add(block)), read: () => blocks.read() };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }

  async function kept<T>(work: () => Promise<T>): Promise<T> {
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

/** What a shell puts in the place of `<(…)` ends in a number. */
const pipeName = (path: string): string => (/\/\d+$/.test(path) ? 'pipe.csv' : basename(path));

interface Block {
  readonly at: number;
  readonly length: number;
  readonly hash: Buffer;
}

/**
 * Bytes that are written once and read as often as it takes, block by block. The file loses its name as soon as it is
 * open, so no other program reaches it and nothing of it stays behind, however this process ends. Each block is compared
 * with its hash before it is used.
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

  /** @param path where nothing is yet. @throws NodeJS.ErrnoException where it cannot be written. */
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

  /** In the order in which they were added. @throws StorageError where one is not what was written. */
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

  /** Where a file that is open cannot lose its name, it does when it is closed. */
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

/** Adds chunks of any size as blocks of one size; the last one is shorter. @throws NodeJS.ErrnoException; what the chunks throw. */
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
