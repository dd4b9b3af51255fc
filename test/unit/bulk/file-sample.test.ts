import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../../src/bulk/csv/ask-mapping.ts';
import { readTable } from '../../../src/bulk/csv/reader.ts';

const options = { name: 'orders.csv', map: {} };

const sample = (text: string) => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  }
  const source = { path: 'orders.csv', name: 'orders.csv', isPipe: false, chunks, close: async () => {} };
  return { found: sampleOf(source, options), chunks };
};

const headings = 'product_url,"max\nprice",name,note';
const row = 'https://shop.example/1,5000,"Byron, Ada","said ""yes"""';

describe.each([
  ['\n', 'line feeds'],
  ['\r\n', 'those of Windows'],
  ['\r', 'carriage returns'],
])('a sample of a table with line ends %j (%s)', (end) => {
  test.each([
    ['its first row', [headings, row, 'another']],
    ['a row behind empty ones', [headings, ',,,', ' ,,,', row, row]],
    ['a row behind a hundred empty ones', [headings, ...Array.from({ length: 100 }, () => ',,,'), row]],
    [
      'a row below a heading with quotes and a line break',
      ['product_url,price,name,"my ""ref""\nx"', row, row],
    ],
    ['a row below titles and comments', ['# exported today', 'Orders of May', '', headings, row]],
    ['a row without an end', [headings, row]],
  ])('is %s, as the table is read', async (_, lines) => {
    const { found, chunks } = sample(lines.join(end));
    const isHeading = (text: string) => ['product_url', 'max\nprice', 'name'].includes(text);
    const read: { cells: readonly string[]; row: number }[] = [];
    let first: readonly string[] = [];
    for await (const part of readTable(chunks(), { ...options, isHeading })) {
      first = part.headings;
      for (const [index, cells] of part.rows.entries()) read.push({ cells, row: part.firstRow + index });
    }
    const filled = read.find(({ cells }) => cells.some((cell) => cell.trim() !== ''));
    expect(await found).toEqual({ headings: first, ...filled });
    expect(filled?.cells.slice(0, 3)).toEqual(['https://shop.example/1', '5000', 'Byron, Ada']);
  });
});

test.each([
  ['no row', headings],
  ['empty rows only', `${headings}\n${',,,\n'.repeat(5000)}`],
])('there is none of a table with %s', async (_, text) => {
  expect(await sample(text).found).toBeUndefined();
});

test.each([
  ['a quoted cell that is never closed', 'product_url,name\n"https://shop.example/1,Ada\n', 'never closed'],
  ['nothing', '', 'is empty'],
])('a table with %s is refused', async (_, text, reason) => {
  await expect(sample(text).found).rejects.toThrow(reason);
});
