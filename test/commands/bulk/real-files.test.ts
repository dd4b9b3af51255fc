import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { Terminal, unfolded } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterEach(() => workspace.remove());

/** Copies a fixture file as exported by shops and spreadsheets. */
function real(name: string): string {
  copyFileSync(join(import.meta.dirname, './real-files', name), join(workspace.folder, name));
  return name;
}

/** Runs a check on a terminal; returns its output and exit code. */
async function onTerminal(name: string, ...more: string[]): Promise<{ code: number | null; text: string }> {
  const args = ['bulk', 'validate', name, '--local', ...more];
  const terminal = new Terminal(workspace, 'errand', args, { columns: 200 });
  try {
    const code = await terminal.ended();
    return { code, text: unfolded(terminal.text) };
  } finally {
    terminal.close();
  }
}

const upload = (name: string, ...more: string[]) =>
  errand(workspace, ['bulk', 'upload', name, '--skip-invalid', '-o', 'json', ...more]);

describe('rows that end in several ways', () => {
  test.each([
    ['29-mixed-eol.csv', 4],
    ['35c-append-100-lf.csv', 103],
  ])('are all read and ordered: %s', async (name, rows) => {
    real(name);
    expect(await onTerminal(name)).toMatchObject({
      code: 0,
      text: expect.stringContaining(`${rows} rows, all valid`),
    });
    await errand(workspace, ['sandbox', 'trigger', 'wallet-funded', '--amount-cents', '1000000']);
    const sent = await upload(name);
    expect(sent).toMatchObject({ code: 0 });
    expect(JSON.parse(sent.stdout)).toMatchObject([{ rows }]);
  });
});

test('two URLs in one cell are an error with both, and nothing of it is ordered', async () => {
  const name = real('20b-two-urls-one-cell.csv');
  const [one, other] = ['headphones-standard/4271704384"', 'tea-20-bags/5565436800"'];
  const seen = await onTerminal(name);
  expect(seen).toMatchObject({ code: 7, text: expect.stringContaining('0 of 5 rows valid') });
  // A table may break a long URL.
  const text = seen.text.replace(/\s/g, '');
  for (const url of [one, other]) expect(text).toContain(url);
  const { code, stdout } = await errand(workspace, ['bulk', 'validate', name, '--local', '-o', 'json']);
  expect(code).toBe(7);
  const issues: { column: string; message: string }[] = JSON.parse(stdout);
  expect(issues.map(({ column }) => column)).toEqual(Array(5).fill('product_url'));
  for (const { message } of issues) {
    expect(message).toMatch(/^holds 2 URLs: .*; separate products by \|$/);
    for (const url of [one, other]) expect(message).toContain(url);
  }
  expect(await upload(name)).toMatchObject({ code: 7 });
});

describe('a stray quote that takes in the rows below', () => {
  const heads =
    'product_url,quantity,max_price,name,address_line1,city,state,postal_code,country,phone_number,note';
  const url = 'https://www.harborgoods.example/p/oakline-studio-headphones-2-m/3086431744';
  const row = (address: string, phone = '5125550100', note = 'x'): string =>
    `${url},1,$60.00,Mira Quint,${address},Austin,TX,78701,US,${phone},${note}`;
  const between = ['2 Cedar', '3 Cedar', '4 Cedar'].map((address) => row(address));

  test.each([
    ['in an invalid row', [row('"14 Cedar', ''), ...between, row('Cedar 14"', '')], 'address_line1', 2, 6],
    ['in a valid row, into the next', [row('"14 Cedar'), row('Cedar 14"')], 'address_line1', 2, 3],
    [
      'in a note',
      [row('1 Cedar', '5125550100', '"y'), ...between, row('9', '5125550100', 'z"')],
      'note',
      2,
      6,
    ],
    ['from a note to an address', [row('1 Cedar', '5125550100', '"y'), row('Cedar 14"')], 'note', 2, 3],
  ])('is said with its lines, and nothing is left out: %s', async (_, rows, column, first, last) => {
    const said = `opens a quote that ends lines below, so that the row spans lines ${first} to ${last}`;
    write('a.csv', heads, ...rows, row('51 Cedar Row'));
    const checked = await errand(workspace, ['bulk', 'validate', 'a.csv', '--local', '-o', 'json']);
    expect(checked.code).toBe(7);
    expect(JSON.parse(checked.stdout)).toContainEqual(
      expect.objectContaining({ row: 2, column, message: expect.stringContaining(said) }),
    );
    const { code, stderr } = await errand(workspace, ['bulk', 'upload', 'a.csv', '--skip-invalid']);
    expect(code).toBe(7);
    expect(stderr).toContain(`row 2: ${column}`);
    expect(stderr).toContain(said);
    expect(stderr).toContain('Correct the quotes of row 2 first');
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe('');
  });

  test('notes of many lines and an address of two are read, and rows with such notes are left out', async () => {
    const note = '"ring twice,\nsee https://a.example/x, then\nleave, please,\nby\nthe\ndoor"';
    write('a.csv', heads, row('"14 Cedar\nApt 2"', '5125550100', note), row('1 Cedar', '', note));
    const { code, stdout } = await upload('a.csv');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ rows: 1 }]);
  });
});

const write = (name: string, ...lines: string[]): void =>
  writeFileSync(join(workspace.folder, name), `${lines.join('\n')}\n`);

/** Quantity and country of each planned order. */
async function planned(
  name: string,
  ...flags: string[]
): Promise<readonly [quantity: number, country: string][]> {
  const plan = ['bulk', 'plan', name, '--out', 'a.plan', '--force', '--no-prices', ...flags];
  await errand(workspace, plan);
  const { rows } = JSON.parse(readFileSync(join(workspace.folder, 'a.plan'), 'utf8'));
  return rows.map(
    ({ order }: { order: { products: { quantity: number }[]; shipping_address: { country: string } } }) => [
      order.products[0]?.quantity,
      order.shipping_address.country,
    ],
  );
}

describe('a heading that looks like a column and is none', () => {
  const name = '33-qty-heading.csv';
  const menge = '"Menge" looks like quantity and is not used: --map Menge=quantity, or --own Menge';
  const land = '"Land" looks like country and is not used: --map Land=country, or --own Land';

  test.each([
    [['bulk', 'validate', name, '--local']],
    [['bulk', 'validate', name]],
    [['bulk', 'upload', name, '--skip-invalid']],
    [['bulk', 'upload', name, '--dry-run']],
    [['bulk', 'plan', name, '--out', 'a.plan']],
    [['policy', 'check', '--file', name]],
  ])('stops %j, with the --map that uses it', async (line) => {
    real(name);
    const { code, stdout, stderr } = await errand(workspace, line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: the headings of ${name}: ${menge}; ${land}\n`);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe('');
  });

  test('stops at a terminal too, and is told to scripts with what it looks like', async () => {
    real(name);
    const seen = await onTerminal(name);
    expect(seen.code).toBe(2);
    expect(seen.text.replace(/\s+/g, ' ')).toContain(`${menge}; ${land}`);
    const { stderr } = await errand(workspace, ['bulk', 'upload', name, '-o', 'json']);
    expect(JSON.parse(stderr).error).toMatchObject({
      ...{ category: 'usage', outcome: 'not_sent' },
      details: { unused: ['Menge=quantity', 'Land=country'] },
    });
  });

  test('is used, or kept as a column of its own, as the flags say, and as a map has saved it', async () => {
    real(name);
    expect(await planned(name, '--map', 'Menge=quantity', '--map', 'Land=country')).toEqual([[7, 'DE']]);
    expect(await planned(name, '--map', 'Menge=quantity', '--own', 'Land', '--save-map', 'mine')).toEqual([
      [7, 'US'],
    ]);
    expect(JSON.parse(readFileSync(join(workspace.folder, 'a.plan'), 'utf8')).headings).toContain('Land');
    expect(await planned(name, '--use-map', 'mine')).toEqual([[7, 'US']]);
    expect(await planned(name, '--use-map', 'mine', '--map', 'Land=country')).toEqual([[7, 'DE']]);
    expect(await planned(name, '--use-map', 'mine', '--own', 'Menge')).toEqual([[1, 'US']]);
    const { stdout } = await errand(workspace, [
      'bulk',
      'maps',
      '-o',
      'json',
      '--query',
      "[?kind=='saved'].columns[]",
    ]);
    expect(JSON.parse(stdout)).toEqual([
      { heading: 'Menge', column: 'quantity' },
      { heading: 'Land', column: null },
    ]);
    // A later file may omit a kept heading.
    write(
      'next.csv',
      'product_url,Menge,max_price,name,address,city,zip,phone',
      'https://x.example/1,3,$9.00,A B,1 St,X,78701,5125550100',
    );
    expect(await planned('next.csv', '--use-map', 'mine')).toEqual([[3, 'US']]);
  });

  test('a column that would be used is kept too, and comes back with its heading', async () => {
    write(
      'own.csv',
      'product_url,max_price,name,address,Unit,city,zip,phone',
      'https://x.example/1,$9.00,A B,1 St,EA,X,78701,5125550100',
    );
    await planned('own.csv', '--own', 'Unit');
    const { rows, file_headings: headings } = JSON.parse(
      readFileSync(join(workspace.folder, 'a.plan'), 'utf8'),
    );
    expect(rows[0].order.shipping_address).not.toHaveProperty('address_line2');
    expect(headings).toContain('Unit');
  });

  test.each([
    [['--own', 'Lan'], '--own names a heading that is not there: Lan'],
    [['--own', 'Land', '--map', 'Land=country'], '--map and --own both name "Land"; give one of them'],
  ])('%j is refused', async (flags, message) => {
    real(name);
    const { code, stderr } = await errand(workspace, ['bulk', 'validate', name, '--local', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('several are told together, and none where a heading is the column', async () => {
    const cells = 'https://x.example/1,$9.00,A B,1 St,X,78701,5125550100,2,1';
    const known = 'product_url,max_price,name,address,city,zip,phone';
    write('several.csv', `${known},Qty Ordered,Qty Shipped`, cells);
    const { stderr } = await errand(workspace, ['bulk', 'validate', 'several.csv', '--local']);
    expect(stderr).toContain(
      `"Qty Ordered" and "Qty Shipped" look like quantity and are not used: --map 'Qty Ordered=quantity', or --map 'Qty Shipped=quantity', or --own 'Qty Ordered' --own 'Qty Shipped'`,
    );
    expect(await planned('several.csv', '--map', 'Qty Ordered=quantity')).toEqual([[2, 'US']]);
    write('there.csv', `${known},quantity,Pieces`, cells);
    expect(await planned('there.csv')).toEqual([[2, 'US']]);
  });

  const known = 'product_url,max_price,name,address,city,zip,phone';
  const order = 'https://x.example/1,$9.00,A B,1 St,X,78701,5125550100';
  const check = (name: string, ...more: string[]) =>
    errand(workspace, ['bulk', 'validate', name, '--local', ...more]);

  test.each([
    ['quantity', 'Menge', '7', [7, 'US']],
    ['qty', "Q'ty", '7', [7, 'US']],
    ['country', 'Ctry', 'DE', [1, 'DE']],
  ])('stops a file in which all cells of %s are empty', async (column, heading, cell, wanted) => {
    write(
      'empty.csv',
      `${known},${column},${heading}`,
      `${order},,${cell}`,
      `${order.replace('1 St', '2 St')}, ,`,
    );
    const meant = column === 'qty' ? 'quantity' : column;
    for (const line of [
      ['bulk', 'validate', 'empty.csv', '--local'],
      ['bulk', 'upload', 'empty.csv', '--skip-invalid', '--yes'],
      ['bulk', 'plan', 'empty.csv', '--out', 'a.plan'],
      ['policy', 'check', '--file', 'empty.csv'],
    ]) {
      const { code, stdout, stderr } = await errand(workspace, line);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(
        `all cells under "${column}" are empty, and "${heading}" looks like ${meant} and is not used: --map `,
      );
    }
    expect(existsSync(join(workspace.folder, 'a.plan'))).toBe(false);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe('');
    expect((await planned('empty.csv', '--map', `${heading}=${meant}`))[0]).toEqual(wanted);
    expect((await planned('empty.csv', '--own', heading))[0]).toEqual([1, 'US']);
    // One filled cell shows that the column is in use; if both columns are empty, nothing is lost.
    write('used.csv', `${known},${column},${heading}`, `${order},,${cell}`, `${order},${cell},${cell}`);
    expect((await planned('used.csv'))[1]).toEqual(wanted);
    write('both.csv', `${known},${column},${heading}`, `${order},,`);
    expect(await planned('both.csv')).toEqual([[1, 'US']]);
  });

  test('no cell under an empty heading is lost', async () => {
    write(
      'gap.csv',
      `${known.replace(',max', ',,max')}`,
      order.replace(',', ',,'),
      order.replace(',', ',7,'),
    );
    const { code, stdout } = await check('gap.csv', '-o', 'json');
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        row: 3,
        column: 'column 2',
        value: '7',
        message: expect.stringMatching(/^stands under an empty heading; /),
      },
    ]);
    write('gap.csv', `${known.replace(',max', ',,max')}`, order.replace(',', ',,'));
    expect(await check('gap.csv')).toMatchObject({ code: 0 });
  });

  test.each(['"Order\nQty"', '"Order\r\n Qty"', 'Order\u00a0Qty', 'Order  Qty'])(
    '%j is named with a space, by its own breaks too, and keeps its name as an own column',
    async (heading) => {
      write('broken.csv', `${known},${heading}`, `${order},7`);
      const { code, stderr } = await check('broken.csv');
      expect(code).toBe(2);
      expect(stderr).toContain(
        `"Order Qty" looks like quantity and is not used: --map 'Order Qty=quantity', or --own 'Order Qty'`,
      );
      const written = heading.replaceAll('"', '');
      for (const name of ['Order Qty', written])
        expect(await planned('broken.csv', '--map', `${name}=quantity`)).toEqual([[7, 'US']]);
      expect(await planned('broken.csv', '--own', 'Order Qty', '--save-map', 'broken')).toEqual([[1, 'US']]);
      expect(JSON.parse(readFileSync(join(workspace.folder, 'a.plan'), 'utf8')).headings).toContain(written);
      expect(await planned('broken.csv', '--use-map', 'broken')).toEqual([[1, 'US']]);
    },
  );

  test.each([
    [['Menge', 'Menge'], 'two columns are headed "Menge"; rename one of them'],
    [['Order Qty', 'Order  Qty'], 'two columns are headed "Order Qty"; rename one of them'],
    [
      ['Menge', 'Men\u200bge'],
      'two columns are headed "Menge", one of them with a zero-width space (U+200B) in it; rename one of them',
    ],
    [
      ['quantity', 'quantity\u200b'],
      '"quantity" and "quantity" with a zero-width space (U+200B) in it both mean quantity',
    ],
  ])('of %j one has to be renamed', async (headings, message) => {
    write('double.csv', `${known},${headings.join(',')}`, `${order},3,4`);
    const { code, stderr } = await check('double.csv');
    expect(code).toBe(2);
    expect(stderr.split('\n')[0]).toBe(`error: the headings of double.csv: ${message}`);
  });
});

describe('characters that nobody sees', () => {
  test('are ignored in a heading, which is said, and named in a cell that is refused', async () => {
    const name = real('14b-zwsp-heading.csv');
    const told = 'the heading "quantity" holds a zero-width space (U+200B), which is ignored';
    const seen = await onTerminal(name);
    expect(seen).toMatchObject({ code: 7, text: expect.stringContaining(told) });
    expect(seen.text.replace(/\s+/g, ' ')).toContain('the cell holds a no-break space (U+00A0)');
    await errand(workspace, ['sandbox', 'trigger', 'wallet-funded', '--amount-cents', '1000000']);
    const sent = await upload(name);
    expect(sent).toMatchObject({ code: 0 });
    expect(sent.stderr).toContain(told);
    expect(sent.stderr).toContain(
      'row 2: name "Mira\u00a0Quint" needs a first and a last name; the cell holds a no-break space (U+00A0)',
    );
    await errand(workspace, ['sandbox', 'advance', '1h']);
    const { stdout } = await errand(workspace, [
      'order',
      'list',
      '-o',
      'json',
      '--query',
      '[].items[].quantity',
    ]);
    expect(JSON.parse(stdout)).toEqual([5]);
  });

  test.each(['\u200b', '\ufeff', '\u00ad', '\u200f', '\u2066', '\u2060', '\u{e0020}'])(
    '%j within a heading, a map and a column that is kept',
    async (hidden) => {
      const row = 'https://x.example/1,$9.00,A B,1 St,X,78701,5125550100,4,US';
      write(
        'hidden.csv',
        `product_url,max_price,name,address,city,zip,phone,quan${hidden}tity,Lan${hidden}d`,
        row,
      );
      expect(await planned('hidden.csv', '--own', `Lan${hidden}d`)).toEqual([[4, 'US']]);
      expect(await planned('hidden.csv', '--map', 'Land=country')).toEqual([[4, 'US']]);
    },
  );
});

test.each([
  ['v1.csv', 0, /placed already/],
  ['v2.csv', 5, /1 row is like an earlier order/],
  ['v3.csv', 5, /1 row is like an earlier order/],
])('a row that was saved again is the same need: %s', async (name, exit, said) => {
  expect((await errand(workspace, ['bulk', 'upload', real('base.csv')])).code).toBe(0);
  const again = await errand(workspace, ['bulk', 'upload', real(name)]);
  expect(again).toMatchObject({ code: exit, stderr: expect.stringMatching(said) });
  const agreed = await errand(workspace, ['bulk', 'upload', name, '--skip-duplicates']);
  expect(agreed.code).toBe(0);
  const { stdout } = await errand(workspace, ['bulk', 'list', '-o', 'json']);
  expect(JSON.parse(stdout)).toMatchObject([{ row_count: 1 }]);
});
