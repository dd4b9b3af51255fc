import { isObject } from '../api/json.ts';
import { type Batch, batchesAgain, batchesOf } from './batches.ts';
import { Identity } from './identity.ts';
import { batchIn, keptBatch } from './kept-batch.ts';
import { type FileRow, RowKeys } from './rows.ts';
import type { Spare } from './source.ts';

/**
 * Rows of a table in batches, each with its key, kept as they were checked: what comes after reads them here, for a tenth
 * of what it takes to read and check the table again. A batch at a time is in memory.
 */
export class KeptRows {
  readonly #spare: Spare;
  readonly #size: number;
  readonly #identity = new Identity();

  /** @param size rows of a batch. */
  constructor(spare: Spare, size: number) {
    this.#spare = spare;
    this.#size = size;
  }

  /** Batches as they pass by, each kept before it is given. @param run makes the keys. @throws StorageError. */
  async *keeping(rows: AsyncIterable<readonly FileRow[]>, run: string): AsyncGenerator<Batch> {
    const keys = new RowKeys(run, (key) => this.#identity.add(key));
    for await (const batch of batchesOf(rows, keys, this.#size)) {
      await this.#spare.add(Buffer.from(JSON.stringify(keptBatch(batch))));
      yield batch;
    }
  }

  /** Tells the upload of the rows that were kept. */
  identity(): string {
    return this.#identity.digest();
  }

  /** @param size rows of a batch. @throws StorageError where they are not what was kept. */
  batches(size: number): AsyncGenerator<Batch> {
    return size === this.#size ? this.#read() : batchesAgain(this.#read(), size);
  }

  async *#read(): AsyncGenerator<Batch> {
    for await (const block of this.#spare.read()) {
      const kept: unknown = JSON.parse(block.toString());
      if (isObject(kept)) yield batchIn(kept);
    }
  }
}
