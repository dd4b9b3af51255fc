import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { describe, expect, test, vi } from 'vitest';
import type { Encoding } from '../../../src/bulk/csv/decode.ts';
import { readTable } from '../../../src/bulk/csv/reader.ts';

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

interface Options {
  encoding?: Encoding;
  delimiter?: string;
  size?: number;
}

async function read(input: string | Uint8Array, { size = 7, ...options }: Options = {}) {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const rows: (readonly string[])[] = [];
  let headings: readonly string[] = [];
  for await (const part of readTable(chunksOf(bytes, size), { name: 'orders.csv', ...options })) {
    // Lines above the header row count, as in a spreadsheet.
    expect(part.firstRow).toBe(
      rows.length + 2 + (/^(?:#.*\n)*/.exec(String(input))?.[0].split('\n').length ?? 1) - 1,
    );
    headings = part.headings;
    rows.push(...part.rows);
  }
  return { headings, rows };
}

const plain = {
  headings: ['a', 'b'],
  rows: [
    ['1', 'é'],
    ['3', '4'],
  ],
};

describe('a table is read whatever it is written with', () => {
  test.each([
    ['LF', 'a,b\n1,é\n3,4\n'],
    ['CRLF', 'a,b\r\n1,é\r\n3,4\r\n'],
    ['CR', 'a,b\r1,é\r3,4\r'],
    ['no last line end', 'a,b\n1,é\n3,4'],
    ['semicolons', 'a;b\n1;é\n3;4\n'],
    ['tabs', 'a\tb\n1\té\n3\t4\n'],
    ['pipes', 'a|b\n1|é\n3|4\n'],
    ['a byte order mark', '\ufeffa,b\n1,é\n3,4\n'],
    ['comments before the headings', '# one, two; three\n#\na,b\n1,é\n3,4\n'],
    ['quoted cells', '"a","b"\n"1","é"\n"3","4"\n'],
    ['headings with spaces around', ' a , b \n1,é\n3,4\n'],
  ])('%s', async (_, text) => {
    for (const size of [1, 7, 4096]) expect(await read(text, { size })).toEqual(plain);
  });

  test.each([
    ['utf-16le with its mark', Buffer.from('\ufeffa,b\n1,é\n3,4\n', 'utf16le'), {}],
    ['utf-16be with its mark', Buffer.from('\ufeffa,b\n1,é\n3,4\n', 'utf16le').swap16(), {}],
    ['utf-16le that is named', Buffer.from('a,b\n1,é\n3,4\n', 'utf16le'), { encoding: 'utf-16le' }],
    ['latin1', Buffer.from('a,b\n1,é\n3,4\n', 'latin1'), { encoding: 'latin1' }],
  ] as const)('%s', async (_, bytes, options) => {
    for (const size of [3, 4096]) expect(await read(bytes, { ...options, size })).toEqual(plain);
  });

  test('a quoted cell keeps delimiters, quotes and line breaks', async () => {
    const { rows } = await read('a,b\n"x, y","he said ""no""\nand left"\n');
    expect(rows).toEqual([['x, y', 'he said "no"\nand left']]);
  });

  test('a delimiter within quoted headings is not counted', async () => {
    const { headings } = await read('"a,b,c";"d"\n1;2\n');
    expect(headings).toEqual(['a,b,c', 'd']);
  });

  const ends = ['\n', '\r\n', '\r'];
  const within = ['"my ""ref""%x"', '"%"', '"a%b"', '"""%"', '"a""%"""', '"""""%"', '""'];
  test.each(
    ends.flatMap((end) => ends.flatMap((other) => within.map((heading) => [end, other, heading] as const))),
  )('lines end with %j, %j stands in the heading %s', async (end, other, heading) => {
    const lines = [`a,${heading.replace('%', other)},b`, '1,2,blue', '3,"x, y","red"', '4,,'];
    const text = lines.join(end);
    // Expect what csv-parse reads when it detects line endings itself.
    const [names = [], ...rows] = parse(text, { relax_column_count: true });
    for (const size of [1, 7, 4096])
      expect(await read(text, { size })).toEqual({ headings: names.map((name) => name.trim()), rows });
  });

  test.each(ends.flatMap((end) => ends.flatMap((one) => ends.map((other) => [end, one, other] as const))))(
    'the headings end with %j, and the rows with %j and %j',
    async (end, one, other) => {
      const text = `a,b${end}1,2${one}3,"x${other}""y"""${other}"5",6${one}${other}7,${other}8,9`;
      // Only CR followed by LF forms a single line ending.
      const blank = one + other === '\r\n' ? [] : [['']];
      const rows = [['1', '2'], ['3', `x${other}"y"`], ['5', '6'], ...blank, ['7', ''], ['8', '9']];
      for (const size of [1, 2, 3, 7, 4096])
        expect(await read(text, { size })).toEqual({ headings: ['a', 'b'], rows });
    },
  );

  test('a line of headings whose end is cut in two by a megabyte', async () => {
    const name = 'n'.repeat(1024 * 1024 - 3);
    const { headings, rows } = await read(`a,${name}\r\n1,2\r\n`, { size: 1024 * 1024 });
    expect(headings).toHaveLength(2);
    expect(rows.at(-1)).toEqual(['1', '2']);
  });

  test('rows that are short, long or blank are there with their numbers', async () => {
    const { rows } = await read('a,b\n1\n\n1,2,3\n');
    expect(rows).toEqual([['1'], [''], ['1', '2', '3']]);
  });

  test('rows that are short or long make no errors, which take longer than the rows', async () => {
    const made = vi.spyOn(Error, 'captureStackTrace');
    const { rows } = await read(`a,b\n${'1\n\n1,2,3\n'.repeat(100)}`);
    expect(rows).toHaveLength(300);
    expect(made.mock.calls.filter(([error]) => error instanceof CsvError)).toEqual([]);
    made.mockRestore();
  });

  test('a cell that begins with # is no comment', async () => {
    expect((await read('a,b\n#1,2\n')).rows).toEqual([['#1', '2']]);
  });
});

describe('what is no table is refused with the file and the line', () => {
  test.each([
    ['', 'orders.csv is empty'],
    ['a,b\n1,"2\n3,4\n', 'orders.csv, row 2: a quoted cell is never closed'],
    ['a,"b\n1,2\n', 'orders.csv, row 1: a quoted cell is never closed'],
    ['# c\na,b\n1,2\n\n"3\n",4\n5,"6\n7,8\n\n\n', 'orders.csv, row 6: a quoted cell is never closed'],
    [`a,b\n1,2\n3,"${'4\n'.repeat(600_000)}`, 'orders.csv, row 3: a row is longer than'],
    ['# c\na,b\n1,"2"x\n', 'orders.csv, line 3: a quote within a quoted cell'],
    ['a,b\n1,\u00002\n', 'NUL bytes'],
    [`a,b\n${'1,2\n'.repeat(2000)}1,\u00002\n`, 'NUL bytes'],
    ['\ufeffa,b\n1,\u00002\n', 'NUL bytes'],
  ])('%j', async (text, message) => {
    await expect(read(text, { size: 4096 })).rejects.toThrow(message);
  });

  test('a NUL character of UTF-16', async () => {
    await expect(read(Buffer.from('\ufeffa,b\n1,\u00002\n', 'utf16le'))).rejects.toThrow('NUL bytes');
  });

  test('bytes that are not UTF-8, with the way out', async () => {
    await expect(read(Buffer.from('a,b\n1,é\n', 'latin1'))).rejects.toMatchObject({
      message: 'orders.csv is not utf-8 text',
      facts: { hint: expect.stringContaining('--encoding latin1') },
    });
  });

  test.each(['utf-16le', 'utf-16be'])('%s without a mark, with the encoding it is in', async (encoding) => {
    const little = Buffer.from('a,b\n1,2\n', 'utf16le');
    const bytes = encoding === 'utf-16le' ? little : little.swap16();
    await expect(read(bytes, { size: 4096 })).rejects.toMatchObject({
      facts: { hint: expect.stringContaining(`--encoding ${encoding}.`) },
    });
  });

  test('a row without an end', async () => {
    await expect(read(`a,b\n"${'x'.repeat(1_200_000)}`, { size: 65_536 })).rejects.toThrow('longer than');
  });
});
