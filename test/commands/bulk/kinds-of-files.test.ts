import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

/** Ten files of each kind of trouble that exports have, each as little as shows it. */
const url = 'https://www.harborgoods.example/p/oakline-studio-headphones-2-m/3086431744';
const other = 'https://www.harborgoods.example/p/alderbrook-organic-peppermint-tea-20-bags/5565436800';
const columns = {
  ...{
    product_url: url,
    quantity: '1',
    max_price: '$60.00',
    name: 'Mira Quint',
    address_line1: '14 Cedar Row',
  },
  ...{ city: 'Austin', state: 'TX', postal_code: '78701', country: 'US', phone_number: '5125550100' },
};
type Cells = Readonly<Record<string, string>>;

let workspace: Workspace;
beforeAll(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterAll(() => workspace.remove());

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const fileOf = (...rows: readonly Cells[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map(quoted).join(',')}\n`)
    .join('');
const row = (cells: Cells): Cells => ({ ...columns, ...cells });
/** A row in which a heading stands in place of a column. */
const headed = (column: string, heading: string, cell: string, of: Cells = columns): Cells =>
  Object.fromEntries(
    Object.entries(of).map(([name, text]) => (name === column ? [heading, cell] : [name, text])),
  );

async function checked(text: string | Buffer, ...flags: string[]) {
  writeFileSync(join(workspace.folder, 'a.csv'), text);
  const { code, stdout, stderr } = await errand(workspace, [
    'bulk',
    'validate',
    'a.csv',
    '--local',
    '-o',
    'json',
    ...flags,
  ]);
  const issues: { row: number; column: string; message: string }[] = stdout === '' ? [] : JSON.parse(stdout);
  return { code, stderr, issues, columns: issues.map(({ column }) => column) };
}

/** Quantity and country of each order of a file. */
async function ordered(text: string | Buffer, ...flags: string[]) {
  writeFileSync(join(workspace.folder, 'a.csv'), text);
  const { code, stdout, stderr } = await errand(workspace, [
    ...['bulk', 'upload', 'a.csv', '--dry-run', '--run', `${Math.random()}`, '-o', 'json', ...flags],
  ]);
  expect(code, stderr).toBe(0);
  const { body } = JSON.parse(stdout);
  const rows: Cells[] = body.rows;
  return rows.map((cells) =>
    Object.fromEntries(Object.entries(cells).map(([heading, cell]) => [heading.toLowerCase(), cell])),
  );
}

describe('a heading that looks like a column and is not used stops the file', () => {
  test.each([
    ['quantity', 'Units', '3'],
    ['quantity', 'Stückzahl', '3'],
    ['quantity', 'Q.tà', '3'],
    ['quantity', 'Pcs', '3'],
    ['country', 'Zielland', 'DE'],
    ['country', 'Nazione', 'IT'],
    ['country', 'Ship To Country', 'DE'],
    ['state', 'Bundesland', 'Bayern'],
    ['state', 'Ship To State', 'TX'],
    ['address_line2', 'Apt', '4b'],
  ])('%s under %s', async (column, heading, cell) => {
    const has = Object.hasOwn(columns, column);
    const file = has ? headed(column, heading, cell) : { ...columns, [heading]: cell };
    const { code, stderr } = await checked(fileOf(file));
    expect(code).toBe(2);
    expect(stderr).toContain(`--map`);
    expect(JSON.parse(stderr).error.details.unused).toEqual([`${heading}=${column}`]);
  });
});

describe('an invisible character in a heading is ignored', () => {
  test.each([
    '\u200b',
    '\u200c',
    '\u200d',
    '\u200e',
    '\u200f',
    '\u00ad',
    '\u2060',
    '\ufeff',
    '\u061c',
    '\u180e',
  ])('%j', async (character) => {
    const rows = await ordered(fileOf(headed('quantity', `quant${character}ity`, '5')));
    expect(rows).toMatchObject([{ quantity: '5' }]);
  });
});

describe('two URLs in one cell are an error', () => {
  test.each([
    ...[`${url},${other}`, `${url} ${other}`, `${url};${other}`, `${url}\n${other}`, `${url}\t${other}`],
    ...[
      `${url} , ${other}`,
      `${url}\r\n${other}`,
      `${url};  ${other}`,
      `${url}、${other}`,
      `${url} www.harborgoods.example/p/x`,
    ],
  ])('%j', async (cell) => {
    const { issues } = await checked(fileOf(row({ product_url: cell })));
    expect(issues).toMatchObject([
      { row: 2, column: 'product_url', message: expect.stringMatching(/2 URLs/) },
    ]);
  });
});

describe('rows are all read, however their lines end', () => {
  const [n, r, rn] = ['\n', '\r', '\r\n'];
  test.each([
    [n, n, n],
    [rn, rn, rn],
    [r, r, r],
    [rn, n, n],
    [n, rn, n],
    [rn, rn, n],
    [rn, r, n],
    [n, r, rn],
    [r, rn, n],
    [r, n, r],
  ])('%j, %j, %j', async (...ends) => {
    const lines = fileOf(row({}), row({ quantity: '2' }), row({ quantity: '3' }))
      .trimEnd()
      .split('\n');
    const text = lines.map((line, at) => line + (ends[at] ?? '')).join('');
    expect((await ordered(text)).map(({ quantity }) => quantity)).toEqual(['1', '2', '3']);
  });
});

describe('an error of the spreadsheet is named', () => {
  test.each([
    ['max_price', '#DIV/0!'],
    ['name', '#VALUE!'],
    ['city', '#BEZUG!'],
    ['state', '#NOME?'],
    ['postal_code', '#####'],
    ['phone_number', '#ZAHL!'],
    ['address_line1', '=B2&" "&C2'],
    ['country', '#N/D'],
    ['quantity', '#NUM!'],
    ['name', '#SPILL!'],
  ])('%s %s', async (column, cell) => {
    const { issues } = await checked(fileOf(row({ [column]: cell })));
    expect(issues).toMatchObject([{ row: 2, column, message: expect.stringMatching(/spreadsheet/) }]);
  });
});

describe('what a spreadsheet made of numbers is refused, with what happened to it', () => {
  test.each([
    ['postal_code', '2134'],
    ['postal_code', '02134.0'],
    ['postal_code', '21341234'.padStart(9, '0')],
    ['postal_code', '501'],
    ['phone_number', '5.12555E+09'],
    ['phone_number', '5125550100.0'],
    ['phone_number', '5,13E+9'],
    ['quantity', '2.0'],
    ['quantity', '1e3'],
    ['quantity', '1,0'],
  ])('%s %s', async (column, cell) => {
    const { columns: found } = await checked(fileOf(row({ [column]: cell })));
    expect(found).toEqual([column]);
  });
});

describe('a quantity is a whole number from 1', () => {
  test.each(['0', '-1', '1.5', '2 pcs', '10/10', 'two', '1 000', '½', '1-2', '+'])(
    '%s is refused',
    async (quantity) => {
      expect((await checked(fileOf(row({ quantity })))).columns).toEqual(['quantity']);
    },
  );
  test.each(['', ' 3 ', '007', "'4", '12'])('%j is one', async (quantity) => {
    expect((await checked(fileOf(row({ quantity })))).issues).toEqual([]);
  });
});

describe('the same row saved anew is the same need', () => {
  test.each([
    { max_price: '60.00' },
    { phone_number: '(512) 555-0100' },
    { state: 'Texas' },
    { country: 'United States' },
    { name: 'MIRA  QUINT' },
    { address_line1: '14 cedar row' },
    { address_line1: '14 Cedar Row.' },
    { postal_code: '78701-1234' },
    { country: 'Vereinigte Staaten' },
    { product_url: `${url}?utm_source=mail` },
    { name: 'Mira Quint ' },
  ])('%j', async (cells) => {
    const own = makeWorkspace();
    try {
      const upload = async (text: string) => {
        writeFileSync(join(own.folder, 'a.csv'), text);
        return errand(own, ['bulk', 'upload', 'a.csv', '--skip-duplicates']);
      };
      expect((await upload(fileOf(columns))).code).toBe(0);
      const again = await upload(fileOf(row(cells)));
      expect(again.code, again.stderr).toBe(0);
      expect(again.stdout + again.stderr).not.toMatch(/\b1 new\b/);
      const { stdout } = await errand(own, ['bulk', 'list', '-o', 'id']);
      expect(stdout.trim().split('\n')).toHaveLength(1);
    } finally {
      own.remove();
    }
  });
});

describe('a reference keeps a requisition what it is, whatever else changes in its row', () => {
  test.each([
    { 'metadata.cost_centre': 'CC-1' },
    { max_price: '$75.00' },
    { phone_number: '5125550199' },
    { note: 'x' },
    { max_price: '60.00' },
    { state: 'Texas' },
    { country: 'USA' },
    { gift_message: 'Hi', is_gift: 'true' },
    { po_number: 'PO-1' },
    { 'Needed By': '12/01/2026' },
  ])('%j', async (cells) => {
    const own = makeWorkspace();
    try {
      const upload = async (text: string) => {
        writeFileSync(join(own.folder, 'a.csv'), text);
        return errand(own, ['bulk', 'upload', 'a.csv', '--reference-column', 'Req']);
      };
      const first = { Req: 'REQ-1', ...columns };
      expect((await upload(fileOf(first))).code).toBe(0);
      const again = await upload(fileOf({ ...first, ...cells } as Cells));
      expect(again.code, again.stderr).toBe(0);
      const { stdout } = await errand(own, ['bulk', 'list', '-o', 'id']);
      expect(stdout.trim().split('\n')).toHaveLength(1);
    } finally {
      own.remove();
    }
  });
});

describe('encodings, delimiters and what stands above the headings make no difference', () => {
  const text = fileOf(row({ name: 'Mira Müller', quantity: '4' }));
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  test.each<[string, string | Buffer, ...string[]]>([
    ['a byte order mark', `\ufeff${text}`],
    ['UTF-16', utf16],
    ['UTF-16, big end first', Buffer.from(utf16).swap16()],
    ['Latin-1', Buffer.from(text, 'latin1'), '--encoding', 'latin1'],
    ['semicolons', text.replaceAll(',', ';')],
    ['tabs', text.replaceAll(',', '\t')],
    ['pipes', text.replaceAll(',', '|')],
    ['sep=', `sep=;\n${text.replaceAll(',', ';')}`],
    ['a title and a blank line', `Orders of May\n\n${text}`],
    ['headings in capitals', text.replace(/^.*$/m, (line) => line.toUpperCase())],
    ['a quote as text', `${text.replaceAll(',', '\t').replace('14 Cedar', '14" Cedar')}`, '--quotes', 'none'],
  ])('%s', async (_, bytes, ...flags) => {
    expect(await ordered(bytes, ...flags)).toMatchObject([
      { quantity: '4', ...(flags.length === 2 && flags[0] === '--quotes' ? {} : { name: 'Mira Müller' }) },
    ]);
  });
});
