import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StorageError } from '../platform/errors.ts';

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
export async function addChunks(blocks: PrivateBlocks, chunks: AsyncIterable<Uint8Array>): Promise<void> {
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
