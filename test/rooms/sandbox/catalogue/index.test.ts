import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Catalogue, openCatalogue } from '../../../../src/sandbox/catalogue/catalogue.ts';
import { listingCount } from '../../../../src/sandbox/catalogue/listing.ts';
import { bundled } from '../../../support/bundled.ts';
import { catalogueOf, openDatabase } from '../../../support/catalogues.ts';
import { makeFolder } from '../../../support/folder.ts';

let folder: ReturnType<typeof makeFolder>;
let file: string;
beforeEach(() => {
  folder = makeFolder();
  file = join(folder.path, 'catalogue.db');
});
afterEach(() => folder.remove());

/** Ids of the listings a catalogue finds. */
function found(seed: number, path: string): string[] {
  const catalogue = catalogueOf(seed, path);
  const { results } = catalogue.search({ q: 'coffee', sort: 'price_asc', limit: 10_000 });
  catalogue.close();
  return results.map(({ id, price }) => `${id} ${price}`);
}

test('only a search opens the index', () => {
  const catalogue = catalogueOf(1, file);
  expect(catalogue.byUrl('https://www.harborgoods.example/p/x/1')).toBeUndefined();
  expect(catalogue.check('https://www.harborgoods.example', 'US', 'http://127.0.0.1').orderable).toBe(true);
  expect(existsSync(file)).toBe(false);
  catalogue.search({ q: 'tea', sort: 'relevance', limit: 1 });
  expect(existsSync(file)).toBe(true);
  catalogue.close();
});

test('the index is built once and then only read', () => {
  const first = found(1, file);
  expect(first).toEqual(found(1, ':memory:'));
  const bytes = readFileSync(file);
  expect(found(1, file)).toEqual(first);
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test('a file of another seed, or of an earlier version, is built anew', () => {
  const first = found(1, file);
  const second = found(2, file);
  expect(second).not.toEqual(first);
  expect(second).toEqual(found(2, ':memory:'));
  const earlier = openDatabase(file);
  earlier.exec(
    'PRAGMA user_version = 1; DROP TABLE words; DROP TABLE listings; CREATE TABLE listings (sku TEXT)',
  );
  earlier.close();
  expect(found(2, file)).toEqual(second);
});

test('several processes that open a new one at the same moment build it once and find the same', async () => {
  const searcher = await bundled(new URL('./searcher.ts', import.meta.url));
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, [searcher, file], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const lines = children.map((child) => createInterface({ input: child.stdout })[Symbol.asyncIterator]());
  await Promise.all(lines.map((each) => each.next()));
  for (const child of children) child.stdin.write('go\n');
  const printed = await Promise.all(lines.map(async (each) => (await each.next()).value));
  expect(new Set(printed)).toEqual(
    new Set([`${found(1, ':memory:').length} ${found(1, file).at(-1)?.split(' ')[0]}`]),
  );
  const index = openDatabase(file);
  expect({ ...index.prepare('SELECT count(*) AS rows FROM listings').get() }).toEqual({ rows: listingCount });
  index.close();
});

test('a build that is interrupted leaves nothing half done', () => {
  const first = found(1, ':memory:');
  const half = openDatabase(file);
  half.exec('BEGIN IMMEDIATE; CREATE TABLE listings (number INTEGER PRIMARY KEY)');
  half.close();
  expect(found(1, file)).toEqual(first);
});

test('where the index cannot be kept, searches go on without', () => {
  const first = found(1, ':memory:');
  writeFileSync(file, 'this is no database, but it is long enough to be taken for one'.repeat(100));
  expect(found(1, file)).toEqual(first);
  expect(found(1, join(folder.path, 'nowhere', 'catalogue.db'))).toEqual(first);
  mkdirSync(join(folder.path, 'a-folder'));
  expect(found(1, join(folder.path, 'a-folder'))).toEqual(first);
  const locked = join(folder.path, 'locked');
  mkdirSync(locked);
  chmodSync(locked, 0o500);
  expect(found(1, join(locked, 'catalogue.db'))).toEqual(first);
  chmodSync(locked, 0o700);
});

test('nothing stays beside the file', () => {
  found(1, file);
  expect(readdirSync(folder.path)).toEqual(['catalogue.db']);
});

test('catalogues in memory share the index of their seed, and one that closes leaves it to the others', () => {
  let opened = 0;
  const inMemory = (): Catalogue =>
    openCatalogue({
      ...{ file: ':memory:', seed: 3, prefix: 'xx' },
      database: (path) => {
        opened += 1;
        return openDatabase(path);
      },
    });
  const [first, second] = [inMemory(), inMemory()];
  const search = { q: 'coffee', sort: 'relevance', limit: 10 } as const;
  const { results } = first.search(search);
  first.close();
  expect(second.search(search).results).toEqual(results);
  expect(opened).toBe(1);
});
