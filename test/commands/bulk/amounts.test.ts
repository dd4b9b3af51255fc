import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { beginWithCopies } from '../../support/copies.ts';
import { embeddedShop, errand } from '../../support/run.ts';
import { prefer, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let product: string;

beginWithCopies(
  async (used) => {
    product = `${await embeddedShop()}test-success`;
    // Creates the sandbox and its key.
    await errand(used, ['wallet']);
  },
  (copy) => {
    workspace = copy;
  },
);

function file(
  heading: string,
  prices: readonly string[],
  more: { heading?: string; cell?: string } = {},
): void {
  const { heading: own = 'note', cell = 'x' } = more;
  const rows = prices.map(
    (price, row) => `${product},"${price}",Ada Byron,${row} Main St,Austin,TX,78701,5125550100,${cell}`,
  );
  const headings = `product_url,${heading},name,address,city,state,zip,phone,${own}`;
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
}

const upload = (...more: string[]) =>
  errand(workspace, ['bulk', 'upload', 'orders.csv', '--dry-run', ...more]);

/** The ceilings a dry run would send. */
async function ceilings(...more: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await upload(...more);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout).body.rows.map((row: Record<string, string>) => row.max_price);
}

const failure = ({ stderr }: { stderr: string }) => JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

describe('a column of prices', () => {
  test.each([
    ['max_price_cents', ['4500', '0', '1299'], ['4500', '0', '1299']],
    ['Max Price Cents', ['4500'], ['4500']],
    [
      'max_price',
      ['$45.00', '12.5', '$1,250', '$ 3', 'USD 9.99', '1,250.00'],
      ['4500', '1250', '125000', '300', '999', '125000'],
    ],
  ])('%s: %j is sent as cents', async (heading, prices, cents) => {
    file(heading, prices);
    expect(await ceilings()).toEqual(cents);
  });

  test('of bare whole numbers is refused once for the file, with both readings and totals', async () => {
    file('max_price', ['45', '100', '7']);
    const refused = await upload('-o', 'json');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    const error = failure(refused);
    expect(error.message).toBe(
      'orders.csv: max_price can be read in two ways: 45 (row 2) means $45.00 or $0.45, all rows $152.00 or $1.52',
    );
    const commands = error.next.map(({ command }: { command: string }) => command);
    expect(commands).toEqual([
      'errand bulk upload orders.csv --dry-run -o json --amounts units',
      'errand bulk upload orders.csv --dry-run -o json --amounts cents',
    ]);
    expect(await ceilings('--amounts', 'units')).toEqual(['4500', '10000', '700']);
    expect(await ceilings('--amounts', 'cents')).toEqual(['45', '100', '7']);
    const checked = await errand(workspace, ['bulk', 'validate', 'orders.csv', '--local']);
    expect(checked.code).toBe(2);
    expect(checked.stderr).toContain('45 (row 2) means $45.00 or $0.45');
  });

  test('is read as `config set amounts` says; a heading in cents stays in cents', async () => {
    await errand(workspace, ['config', 'set', 'amounts', 'units']);
    file('max_price', ['45', '12.50']);
    expect(await ceilings()).toEqual(['4500', '1250']);
    expect(await ceilings('--amounts', 'units')).toEqual(['4500', '1250']);
    file('max_price_cents', ['4500']);
    expect(await ceilings()).toEqual(['4500']);
  });

  describe('where `config set amounts cents` is set', () => {
    beforeEach(() => prefer(workspace, { amounts: 'cents' }));

    test.each([
      ['max_price', ['4500', '1299'], ['4500', '1299']],
      ['max_price', ['12.50', '$45', 'USD 3'], ['1250', '4500', '300']],
      ['max_price', ['$45', '12.50'], ['4500', '1250']],
      ['max_price_cents', ['4500'], ['4500']],
    ])('%s: %j keeps its signs and decimals', async (heading, prices, cents) => {
      file(heading, prices);
      expect(await ceilings()).toEqual(cents);
    });

    test('a map that was saved reads both kinds of files', async () => {
      file('Limit', ['4500']);
      expect(await ceilings('--map', 'Limit=max_price', '--save-map', 'theirs')).toEqual(['4500']);
      file('Limit', ['12.50', '$45']);
      expect(await ceilings('--use-map', 'theirs')).toEqual(['1250', '4500']);
    });

    test('decimals are refused where the flag says cents, and grouped numbers are cents as they were', async () => {
      file('max_price', ['12.50']);
      const strict = await upload('--amounts', 'cents');
      expect(strict.code).toBe(7);
      expect(strict.stderr).toContain('is in cents; write 1250 for 12.50');
      file('max_price', ['1,250', '4500']);
      expect(await ceilings('--locale', 'en')).toEqual(['1250', '4500']);
    });

    test.each([
      [['12.50', '4500'], 2, 'mixes bare whole numbers and amounts with decimals'],
      [['4500', '12.50'], 7, 'is in cents; write 1250 for 12.50'],
      [['', '0', '12.50', '4500'], 2, 'mixes bare whole numbers'],
      [['soon'], 7, 'takes an amount'],
    ])('%j is refused', async (prices, code, reason) => {
      file('max_price', prices);
      const refused = await upload();
      expect(refused.code, refused.stderr).toBe(code);
      expect(refused.stderr).toContain(reason);
    });

    test('a batch of decimals is retried from its file', async () => {
      prefer(workspace, { 'sandbox-speed': 50 });
      product = `${await embeddedShop()}test-out-of-stock`;
      file('max_price', ['$50.00', '40.5']);
      const uploaded = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--watch', '-o', 'id']);
      const batch = uploaded.stdout.trim();
      const again = ['bulk', 'retry', batch, '--file', 'orders.csv', '--to', 'again.csv'];
      const written = await errand(workspace, again);
      expect(written.code, written.stderr).toBe(0);
      const prices = readFileSync(join(workspace.folder, 'again.csv'), 'utf8');
      expect(prices).toContain(',5000,');
      expect(prices).toContain(',4050,');
      const checked = await errand(workspace, ['policy', 'check', '--file', 'orders.csv', '-o', 'json']);
      expect(checked.stderr).not.toContain('in cents');
    });
  });

  test('of both kinds is refused, naming a row of each', async () => {
    file('max_price', ['12.50', '0.00001', '45']);
    const refused = await upload('-o', 'json');
    expect(refused.code).toBe(2);
    expect(failure(refused).message).toBe(
      'orders.csv: max_price mixes bare whole numbers and amounts with decimals or a sign: row 4 has 45, row 2 has 12.50',
    );
  });

  test('of both kinds names --amounts units as a way on where it is one', async () => {
    file('max_price', ['12.50', '45']);
    const [way] = failure(await upload('-o', 'json')).next;
    expect(way.command).toBe('errand bulk upload orders.csv --dry-run -o json --amounts units');
    expect(await ceilings('--amounts', 'units')).toEqual(['1250', '4500']);
    file('max_price', ['12.50', '45', '1,250']);
    expect(failure(await upload('-o', 'json')).next).toEqual([]);
    expect(await ceilings('--amounts', 'units', '--locale', 'en')).toEqual(['1250', '4500', '125000']);
    file('max_price', ['1.250', '12,50']);
    expect(await ceilings('--locale', 'de')).toEqual(['125000', '1250']);
  });

  test.each([
    ['max_price', 'EUR 50', 'is not in USD; the service'],
    ['max_price', '€50', 'is not in USD; the service'],
    ['max_price', '12,50', 'has a decimal comma; --locale de, or your own, reads such a file'],
    ['max_price', '1.250', 'has 3 decimals; an amount has at most 2; --locale de reads it as 1250'],
    ['max_price', '1,250', '--locale en reads such a file, or write it without the comma'],
    ['max_price', '$0.00', 'buys nothing'],
    ['max_price', '-5.00', 'must not be negative'],
    ['max_price', '', 'is missing'],
    ['max_price', 'soon', 'takes an amount'],
    ['max_price_cents', '12.50', 'write 1250 for 12.50'],
    ['max_price_cents', '$12', 'write 1200 for $12'],
    ['max_price_cents', 'EUR 12', 'is not in USD; the service'],
    ['max_price_cents', '0x10', 'takes an amount'],
  ])('%s of "%s" is refused, once and by row', async (heading, price, reason) => {
    file(heading, [heading === 'max_price' ? '5.00' : '500', price]);
    const checked = await errand(workspace, ['bulk', 'validate', 'orders.csv', '--local', '-o', 'json']);
    expect(checked.code, checked.stderr).toBe(7);
    expect(JSON.parse(checked.stdout)).toEqual([
      {
        row: 3,
        column: price === '' ? 'max_price' : heading,
        value: price,
        message: expect.stringContaining(reason),
      },
    ]);
  });

  test.each([
    ['currency', 'EUR', 7],
    ['Currency Code', 'gbp', 7],
    ['currency', 'usd', 0],
    ['currency', '', 0],
    ['my_currency_note', 'EUR', 0],
  ])('whose rows have "%s" of "%s" ends with %s', async (heading, cell, code) => {
    file('max_price_cents', ['500'], { heading, cell });
    const checked = await errand(workspace, ['bulk', 'validate', 'orders.csv', '--local', '-o', 'json']);
    expect(checked.code, checked.stderr).toBe(code);
    if (code === 7)
      expect(JSON.parse(checked.stdout)).toMatchObject([{ row: 2, column: heading, value: cell }]);
  });

  test('is headed once', async () => {
    file('max_price_cents', ['500'], { heading: 'Max Price', cell: '$5.00' });
    const refused = await upload();
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('"max_price_cents" and "Max Price" both hold the price');
  });

  test('is mapped from a heading of their own', async () => {
    file('Limit', ['500']);
    expect(await ceilings('--map', 'Limit=max_price_cents')).toEqual(['500']);
    expect((await upload('--map', 'Limit=max_price')).code).toBe(2);
  });
});

test('the same orders have the same keys, however their prices are written', async () => {
  const keys = async (...more: string[]) =>
    JSON.parse((await upload(...more)).stdout).body.rows.map(
      (row: Record<string, string>) => row.idempotency_key,
    );
  file('max_price_cents', ['4500', '1299']);
  const cents = await keys();
  file('max_price', ['$45', '12.99']);
  expect(await keys()).toEqual(cents);
  file('max_price', ['4500', '1299']);
  expect(await keys('--amounts', 'cents')).toEqual(cents);
});

test('bulk template is valid as it stands, its prices in cents', async () => {
  const { stdout } = await errand(workspace, ['bulk', 'template']);
  writeFileSync(join(workspace.folder, 'orders.csv'), stdout);
  expect(await ceilings()).toEqual(['5000', '12000']);
});

test('--skip-invalid leaves out the rows that the service refuses, and counts them everywhere', async () => {
  const unreachable = product.replace(/[^/]*$/, 'test-url-unreachable');
  const row = (url: string, price: string, street: string) =>
    `${url},${price},Ada Byron,${street},Austin,TX,78701,5125550100`;
  const rows = [
    row(product, '5000', '1 Main St'),
    row(unreachable, '5000', '2 Main St'),
    row(product, '50.5', '3 Main St'),
    row(product, '4000', '4 Main St'),
  ];
  const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone';
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const refused = await errand(workspace, ['bulk', 'upload', 'orders.csv']);
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain('2 of 4 rows valid; nothing was sent');
  const uploaded = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--skip-invalid', '-o', 'json']);
  expect(uploaded.code, uploaded.stderr).toBe(0);
  expect(uploaded.stderr).toMatch(/^row 3: product_url ".*^row 4: max_price_cents /ms);
  const [{ id, rows: count }] = JSON.parse(uploaded.stdout);
  expect(count).toBe(2);
  const batch = JSON.parse((await errand(workspace, ['bulk', 'get', id, '-o', 'json'])).stdout);
  expect(batch).toMatchObject({ row_count: 2, failed_count: 0 });
});

test('bulk retry --to writes a file that can be uploaded as it is, its prices in cents', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  product = `${await embeddedShop()}test-out-of-stock`;
  file('max_price', ['$50.00', '40.5']);
  const uploaded = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--watch', '-o', 'id']);
  const batch = uploaded.stdout.trim();
  const written = await errand(workspace, ['bulk', 'retry', batch, '--to', 'orders.csv', '--force']);
  expect(written.code, written.stderr).toBe(0);
  expect(readFileSync(join(workspace.folder, 'orders.csv'), 'utf8')).toContain(',max_price_cents,');
  expect(await ceilings()).toEqual(['5000', '4050']);
});
