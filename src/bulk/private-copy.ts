import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { StorageError } from '../errors.ts';

const blockBytes = 64 * 1024;

/**
 * The bytes of a file as they were read once, to be read again as often as it takes. The copy loses its name as soon as
 * it is open, so no other program reaches it and nothing of it stays behind, however this process ends. Each block
 * is compared with its hash before it is used.
 */
export class PrivateCopy {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #hashes: Buffer[] = [];
  #size = 0;

  private constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** @param path where nothing is yet. @throws NodeJS.ErrnoException where it cannot be written; what `chunks` throws. */
  static async of(chunks: AsyncIterable<Uint8Array>, path: string): Promise<PrivateCopy> {
    const copy = new PrivateCopy(await open(path, 'wx+', 0o600), path);
    try {
      copy.#unname();
      for await (const block of blocksOf(chunks)) await copy.#append(block);
      return copy;
    } catch (error) {
      await copy.close();
      throw error;
    }
  }

  /** @throws StorageError where the copy is not what was written. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    for (const [index, hash] of this.#hashes.entries()) {
      const at = index * blockBytes;
      const block = Buffer.alloc(Math.min(blockBytes, this.#size - at));
      const read = await readFully(this.#file, block, at);
      if (read !== block.length || !hashOf(block).equals(hash))
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

  async #append(block: Uint8Array): Promise<void> {
    await this.#file.writeFile(block);
    this.#hashes.push(hashOf(block));
    this.#size += block.length;
  }
}

const hashOf = (block: Uint8Array): Buffer => createHash('sha256').update(block).digest();

/** Chunks of any size as blocks of one size; the last one is shorter. */
async function* blocksOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = Buffer.alloc(blockBytes);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + blockBytes - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < blockBytes) continue;
      yield block;
      block = Buffer.alloc(blockBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

async function readFully(file: FileHandle, block: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < block.length) {
    const { bytesRead } = await file.read(block, filled, block.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
