import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fingerprint, SavedRows } from '../../../src/bulk/check/file-check.ts';
import { RowKeys, readRows } from '../../../src/bulk/rows.ts';
import { type Batch, batchesOf } from '../../../src/bulk/upload/batches.ts';
import { PrivateBlocks } from '../../../src/bulk/upload/source.ts';

let folder: string;
let blocks: PrivateBlocks;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-kept-'));
  blocks = await PrivateBlocks.open(join(folder, 'kept'));
});
afterEach(async () => {
  await blocks.close();
  rmSync(folder, { recursive: true, force: true });
});

const headings = 'product_url,max_price_cents,name,address,city,zip,phone,idempotency_key,1,constructor,note';
const line = (n: number, key = '', note = '') =>
  `https://x.example/${n},5000,Ada Byron,${n} Main St,Austin,78701,5125550100,${key},one,odd,${note}`;
// Duplicate rows, a user-supplied key, a blank line, and characters that JSON escapes or that break lines.
const table = [
  ...[headings, line(1), line(1), line(2, ' mine '), '', line(3, '', '"a ""b""\u2028\u0001\\"'), line(1)],
  ...Array.from({ length: 17 }, (_, index) => line(index + 10)),
  '',
].join('\n');

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from(table);
}
const rows = () => readRows(bytes(), { name: 'orders.csv', map: {} });
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const read = (size: number): Promise<Batch[]> => all(batchesOf(rows(), new RowKeys('run'), size));

async function identity(): Promise<string> {
  const found = new Fingerprint();
  const keys = new RowKeys('run');
  for await (const some of rows()) for (const row of some) found.add(keys.key(row));
  return found.digest();
}

test.each([1, 2, 4, 5, 7, 21, 22, 500])(
  'rows that were kept are those of the table, in batches of %i',
  async (size) => {
    const kept = new SavedRows(blocks, 5);
    expect(await all(kept.keeping(rows(), 'run'))).toEqual(await read(5));
    expect(await all(kept.batches(size))).toEqual(await read(size));
    expect(await all(kept.batches(size))).toEqual(await read(size));
    expect(kept.fingerprint()).toBe(await identity());
  },
);

test('what is kept has no name', async () => {
  const kept = new SavedRows(blocks, 5);
  for await (const _ of kept.keeping(rows(), '')) expect(readdirSync(folder)).toEqual([]);
});
