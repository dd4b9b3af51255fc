import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mapPresets } from '../../../src/config/maps.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const url = 'https://www.harborgoods.example/p/oakline-studio-headphones-2-m/3086431744';
let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterEach(() => workspace.remove());

const write = (name: string, text: string | Buffer): void =>
  writeFileSync(join(workspace.folder, name), text);
const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args]);

/** The orders that a file comes to. */
async function planned(...args: string[]) {
  const { code, stderr } = await bulk('plan', ...args, '--out', 'a.plan', '--force', '--no-prices');
  expect(code, stderr).toBe(0);
  const { stdout } = await bulk('show', 'a.plan', '--all', '-o', 'json');
  return JSON.parse(stdout).map(({ key: _, ...row }: Record<string, unknown>) => row);
}

describe('a saved map', () => {
  const heads = 'Ref\tUrl\tPreis\tName\tStrasse\tOrt\tPLZ\tLand\tHinweis';
  const line = (at: number, name: string): string =>
    `R-${at}\t${url}\t12,50\t${name}\t${at} Hauptstr\tBerlin\t10115\tDeutschland\t3" Rohr`;
  const flags = [
    ...['--map', 'Url=product_url', '--map', 'Preis=max_price', '--map', 'Name=name'],
    ...['--map', 'Strasse=address_line1', '--map', 'Ort=city', '--map', 'PLZ=postal_code'],
    ...['--map', 'Land=country', '--reference-column', 'Ref', '--namespace', 'nord', '--own', 'Hinweis'],
    ...['--encoding', 'latin1', '--delimiter', 'tab', '--quotes', 'none', '--locale', 'de'],
    ...['--default', 'phone_number=5125550100', '--default', 'metadata.team=nord'],
  ];

  test('holds all that reading took: the file is read again with the same result', async () => {
    write(
      'a.txt',
      Buffer.from([heads, line(1, 'Ida Müller'), line(2, 'Jo "Joe" Roy'), ''].join('\r\n'), 'latin1'),
    );
    const first = await planned('a.txt', ...flags, '--save-map', 'nord');
    expect(first).toHaveLength(2);
    expect(await planned('a.txt', '--use-map', 'nord')).toEqual(first);
    const [saved] = JSON.parse((await bulk('maps', '-o', 'json')).stdout);
    expect(saved).toMatchObject({
      name: 'nord',
      reading: { encoding: 'latin1', delimiter: 'tab', quotes: 'none', locale: 'de' },
      defaults: { phone_number: '5125550100', 'metadata.team': 'nord' },
      namespace: 'nord',
    });
    // What is uploaded by it is read in the same way by the command that goes on with it.
    expect((await bulk('upload', 'a.txt', '--use-map', 'nord')).code).toBe(0);
    expect((await bulk('upload', 'a.txt', ...flags)).stderr).toContain('2 placed already');
  });

  test('gives way to flags, and keeps what they do not name', async () => {
    write('a.txt', Buffer.from([heads, line(1, 'Ida Müller'), ''].join('\n'), 'latin1'));
    await bulk('validate', 'a.txt', '--local', ...flags, '--save-map', 'nord');
    const { stderr } = await bulk(
      'validate',
      'a.txt',
      '--local',
      '--use-map',
      'nord',
      '--default',
      'phone_number=030555010',
    );
    expect(stderr).toContain('phone_number is "030555010" by default in 1 row');
    expect(stderr).toContain('metadata.team is "nord" by default in 1 row');
    const utf8 = await bulk('validate', 'a.txt', '--local', '--use-map', 'nord', '--encoding', 'utf-8');
    expect([utf8.code, utf8.stderr]).toEqual([2, expect.stringContaining('a.txt is not utf-8 text')]);
  });

  test('holds the unit of whole amounts, also if only the setting says it', async () => {
    write(
      'a.csv',
      `product_url,max_price,name,address,city,state,zip,phone\n${url},45,Ada Byron,1 Main St,Austin,TX,78701,5125550100\n`,
    );
    const setting = ['config', 'set', 'amounts', 'units'];
    await errand(workspace, setting);
    expect((await bulk('validate', 'a.csv', '--local', '--own', 'none', '--save-map', 'x')).code).toBe(2);
    expect((await bulk('validate', 'a.csv', '--local', '--save-map', 'x')).code).toBe(0);
    await errand(workspace, ['config', 'unset', 'amounts']);
    const { code, stderr } = await bulk('validate', 'a.csv', '--local', '--use-map', 'x');
    expect([code, stderr]).toEqual([0, expect.stringContaining('at most $45.00')]);
  });
});

describe('a default', () => {
  const heads = 'product_url,max_price,name,address,city,state,zip,phone';
  const row = (phone: string): string => `${url},$45.00,Ada Byron,1 Main St,Austin,TX,78701,${phone}`;

  test('fills empty cells alone, and the results have the cells of the file', async () => {
    write('a.csv', `${heads}\n${row('')}\n${row('5125550199').replace('1 Main', '2 Main')}\n`);
    const flags = ['--default', 'phone=5125550100', '--default', 'country=US'];
    const { stderr, code } = await bulk('upload', 'a.csv', ...flags);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('phone is "5125550100" by default in 1 row');
    const { stdout } = await bulk('results', 'a');
    expect(stdout).toContain('78701,,US,');
    expect(stdout).not.toContain('5125550100');
    expect(stdout).toContain('78701,5125550199,');
  });

  test('is taken as it was by a file with too many cells: they are refused, not taken for it', async () => {
    write('a.csv', `${heads}\n${row('5125550199')},DE\n`);
    const { stdout } = await bulk('validate', 'a.csv', '--local', '--default', 'country=US', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject([{ column: 'column 9', value: 'DE' }]);
  });

  test.each([
    'product_url=https://a.example/1',
    'max_price=$45',
    'quantity=2',
    'idempotency_key=a',
    'nothing=x',
    'city=',
  ])('is refused where each row has to say it itself, or names no column: %s', async (given) => {
    write('a.csv', `${heads}\n${row('5125550199')}\n`);
    expect((await bulk('validate', 'a.csv', '--local', '--default', given)).code).toBe(2);
  });
});

describe('what a shop exports', () => {
  /** A line under the headings of a preset, with what the preset does not know. */
  function exported(name: string, more: Readonly<Record<string, string>> = {}): string {
    const preset = mapPresets.get(name);
    if (!preset) throw new Error(name);
    const cells: Record<string, string> = {
      ...{ 'metadata.order': '1001', quantity: '2', name: 'Ida Lund', first_name: 'Ida', last_name: 'Lund' },
      ...{ address_line1: '9 Oak Ave', address_line2: '', city: 'Austin', state: 'TX', postal_code: '78701' },
      ...{ country: 'United States', phone_number: '5125550100' },
    };
    const own = new Map(
      Object.entries(preset.columns).map(([column, [heading = '']]) => [heading, cells[column] ?? '']),
    );
    for (const [heading, cell] of Object.entries({ ...more, product_url: url, max_price: '$45.00' }))
      own.set(heading, cell);
    const quoted = [...own.values()].map((cell) => `"${cell}"`);
    return `${[...own.keys()].join(',')}\n${quoted.join(',')}\n`;
  }
  const shops = [...mapPresets.keys()];
  const validated = async (text: string, name: string) => {
    write('a.csv', text);
    const flags = ['--local', '--use-map', name, '--default', 'phone_number=5125550100', '-o', 'json'];
    const { code, stdout } = await bulk('validate', 'a.csv', ...flags);
    return { code, issues: JSON.parse(stdout || '[]') };
  };

  test.each(shops)('is read by its preset: %s', async (name) => {
    expect(await validated(exported(name), name)).toEqual({ code: 0, issues: [] });
  });

  test.each(
    shops.flatMap((name) => {
      const { calledOff = {}, fulfilled = {} } = mapPresets.get(name) ?? {};
      return Object.entries({ ...calledOff, ...fulfilled }).map(
        ([heading, [state = 'yes']]) => [name, heading, state] as const,
      );
    }),
  )('leaves out what was called off, or sent by the shop: %s, %s is %s', async (name, heading, state) => {
    const { issues } = await validated(exported(name, { [heading]: state }), name);
    expect(issues).toMatchObject([{ row: 2, column: heading, value: state }]);
  });

  test('of the shared examples: fulfilled lines are left out, and a default stands for the phone', async () => {
    for (const name of ['23-shopify.csv', '25-etsy.csv'])
      copyFileSync(join(import.meta.dirname, 'real-files', name), join(workspace.folder, name));
    const shopify = await bulk(
      'validate',
      '23-shopify.csv',
      '--local',
      '--use-map',
      'shopify',
      '--default',
      'phone_number=5125550100',
      '-o',
      'json',
    );
    expect(
      JSON.parse(shopify.stdout).map(({ row, column }: { row: number; column: string }) => [row, column]),
    ).toEqual([
      [4, 'Cancelled at'],
      [5, 'Financial Status'],
      [6, 'Fulfillment Status'],
      [7, 'Financial Status'],
    ]);
    const etsy = await bulk(
      ...['validate', '25-etsy.csv', '--local', '--use-map', 'etsy', '--default', 'phone_number=5125550100'],
      ...['--map', 'Supplier URL=product_url', '--map', 'Limit=max_price', '-o', 'json'],
    );
    expect(JSON.parse(etsy.stdout)).toMatchObject([
      { row: 3, column: 'Date Shipped' },
      { row: 3, column: 'postal_code' },
    ]);
  });
});
