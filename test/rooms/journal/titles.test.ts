import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Titles } from '../../../src/journal/saved-files.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-titles-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (service = 'https://a.example', account = 'one'): Titles =>
  new Titles(folder, { service, account });
const file = (): string => join(folder, 'titles.json');
const tea = 'https://shop.example/p/tea?b=2&a=1';

test('a title is found again under every spelling of its URL, by nobody else', () => {
  open().save([[tea, ' Green Tea ']]);
  for (const spelling of [tea, 'http://SHOP.example/p/tea/?a=1&b=2#top'])
    expect(open().reader()(spelling)).toBe('Green Tea');
  expect(open().reader()('https://shop.example/p/tea')).toBeUndefined();
  expect(open('https://b.example').reader()(tea)).toBeUndefined();
  expect(open('https://a.example', 'two').reader()(tea)).toBeUndefined();
});

test('the file is private, and holds no URL', () => {
  open().save([[tea, 'Green Tea']]);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readFileSync(file(), 'utf8')).not.toContain('shop.example');
  expect(readdirSync(folder)).toEqual(['titles.json']);
});

test('a later title takes the place of an earlier one, and what is known is not written again', () => {
  open().save([[tea, 'Green Tea']]);
  const before = statSync(file()).ino;
  open().save([[tea, 'Green Tea']]);
  expect(statSync(file()).ino).toBe(before);
  open().save([[tea, 'Black Tea']]);
  expect(open().reader()(tea)).toBe('Black Tea');
});

test('what names nothing, and what would pass for another address, is not kept', () => {
  open().save([
    [tea, ''],
    [tea, ' \n'],
    [tea, 'https://bank.example/login'],
    [tea, undefined],
    [undefined, 'Tea'],
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

test('the file stays small: long titles are cut, the oldest go', () => {
  const url = (number: number): string => `https://shop.example/p/${number}`;
  open().save([[url(0), 'x'.repeat(100_000)]]);
  expect(open().reader()(url(0))).toHaveLength(200);
  open().save(Array.from({ length: 1000 }, (_, index) => [url(index + 1), `Tea ${index + 1}`] as const));
  const titleOf = open().reader();
  expect([titleOf(url(0)), titleOf(url(1)), titleOf(url(1000))]).toEqual([undefined, 'Tea 1', 'Tea 1000']);
  expect(statSync(file()).size).toBeLessThan(500_000);
});

test.each(['', '{', '[]', 'null', '{"titles":{}}', '{"titles":[1,null,{"key":1}]}'])(
  'a damaged file holds nothing and is written anew: %s',
  (junk) => {
    writeFileSync(file(), junk);
    expect(open().reader()(tea)).toBeUndefined();
    open().save([[tea, 'Green Tea']]);
    expect(open().reader()(tea)).toBe('Green Tea');
  },
);

test('where nothing can be read or written nothing fails', () => {
  mkdirSync(file());
  open().save([[tea, 'Green Tea']]);
  expect(open().reader()(tea)).toBeUndefined();
  expect(readdirSync(folder)).toEqual(['titles.json']);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  open().save([[tea, 'Green Tea']]);
  expect(open().reader()(tea)).toBeUndefined();
});
