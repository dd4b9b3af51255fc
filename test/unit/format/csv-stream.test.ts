import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { neutraliseCsv } from '../../../src/format/csv-stream.ts';
import { escapeFormula } from '../../../src/platform/csv-cell.ts';

async function neutralised(chunks: readonly (string | Uint8Array)[]): Promise<string> {
  let text = '';
  for await (const chunk of neutraliseCsv(chunks)) text += chunk;
  return text;
}

test('cells that a spreadsheet would run are prefixed, quoted or not; all else is byte for byte the same', async () => {
  const csv = '\ufeffid,"=x"\r\n1,=1+1\r\n-5,-5.25\r\n-,-x\r\n"-5","-5+1"\r\n"a ""=b""",a=b\r\n"@x\n=y",\r\n';
  expect(await neutralised([csv])).toBe(
    '\ufeffid,"\'=x"\r\n1,\'=1+1\r\n-5,-5.25\r\n\'-,\'-x\r\n"-5","\'-5+1"\r\n"a ""=b""",a=b\r\n"\'@x\n=y",\r\n',
  );
});

test('a spreadsheet that splits cells at semicolons or tabs runs nothing either', async () => {
  expect(await neutralised(['a;=1,"b;=1",c\t@x\n;-1;d,|+e;"=f\n'])).toBe(
    "a;'=1,\"b;=1\",c\t'@x\n;'-1;d,|'+e;\"=f\n",
  );
});

/** Escapes the parts of an unquoted cell for a reader that splits at semicolons or tabs. */
const split = (cell: string): string => cell.replace(/([;\t])(?=[=+\-@\t])/g, "$1'");

test('wherever the chunks are cut, the result is that of defusing each cell', async () => {
  const cell = fc.string({
    unit: fc.constantFrom(...'=+-@5.a",\n\r ;\t日😀'),
    maxLength: 6,
  });
  const table = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.nat(7),
      fc.boolean(),
      fc.constantFrom('\n', '\r\n'),
      async (rows, size, quoted, record_delimiter) => {
        const bytes = Buffer.from(
          stringify(rows, { quoted, record_delimiter, quote_record_delimiter: true }),
        );
        const step = size + 1;
        const chunks = Array.from({ length: Math.ceil(bytes.length / step) }, (_, index) =>
          bytes.subarray(index * step, (index + 1) * step),
        );
        const text = await neutralised(chunks);
        const isQuoted = (one: string) => quoted || /[,"\r\n]/.test(one);
        const safe = (one: string) => (isQuoted(one) ? escapeFormula(one) : split(escapeFormula(one)));
        expect(parse(text, { record_delimiter, skip_empty_lines: false })).toEqual(
          rows.map((row) => row.map(safe)),
        );
        expect(text).toBe(await neutralised([bytes]));
      },
    ),
    { numRuns: 1000 },
  );
});

test('a character cut in half by a chunk comes out whole', async () => {
  const bytes = Buffer.from('é,日\n');
  expect(await neutralised([bytes.subarray(0, 1), bytes.subarray(1, 4), bytes.subarray(4)])).toBe('é,日\n');
});
