import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workbookAsCsv } from '../../../src/bulk/xlsx/as-csv.ts';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { zipOf } from '../../support/zip.ts';

const fixtures = fileURLToPath(new URL('./workbooks/', import.meta.url));

let workspace: Workspace;
beforeAll(() => {
  workspace = makeWorkspace();
});
afterAll(() => workspace.remove());

/** Puts a workbook into the workspace. */
function add(name: string, parts: Readonly<Record<string, string | Buffer>>): string {
  writeFileSync(join(workspace.folder, name), zipOf({ ...frame, ...parts }));
  return name;
}

const frame = {
  '_rels/.rels':
    '<Relationships><Relationship Id="r" Type="http://x/officeDocument" Target="xl/workbook.xml"/></Relationships>',
  'xl/workbook.xml':
    '<workbook xmlns:r="http://r"><sheets><sheet name="Orders" sheetId="1" r:id="a"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="a" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
};

const sheet = 'xl/worksheets/sheet1.xml';
const headings = [
  'product_url',
  'max_price_cents',
  'name',
  'address_line1',
  'city',
  'state',
  'postal_code',
  'phone_number',
];
const product = 'http://127.0.0.1:4848/shop/test-success';
const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const row = (...cells: readonly string[]): string => `<row>${cells.join('')}</row>`;
const sheetOf = (...rows: readonly string[]): string =>
  `<worksheet><sheetData>${[row(...headings.map(text)), ...rows].join('')}</sheetData></worksheet>`;
const order = (...more: readonly string[]): string =>
  row(
    text(product),
    '<c><v>5000</v></c>',
    ...['Ada Byron', '1 Main St', 'Austin', 'TX'].map(text),
    '<c><v>78701</v></c>',
    '<c><v>5125550100</v></c>',
    ...more,
  );

const validate = (name: string, ...more: readonly string[]) =>
  errand(workspace, ['bulk', 'validate', name, '--local', ...more]);

describe('a workbook', () => {
  test.each(['exceljs.xlsx', 'libreoffice.xlsx', 'sheetjs.xlsx'])(
    '%s is read cell by cell: dates, leading zeros, formulas, several lines, an empty row',
    async (name) => {
      copyFileSync(join(fixtures, name), join(workspace.folder, name));
      const shown = await errand(workspace, ['bulk', 'upload', name, '--dry-run']);
      expect(shown.code, shown.stderr).toBe(0);
      const rows = JSON.parse(shown.stdout).body.rows.map(
        ({ idempotency_key: _, ...cells }: object & { idempotency_key: string }) => Object.values(cells),
      );
      const url = 'http://127.0.0.1:4848/shop/test-success';
      expect(rows).toEqual([
        [
          url,
          '2',
          '5000',
          'Ada Byron',
          '1 Main St',
          'Boston',
          'MA',
          '02108',
          'US',
          '6175550100',
          expect.stringMatching(/^2026-12-2[34]/),
        ],
        [
          url,
          '1',
          '1250',
          'Grace Höpper, "the"',
          '2 Main St\nApt 4',
          'Austin',
          'TX',
          '78701',
          'US',
          '512-555-0101',
          '2',
        ],
        [url, '1', '1999', 'Alan T', '3 Main St', 'Austin', 'TX', '78701', 'US', '5125550103', 'rich text'],
      ]);
      expect(shown.stderr).toContain('sheet "Orders" is read; not "Notes" (--sheet NAME)');
      expect(shown.stderr).toContain('hidden rows are read like the others: 1 of them');
      expect(shown.stderr).toContain('1 group of merged cells (L1:M1): the first cell of each has the text');
      expect(shown.stderr).toContain('1 formula: the value that the spreadsheet saved is taken');
    },
  );

  test('is placed, found placed when it is sent again, gone on with, and read from a pipe', async () => {
    copyFileSync(join(fixtures, 'exceljs.xlsx'), join(workspace.folder, 'day.xlsx'));
    const placed = await errand(workspace, ['bulk', 'upload', 'day.xlsx', '-o', 'csv', '--fields', 'rows']);
    expect([placed.code, placed.stdout], placed.stderr).toEqual([0, 'rows\n3\n']);
    // One of them may cost less than the product does.
    expect((await errand(workspace, ['bulk', 'watch', 'day'])).code).toBe(7);
    const again = await shell(workspace, 'errand bulk upload - --name piped --dry-run < day.xlsx');
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('1 new, of them 1 failed before; 2 placed already'),
    ]);
    const resumed = await errand(workspace, ['bulk', 'resume', 'day']);
    expect([resumed.code, resumed.stderr]).toEqual([
      0,
      expect.stringContaining('all of day is at the service'),
    ]);
    const planned = await errand(workspace, [
      'bulk',
      'plan',
      'day.xlsx',
      '--sheet',
      'orders',
      '--out',
      'day.plan',
    ]);
    expect(planned.code, planned.stderr).toBe(0);
    expect(readFileSync(join(workspace.folder, 'day.plan'), 'utf8')).toContain('"sheet":"orders"');
  });

  test('names the row of an error as the spreadsheet does', async () => {
    add('wrong.xlsx', {
      [sheet]: sheetOf(order(), '<row r="7"><c r="A7" t="inlineStr"><is><t>x</t></is></c></row>'),
    });
    const found = await validate('wrong.xlsx', '-o', 'json');
    expect(found.code).toBe(7);
    expect(JSON.parse(found.stdout)[0]).toMatchObject({ row: 7, column: 'product_url', value: 'x' });
  });

  test.each([
    [
      'no-such.xlsx',
      {},
      ['--sheet', 'Nope'],
      '--sheet Nope: no-such.xlsx has no such sheet; it has "Orders"',
    ],
    ['locale.xlsx', {}, ['--locale', 'de'], '--locale is for text: locale.xlsx is a workbook'],
    [
      'formula.xlsx',
      { [sheet]: sheetOf(order('<c><f>1+1</f></c>')) },
      [],
      'formula.xlsx: cell I2 has a formula and no value',
    ],
    ['empty.xlsx', { [sheet]: '<worksheet><sheetData/></worksheet>' }, [], 'sheet "Orders" is empty'],
    [
      'entities.xlsx',
      { [sheet]: `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${sheetOf(order())}` },
      [],
      'it declares a document type, which no spreadsheet writes',
    ],
    [
      'broken.xlsx',
      { [sheet]: '<worksheet><sheetData><row></worksheet>' },
      [],
      'cannot be read as a workbook',
    ],
    ['twice.xlsx', { [sheet]: sheetOf('<row r="1"/>') }, [], 'row 1 does not follow row 1'],
    [
      'text.xlsx',
      { [sheet]: sheetOf(row('<c t="s"><v>9</v></c>')) },
      [],
      'cell A2 names a text that is not there',
    ],
    [
      'error.xlsx',
      { [sheet]: sheetOf(order('<c t="e"><v>#N/A</v></c>')) },
      [],
      'error.xlsx: cell I2 holds the error #N/A',
    ],
    [
      'wide.xlsx',
      { [sheet]: sheetOf('<row r="2"><c r="ZZZ2"><v>1</v></c></row>') },
      [],
      'cell ZZZ2 does not follow the one before it',
    ],
    [
      'link.xlsx',
      {
        'xl/_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="a" TargetMode="External" Target="http://127.0.0.1:1/worksheets/x"/></Relationships>',
      },
      [],
      'link.xlsx has no sheet that is shown',
    ],
  ] as const)('%s is refused', async (name, parts, flags, message) => {
    add(name, { [sheet]: sheetOf(order()), ...parts });
    const refused = await validate(name, ...flags);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('of an older kind, or with a password, is refused with what to do; so is --sheet of a CSV', async () => {
    writeFileSync(join(workspace.folder, 'old.xls'), Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    expect((await validate('old.xls')).stderr).toContain('Save it as .xlsx without a password, or as CSV.');
    writeFileSync(join(workspace.folder, 'cut.xlsx'), zipOf(frame).subarray(0, 100));
    expect((await validate('cut.xlsx')).stderr).toContain('cannot be read as a workbook');
    writeFileSync(join(workspace.folder, 'a.csv'), 'product_url\nx\n');
    expect((await validate('a.csv', '--sheet', 'x')).stderr).toContain(
      '--sheet x: a.csv is no workbook (.xlsx)',
    );
  });

  test('that unpacks to far more than it is, is refused before it fills memory', async () => {
    add('bomb.xlsx', {
      [sheet]: Buffer.concat([
        Buffer.from('<worksheet>'),
        Buffer.alloc(300 * 1024 * 1024, `<x>${' '.repeat(1000)}</x>`),
      ]),
    });
    const refused = await validate('bomb.xlsx');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining(
        'bomb.xlsx is not read as a workbook: xl/worksheets/sheet1.xml unpacks to far more than it is',
      ),
    ]);
  });

  test.each<[what: string, rest: string, why: string]>([
    ['nests for ever', '<a>'.repeat(300_000), 'its elements nest deeper than any spreadsheet writes them'],
    [
      'has a text without an end',
      `<row><c t="str"><v>${'x'.repeat(6_000_000)}`,
      'longer than any spreadsheet',
    ],
    [
      'has a tag without an end',
      `<row ${Array.from({ length: 500_000 }, (_, at) => `a${at}=""`).join(' ')}`,
      'longer than any spreadsheet',
    ],
    ['has a NUL character', order(text('a_x0000_b')), 'cell I2 holds a NUL character'],
  ])('that %s is refused', async (_, rest, why) => {
    add('made.xlsx', { [sheet]: `<worksheet><sheetData>${row(...headings.map(text))}${rest}` });
    const { code, stderr } = await errand(workspace, ['bulk', 'validate', 'made.xlsx']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  });

  test('that has few cells, far apart, is refused', async () => {
    const far = '<row><c r="XFD1" t="b"><v>1</v></c></row>'.repeat(2500);
    const bytes = zipOf({ ...frame, [sheet]: `<worksheet><sheetData>${far}</sheetData></worksheet>` });
    async function* chunks() {
      yield bytes;
    }
    const reading = workbookAsCsv(chunks(), { name: 'far.xlsx', sheet: undefined, note: () => {} });
    const read = async () => {
      for await (const _ of reading);
    };
    await expect(read()).rejects.toThrow('its cells lie too far apart, as XFD2442 does');
  });

  test('whose sheets are many is read, and its message names some', async () => {
    const more = '<sheet name="Other" r:id="a"/>'.repeat(5000);
    add('many.xlsx', {
      'xl/workbook.xml': `<workbook xmlns:r="http://r"><sheets><sheet name="Orders" r:id="a"/>${more}</sheets></workbook>`,
      [sheet]: sheetOf(order()),
    });
    const { code, stderr } = await errand(workspace, ['bulk', 'validate', 'many.xlsx']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('and 4,980 more')]);
  });

  test('with a million empty cells is read', async () => {
    const empty = `<row>${'<c s="0"/>'.repeat(1000)}</row>`;
    add('cells.xlsx', { [sheet]: sheetOf(order(), empty.repeat(1000)) });
    const found = await validate('cells.xlsx');
    expect([found.code, found.stderr]).toEqual([0, expect.stringContaining('1 row, all valid')]);
  });
});

test('a workbook from a pipe is called one', async () => {
  copyFileSync(join(fixtures, 'libreoffice.xlsx'), join(workspace.folder, 'piped.xlsx'));
  const { stderr } = await shell(
    workspace,
    'cat piped.xlsx | errand bulk validate - --local --sheet nothing',
  );
  expect(stderr).toContain('stdin.xlsx');
});

test('results are written as a workbook with the lines of the CSV, and never over a file unasked', async () => {
  const own = makeWorkspace();
  try {
    const lines = [
      'product_url,max_price,name,address,city,state,zip,phone,note',
      ...['1', '2'].map(
        (at) =>
          `https://www.harborgoods.example/p/oakline-studio-headphones-2-m/3086431744,$60.00,Ada Byron,${at} Main St,Boston,MA,02108,5125550100,=1+1`,
      ),
    ];
    writeFileSync(join(own.folder, 'orders.csv'), `${lines.join('\n')}\n`);
    const run = (...args: string[]) => errand(own, ['bulk', ...args]);
    expect((await run('upload', 'orders.csv')).code).toBe(0);
    const { code, stdout, stderr } = await run('results', 'orders', '--xlsx', 'results.xlsx');
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringContaining('results.xlsx: 2 rows')]);
    const csv = (await run('results', 'orders')).stdout;
    const chunks = async function* () {
      yield readFileSync(join(own.folder, 'results.xlsx'));
    };
    const read: Buffer[] = [];
    for await (const chunk of workbookAsCsv(chunks(), {
      name: 'results.xlsx',
      sheet: undefined,
      note: () => {},
    }))
      read.push(Buffer.from(chunk));
    const cells = (text: string | Buffer) =>
      parse(text, { bom: true, relax_column_count: true }) as string[][];
    const filled = (rows: string[][]) => rows.map((row) => row.join('\n').trimEnd());
    expect(filled(cells(Buffer.concat(read)))).toEqual(filled(cells(csv)));
    expect(csv).toContain("02108,5125550100,'=1+1,");
    for (const more of [[], ['--force']]) {
      const again = await run('results', 'orders', '--xlsx', 'results.xlsx', ...more);
      expect(again.code).toBe(more.length === 0 ? 2 : 0);
    }
    expect((await run('results', 'orders', '--xlsx', 'results.csv')).code).toBe(2);
    expect((await run('results', 'orders', '--force')).code).toBe(2);
  } finally {
    own.remove();
  }
});
