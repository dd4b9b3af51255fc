import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings =
  'product_url,quantity,max_price,name,address_line1,address_line2,city,state,postal_code,country,phone_number,metadata.team';
const url = 'https://www.harborgoods.example/p/oakline-studio-headphones-2-m/3086431744';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterEach(() => workspace.remove());

const given = {
  ...{
    product_url: url,
    quantity: '1',
    max_price: '$60.00',
    name: 'Mira Quint',
    address_line1: '14 Cedar Row',
  },
  ...{ address_line2: '', city: 'Austin', state: 'TX', postal_code: '78701', country: 'US' },
  ...{ phone_number: '5125550100', 'metadata.team': 'OPS' },
};
type Cells = Partial<Record<keyof typeof given, string>>;

function write(rows: readonly Cells[], name = 'orders.csv', before = ''): void {
  const quoted = (cell: string): string => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = rows.map((cells) =>
    Object.values({ ...given, ...cells })
      .map(quoted)
      .join(','),
  );
  writeFileSync(join(workspace.folder, name), `${before}${[headings, ...lines].join('\n')}\n`);
}

const validate = (...args: string[]) => errand(workspace, ['bulk', 'validate', 'orders.csv', ...args]);
const issuesOf = async () => JSON.parse((await validate('--local', '-o', 'json')).stdout);

describe('an error of a spreadsheet in a cell', () => {
  test.each([
    ['max_price', '#N/A'],
    ['name', '#REF!'],
    ['name', '#BEZUG!'],
    ['metadata.team', '#NV'],
    ['metadata.team', '#RIF!'],
    ['phone_number', '#NAME?'],
    ['city', '#WERT!'],
    ['city', 'Err:508'],
    ['city', '#DIV/0!'],
    ['address_line1', '=A1&B1'],
    ['address_line1', '=SVERWEIS(A1;B:C;2)'],
    ['postal_code', '########'],
  ] as const)('is named as one: %s %s', async (column, value) => {
    write([{ [column]: value }]);
    expect(await issuesOf()).toEqual([
      { row: 2, column, value, message: expect.stringMatching(/spreadsheet/) },
    ]);
  });

  test.each([
    ['address_line1', '#12 Main St'],
    ['address_line1', 'Errol Ave 5'],
    ['metadata.team', '#1'],
    ['metadata.team', '=mine'],
  ] as const)('is none where it is text: %s %s', async (column, value) => {
    write([{ [column]: value }]);
    expect(await issuesOf()).toEqual([]);
  });
});

describe('text that a carrier may refuse is pointed out, with the corrected text, and is no error', () => {
  test.each([
    [
      { name: 'Ida M&uuml;ller' },
      'name "Ida M&uuml;ller" has HTML entities, which would be printed as they stand; write Ida Müller',
    ],
    [{ city: 'MÃ¼nchen' }, 'was read in the wrong encoding by an earlier program; write München'],
    [{ name: 'Ida M\ufffdller' }, 'has a character that an earlier program lost (U+FFFD)'],
    [{ address_line1: 'P.O. Box 12' }, 'is a post office box'],
    [{ address_line1: 'Packstation 145' }, 'is a parcel locker of DHL'],
    [
      { address_line1: 'PSC 3 Box 120', city: 'APO', state: 'AE', postal_code: '09021' },
      'is a military address',
    ],
    [{ address_line1: '1 Main St\nFloor 2\nDoor 3' }, 'has three lines or more'],
    [{ state: 'MA' }, 'postal_code "78701" is a ZIP code of TX, and the state is MA'],
  ] as const)('%j', async (cells, said) => {
    write([cells]);
    const { code, stderr } = await validate('--local');
    expect(stderr).toContain(said);
    expect(code).toBe(0);
    expect(await issuesOf()).toEqual([]);
  });

  test('once for many rows, and before an upload sends anything', async () => {
    write(
      Array.from({ length: 30 }, (_, at) => ({
        name: `Ida M&uuml;ller${at}`,
        address_line1: `${at} Main St`,
      })),
    );
    const line =
      '30 rows: name such as "Ida M&uuml;ller0" has HTML entities, which would be printed as they stand; write Ida Müller0; first rows 2, 3, 4';
    expect((await validate('--local')).stderr.split('\n')).toContain(line);
    const { stderr } = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--dry-run']);
    expect(stderr).toContain(line);
  });

  test('no country is assumed for a city of another one', async () => {
    write([
      { city: 'Berlin', state: '', postal_code: '10115', country: '' },
      { city: 'Berlin', state: 'NH', postal_code: '03570', country: '' },
    ]);
    expect(await issuesOf()).toMatchObject([
      { row: 2, column: 'country', message: expect.stringContaining('Berlin') },
    ]);
  });
});

describe('--fix', () => {
  const fix = (...more: string[]) => validate('--fix', 'fixed.csv', '-o', 'json', ...more);
  const changes = async (...more: string[]): Promise<(readonly [string, string, string])[]> =>
    JSON.parse((await fix(...more)).stdout).map((one: Record<'column' | 'was' | 'is', string>) => [
      one.column,
      one.was,
      one.is,
    ]);

  test.each([
    [{ postal_code: '2134', state: 'MA' }, ['postal_code', '2134', '02134']],
    [{ postal_code: '501', state: 'NY' }, ['postal_code', '501', '00501']],
    [{ postal_code: '021341234', state: 'MA' }, ['postal_code', '021341234', '02134-1234']],
    [{ postal_code: '78701.0' }, ['postal_code', '78701.0', '78701']],
    [{ phone_number: '5125550100.0' }, ['phone_number', '5125550100.0', '5125550100']],
    [{ quantity: '2.0' }, ['quantity', '2.0', '2']],
    [{ name: 'Ida M&uuml;ller' }, ['name', 'Ida M&uuml;ller', 'Ida Müller']],
    [{ name: 'Mira\u00a0Quint ' }, ['name', 'Mira\u00a0Quint ', 'Mira Quint']],
    [
      { city: 'MÃ¼nchen', country: 'Germania', postal_code: '80331', state: '' },
      ['city', 'MÃ¼nchen', 'München'],
    ],
    [{ country: 'Vereinigte Staaten' }, ['country', 'Vereinigte Staaten', 'US']],
  ] as const)('corrects what is certain, and says it: %j', async (cells, change) => {
    write([{}, cells]);
    expect(await changes()).toContainEqual(change);
    const { code } = await errand(workspace, ['bulk', 'validate', 'fixed.csv', '--local']);
    expect(code).toBe(0);
  });

  test.each([
    [{ postal_code: '2134', state: 'TX' }],
    [{ phone_number: '5.12556E+09' }],
    [{ max_price: '12,50' }],
    [{ quantity: '1.5' }],
    [{ name: 'M\ufffdller' }],
    [{ postal_code: '="02134"', state: 'MA' }],
    [{ product_url: `${url} ` }],
  ] as const)('guesses nothing: %j', async (cells) => {
    write([cells]);
    const { stderr } = await validate('--fix', 'fixed.csv');
    expect(stderr).toContain('nothing to correct is certain; no file was written');
    expect(existsSync(join(workspace.folder, 'fixed.csv'))).toBe(false);
  });

  test('writes amounts anew only as the flags say that they are read', async () => {
    write([{ max_price: '12,50' }, { max_price: '1.250,00' }]);
    expect(await changes('--locale', 'de')).toEqual([
      ['max_price', '12,50', '$12.50'],
      ['max_price', '1.250,00', '$1250.00'],
    ]);
    write([{ max_price: '45' }]);
    expect(
      JSON.parse((await validate('--fix', 'units.csv', '--amounts', 'units', '-o', 'json')).stdout),
    ).toMatchObject([{ was: '45', is: '$45.00', why: '--amounts units' }]);
  });

  test('leaves all else as it was: titles, blank rows, own columns, other rows', async () => {
    write([{}, { quantity: '2.0', name: '=SUM(A1)' }, {}], 'orders.csv', 'Orders of May\n;;\n');
    // A formula is written as text, and named like the rest.
    expect(await changes()).toEqual([
      ['quantity', '2.0', '2'],
      ['name', '=SUM(A1)', "'=SUM(A1)"],
    ]);
    const [was, is] = ['orders.csv', 'fixed.csv'].map((name) =>
      readFileSync(join(workspace.folder, name), 'utf8').split('\n'),
    );
    expect(is).toEqual(was?.map((line) => line.replace(',2.0,', ',2,').replace('=SUM', "'=SUM")));
  });

  test('changes no cell that it does not name, whatever the file is', async () => {
    const texts = [
      '',
      'a',
      '2.0',
      ' x  y ',
      '+15125550100',
      "'+15125550100",
      '-5',
      "'-5",
      "'=1",
      '=1+1',
      '@a',
      '5" pipe',
    ];
    const more = [
      '&amp;',
      'Zo\u00c3\u00ab',
      'Germany',
      '2134',
      '12,50',
      '$12.50',
      '"',
      "'",
      'a\u00a0b',
      'x\ty',
      'b;c|d,e',
    ];
    const cell = fc.constantFrom(...texts, ...more);
    const heads = [
      'product_url',
      'quantity',
      'max_price',
      'name',
      'address_line1',
      'city',
      'state',
      'postal_code',
    ].concat(['country', 'phone_number', 'Note', 'metadata.x', 'Balance']);
    const file = fc.record({
      rows: fc.array(fc.array(cell, { minLength: 1, maxLength: heads.length }), {
        minLength: 1,
        maxLength: 5,
      }),
      delimiter: fc.constantFrom(',', ';', '\t'),
      quotes: fc.constantFrom('double', 'none'),
      locale: fc.constantFrom('de', 'en', undefined),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(file, async ({ rows, delimiter, quotes, locale }) => {
        const isQuoted = quotes === 'double';
        const clean = rows.map((cells) =>
          isQuoted ? cells : cells.map((text) => text.replaceAll(/[",;\t]/g, delimiter === '\t' ? '"' : '_')),
        );
        const written = [heads, ...clean].map((cells) =>
          cells.map((text) => (isQuoted ? `"${text.replaceAll('"', '""')}"` : text)).join(delimiter),
        );
        run += 1;
        const [from, to] = [`from-${run}.csv`, `to-${run}.csv`];
        writeFileSync(join(workspace.folder, from), `${written.join('\n')}\n`);
        const delimiters = { ',': 'comma', ';': 'semicolon', '\t': 'tab' } as const;
        const { stdout, stderr } = await errand(workspace, [
          ...['bulk', 'validate', from, '--fix', to, '-o', 'json', '--quotes', quotes],
          ...['--delimiter', delimiters[delimiter as keyof typeof delimiters]],
          ...(locale === undefined ? [] : ['--locale', locale]),
        ]);
        if (!existsSync(join(workspace.folder, to))) return;
        const read = (name: string): string[][] =>
          parse(readFileSync(join(workspace.folder, name)), {
            ...{ delimiter, relax_column_count: true, bom: true, skip_empty_lines: false },
            quote: isQuoted ? '"' : null,
          });
        const [was, is] = [read(from), read(to)];
        const named: { row: number; column: string; is: string }[] = JSON.parse(stdout);
        expect(is.length, stderr).toBe(was.length);
        for (const [at, cells] of was.entries())
          for (const [column, text] of cells.entries()) {
            if (is[at]?.[column] === text) continue;
            const change = named.find((one) => one.row === at + 1 && one.column === heads[column]);
            expect([at + 1, heads[column], is[at]?.[column]]).toEqual([
              change?.row,
              change?.column,
              change?.is,
            ]);
          }
      }),
      { numRuns: 40 },
    );
  });

  test('is read with the map that the file was read with: its encoding, locale and quotes', async () => {
    const line = `${url};1,0;12,50;Zo\u00eb Gro\u00df;1 Main St;;Austin;TX;78701;US;5125550100;a`;
    const text = `${headings.replaceAll(',', ';')}\n${line}\n`;
    writeFileSync(join(workspace.folder, 'orders.csv'), Buffer.from(text, 'latin1'));
    expect(await changes('--encoding', 'latin1', '--locale', 'de', '--save-map', 'theirs')).toEqual([
      ['quantity', '1,0', '1'],
      ['max_price', '12,50', '$12.50'],
    ]);
    const again = await errand(workspace, ['bulk', 'validate', 'fixed.csv', '--use-map', 'theirs']);
    expect(again.stderr).toContain('nothing is wrong');
    expect(again.stderr).toContain('at most $13.50');
  });

  test('never writes over a file', async () => {
    write([{ quantity: '2.0' }]);
    for (const path of ['orders.csv', './orders.csv', 'fixed.csv']) {
      if (path === 'fixed.csv') await fix();
      const { code, stderr } = await validate('--fix', path);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('is there already, and is not written over'),
      ]);
    }
    expect(readFileSync(join(workspace.folder, 'orders.csv'), 'utf8')).toContain(',2.0,');
  });

  test('says what is still wrong, and exits with 7 then', async () => {
    write([{ quantity: '2.0' }, { quantity: '1.5' }]);
    const { code, stderr } = await validate('--fix', 'fixed.csv');
    expect(code).toBe(7);
    expect(stderr).toContain('row 3: quantity "1.5" is not a whole number from 1');
    expect(stderr).toContain('check it: errand bulk validate fixed.csv');
  });

  test('a row that was ordered before it was corrected is not ordered again', async () => {
    write([{ name: 'Ida M&uuml;ller', city: 'Austin ' }]);
    expect((await errand(workspace, ['bulk', 'upload', 'orders.csv'])).code).toBe(0);
    await fix();
    const again = await errand(workspace, ['bulk', 'upload', 'fixed.csv']);
    expect(again.code).toBe(5);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim().split('\n')).toHaveLength(
      1,
    );
  });
});

describe('of the files that shops and spreadsheets wrote', () => {
  const real = (name: string): void =>
    copyFileSync(join(import.meta.dirname, 'real-files', name), join(workspace.folder, 'orders.csv'));

  test('each error of a spreadsheet is named', async () => {
    real('16-excel-errors.csv');
    const issues: { row: number; message: string }[] = await issuesOf();
    expect(issues.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6, 7]);
    for (const { message } of issues) expect(message).toMatch(/spreadsheet/);
  });

  test.each([
    ['05-excel-eaten.csv', 5, '7 of 8 rows valid'],
    ['07-quantities.csv', 3, '4 of 10 rows valid'],
  ])(
    '--fix writes what is certain, and what is left is told in a line for each kind: %s',
    async (name, count, left) => {
      real(name);
      const { code, stdout, stderr } = await validate('--fix', 'fixed.csv');
      expect(code).toBe(7);
      expect(stdout.trim().split('\n')).toHaveLength(1 + count);
      expect(stderr).toContain(left);
      expect(stderr.split('\n').filter((line) => /^(?:row|\d+ rows:)/.test(line)).length).toBeLessThan(3);
    },
  );
});
