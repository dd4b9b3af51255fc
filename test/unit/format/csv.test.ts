import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvRecords } from '../../../src/format/csv.ts';
import type { Column, Row } from '../../../src/format/result.ts';
import { printed } from '../../support/streams.ts';

const columns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id' },
  { name: 'total', path: 'price', kind: 'money' },
  { name: 'first product', path: 'items.0.url' },
  { name: 'when', path: 'created_at', kind: 'time' },
  { name: 'urls', path: 'urls', value: ({ items }) => (Array.isArray(items) ? items.length : 0) },
];
const order = {
  id: 'a',
  price: 1234,
  items: [{ url: 'https://x/?a=1,2' }],
  created_at: '2026-01-01T00:00:00Z',
};
const list = (rows: readonly Row[]) => ({ kind: 'list', rows, columns }) as const;
const title: readonly Column[] = [{ name: 'title', path: 'title' }];
const cells = (values: readonly unknown[]) =>
  ({ kind: 'list', rows: values.map((value) => ({ title: value })), columns: title }) as const;

describe('CSV', () => {
  test('has the paths as header and the values as they stand in the record', async () => {
    const { out } = await printed(list([order, { id: 'b' }]), { format: 'csv' });
    expect(out).toBe(
      'id,price,items.0.url,created_at,urls\na,1234,"https://x/?a=1,2",2026-01-01T00:00:00Z,1\nb,,,,0\n',
    );
  });

  test('of an empty list is its header; of one record, header and row', async () => {
    expect((await printed(list([]), { format: 'csv' })).out).toBe('id,price,items.0.url,created_at,urls\n');
    const { out } = await printed({ kind: 'record', record: order, columns }, { format: 'tsv' });
    expect(out).toBe(
      'id\tprice\titems.0.url\tcreated_at\turls\na\t1234\thttps://x/?a=1,2\t2026-01-01T00:00:00Z\t1\n',
    );
  });

  test('lists and objects in a cell are JSON', async () => {
    const { out } = await printed(cells([{ a: 1 }, ['x'], true, null]), { format: 'csv' });
    expect(out).toBe('title\n"{""a"":1}"\n"[""x""]"\ntrue\n\n');
  });

  test('has every column, however narrow the terminal', async () => {
    const { out, err } = await printed(list([order]), { format: 'csv' }, { terminal: true, columns: 10 });
    expect(out.split('\n')[0]).toBe('id,price,items.0.url,created_at,urls');
    expect(err).toBe('');
  });

  test.each([
    '=1+1',
    '+1',
    '-cmd',
    '-1+1',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    '\0=1',
    '＝1',
    '-',
    '--5',
    '-5e1',
  ])('the cell %j, which a spreadsheet would run, is prefixed unless --raw-csv', async (cell) => {
    const safe = await printed(cells([cell]), { format: 'csv' });
    const raw = await printed(cells([cell]), { format: 'csv', rawCsv: true });
    expect(parse(safe.out)).toEqual([['title'], [`'${cell}`]]);
    expect(parse(raw.out)).toEqual([['title'], [cell]]);
  });

  test.each(['-5', '-5.25', '5', 'a=1', '1-1', 'x@y', ' =1'])('the cell %j stays as it is', async (cell) => {
    expect(parse((await printed(cells([cell]), { format: 'csv' })).out)).toEqual([['title'], [cell]]);
  });

  test('a header that a spreadsheet would run is prefixed too', async () => {
    const result = { kind: 'list', rows: [], columns: [{ name: 'x', path: '=1' }] } as const;
    expect((await printed(result, { format: 'csv' })).out).toBe("'=1\n");
  });

  test('on a terminal controls are visible; in a pipe they are data', async () => {
    const result = cells(['a\u001b[2Jb', 'one\ntwo']);
    expect((await printed(result, { format: 'csv' }, { terminal: true })).out).toBe(
      'title\na␛[2Jb\none⏎two\n',
    );
    expect((await printed(result, { format: 'csv' })).out).toBe('title\na\u001b[2Jb\n"one\ntwo"\n');
  });

  test('a line break of any kind within a cell is quoted', async () => {
    const { out } = await printed(cells(['a\rb', 'a\nb']), { format: 'csv' });
    expect(out).toBe('title\n"a\rb"\n"a\nb"\n');
  });

  test('any text comes back from a CSV reader', async () => {
    const texts = fc.array(
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', '\t', ' ', "'", '日') }),
      { minLength: 1 },
    );
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom('csv', 'tsv'), async (values, format) => {
        const { out } = await printed(cells(values), { format, rawCsv: true });
        const read = parse(out, { delimiter: format === 'csv' ? ',' : '\t', skip_empty_lines: false });
        expect(read).toEqual([['title'], ...values.map((value) => [value])]);
      }),
    );
  });

  test('rows that need no quotes are written as the library writes them', () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '5', ' ', "'", '=', '日', '"', ',', ';', '|', '\t', '\n', '\r'),
    });
    const records = fc.array(fc.array(cell, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(records, fc.constantFrom(',' as const, '\t' as const), (rows, delimiter) => {
        const quoted = delimiter === ',' ? { quoted_match: /[;\t|]/ } : {};
        expect(csvRecords(rows, { delimiter, raw: true, visible: false })).toBe(
          stringify(rows, { delimiter, ...quoted }),
        );
      }),
      { numRuns: 500 },
    );
  });
});
