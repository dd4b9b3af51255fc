import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workbookAsCsv } from '../../../../src/bulk/xlsx/as-csv.ts';
import { type WrittenCell, workbookOf } from '../../../../src/bulk/xlsx/write.ts';
import { unescapeFormula } from '../../../../src/platform/csv-cell.ts';

async function readBack(headings: readonly string[], rows: readonly (readonly WrittenCell[])[]) {
  const chunks = workbookOf('results', headings, rows);
  const parts: Uint8Array[] = [];
  for await (const part of workbookAsCsv(chunks, { name: 'a.xlsx', sheet: undefined, note: () => {} }))
    parts.push(part);
  return parse(Buffer.concat(parts), {
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
  }) as string[][];
}

test('what is written is read again as it was', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('02108', '_x0041_', '=1+1', ' a ', 'ä & <b>\n"c"\r\n'),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, fc.nat()), { minLength: 1, maxLength: 5 }), async (rows) => {
      const read = await readBack(['text', 'number'], rows);
      expect(read[0]).toEqual(['text', 'number']);
      expect(read.slice(1).map(([text = '', number]) => [unescapeFormula(text), number])).toEqual(
        // What XML and UTF-8 cannot hold is replaced, and so is NUL, which no workbook may have.
        rows.map(([text, number]) => [
          unescapeFormula(text.replace(/\p{Cs}|\0/gu, '\ufffd')),
          String(number),
        ]),
      );
    }),
    { numRuns: 50 },
  );
});

test.each(['=HYPERLINK("http://a.example")', '+1', '-1+1', '@SUM(A1)', '\tx'])(
  'a cell that a spreadsheet would run is text, and escaped as in a CSV: %j',
  async (text) => {
    expect((await readBack(['a'], [[text]]))[1]).toEqual([`'${text}`]);
  },
);

test('a long text is cut at what a cell holds', async () => {
  const [, [cell = ''] = []] = await readBack(['a'], [['x'.repeat(40_000)]]);
  expect(cell).toHaveLength(32_767);
});

test('50,000 rows of 30 cells take little memory', async () => {
  function* rows(): Generator<WrittenCell[]> {
    for (let row = 0; row < 50_000; row += 1)
      yield Array.from({ length: 30 }, (_, at) => (at % 3 === 0 ? row : `cell ${row} ${at}`));
  }
  let size = 0;
  // The process may be large from other tests.
  const before = process.memoryUsage().rss;
  let most = before;
  for await (const chunk of workbookOf(
    'a',
    Array.from({ length: 30 }, (_, at) => `h${at}`),
    rows(),
  )) {
    size += chunk.length;
    most = Math.max(most, process.memoryUsage().rss);
  }
  expect(size).toBeGreaterThan(1_000_000);
  expect((most - before) / 1024 / 1024).toBeLessThan(250);
});
