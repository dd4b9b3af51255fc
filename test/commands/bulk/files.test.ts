import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { embeddedShop, errand, shell } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const headings = 'product_url,max_price_cents,name,address,city,zip,phone';

/** A batch whose only row has failed. */
async function failedBatch(): Promise<string> {
  prefer(workspace, { 'sandbox-speed': 50 });
  const url = `${await embeddedShop()}test-out-of-stock`;
  const csv = `${headings}\n${url},5000,Ada Byron,1 Main St,Austin,78701,5125550100\n`;
  writeFileSync(join(workspace.folder, 'fail.csv'), csv);
  return (await errand(workspace, ['bulk', 'upload', 'fail.csv', '--watch', '-o', 'id'])).stdout.trim();
}

test('a refused upload names the check that reads the file the same way: maps, encoding and delimiter with it', async () => {
  const csv =
    'Item;Limit;Ship To;address;city;zip;phone\nhttps://x.example/1;12.50;Ada;1 Main St;Austin;787;5125550100\n';
  writeFileSync(join(workspace.folder, 'theirs.csv'), csv);
  const flags = ['--map', 'Item=product_url', '--map', 'Limit=max_price_cents', '--map', 'Ship To=name'];
  const more = ['--delimiter', 'semicolon', '--encoding', 'latin1'];
  const refused = await errand(workspace, ['bulk', 'upload', 'theirs.csv', ...flags, ...more, '-o', 'json']);
  expect(refused.code).toBe(7);
  const line = refused.stderr.trim().split('\n').at(-1) ?? '';
  const [{ command }] = JSON.parse(line).error.next;
  const { code, stdout } = await shell(workspace, `${command} -o csv --fields row,column`);
  expect(code).toBe(7);
  expect(stdout.replaceAll('\r', '')).toBe('row,column\n2,max_price_cents\n2,name\n2,postal_code\n');
});

test('bulk retry --to - prints the failed rows, and makes no file of that name', async () => {
  const batch = await failedBatch();
  const { code, stdout } = await errand(workspace, ['bulk', 'retry', batch, '--to', '-']);
  expect(code).toBe(0);
  expect(stdout.split('\n')).toHaveLength(3);
  expect(readdirSync(workspace.folder)).not.toContain('-');
  const nowhere = await errand(workspace, ['bulk', 'retry', batch, '--to', 'none/failed.csv']);
  expect(nowhere).toMatchObject({ code: 2, stdout: '' });
  expect(nowhere.stderr).toContain('none/failed.csv cannot be written: its folder is not there');
  const both = await errand(workspace, ['bulk', 'retry', batch, '--to', 'failed.csv', '--watch']);
  expect(both.code).toBe(2);
  expect(both.stderr).toContain('--watch does not go with it');
  expect(readdirSync(workspace.folder)).not.toContain('failed.csv');
});

test('a file that was uploaded goes up again though the wallet could not cover it once more; another one does not', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const url = `${await embeddedShop()}test-success`;
  const csv = (name: string): string =>
    [
      headings,
      ...Array.from(
        { length: 12 },
        (_, row) => `${url},6000,${name} ${row},1 Main St,Austin,78701,5125550100`,
      ),
    ]
      .concat('')
      .join('\n');
  writeFileSync(join(workspace.folder, 'orders.csv'), csv('Ada'));
  writeFileSync(join(workspace.folder, 'others.csv'), csv('Bea'));
  const upload = ['bulk', 'upload', 'orders.csv', '--batch-size', '5'];
  expect(await errand(workspace, [...upload, '--watch'])).toMatchObject({ code: 0 });
  await shell(
    workspace,
    `for key in 1 2 3 4 5 6; do errand order create --product ${url} --max-price '$50' --ship-to home --idempotency-key $key; done`,
  );
  const again = await errand(workspace, [...upload, '-o', 'json', '--query', '[].existed']);
  expect(again).toMatchObject({ code: 0 });
  expect(JSON.parse(again.stdout)).toEqual([true, true, true]);
  const others = await errand(workspace, ['bulk', 'upload', 'others.csv', '-o', 'json']);
  expect(others).toMatchObject({ code: 6, stdout: '' });
  expect(others.stderr).toContain('insufficient_funds');
});

const asExported = (...lines: string[]): string =>
  [
    'sep=;',
    'Orders of November',
    '',
    'Product URL;max_price;name;address;city;state;zip;phone;country',
    ...lines,
    '',
  ].join('\r\n');
const exported = (price: string, { zip = '08701', phone = "'5125550100" } = {}): string =>
  `https://x.example/1;${price};Zoë Byron;1 Main St;Lakewood;NJ;${zip};${phone};United States`;

test("a German spreadsheet's export: its amounts, titles and countries are read, and told once", async () => {
  const below = ';;continued;;;;;;';
  writeFileSync(
    join(workspace.folder, 'german.csv'),
    asExported(exported('45,50'), exported('1.250,00'), below),
  );
  const check = ['bulk', 'upload', 'german.csv', '--locale', 'de', '--dry-run'];
  const { code, stdout, stderr } = await errand(workspace, check);
  expect(code, stderr).toBe(0);
  const { rows } = JSON.parse(stdout).body;
  expect(rows.map((row: Record<string, string>) => [row.max_price, row.zip, row.phone, row.country])).toEqual(
    [
      ['4550', '08701', '5125550100', 'US'],
      ['125000', '08701', '5125550100', 'US'],
    ],
  );
  expect(stderr).toContain('country "United States" is read as US in 2 rows');
  expect(stderr).toContain('1 row without product, price and address is left out: row 6');
});

test('what a spreadsheet has damaged is refused with what happened to it, and the check that reads the file alike', async () => {
  writeFileSync(
    join(workspace.folder, 'damaged.csv'),
    asExported(exported('45,50', { zip: '8701' }), exported('45,50', { phone: '5,12555E+09' })),
  );
  const { code, stderr } = await errand(workspace, [
    'bulk',
    'upload',
    'damaged.csv',
    '--locale',
    'de_DE.UTF-8',
  ]);
  expect(code).toBe(7);
  expect(stderr).toMatch(/^row 4: postal_code "8701" has lost the zero at its beginning .+ write 08701/m);
  expect(stderr).toMatch(/^row 5: phone_number "5,12555E\+09" is what a spreadsheet made of a long number/m);
  expect(stderr).toContain('errand bulk validate damaged.csv --locale de_DE.UTF-8');
});

test.each([
  ['orders.xlsx', 'PK\u0003\u0004\u0014', [], 'orders.xlsx cannot be read as a workbook'],
  ['orders.csv', asExported(exported('45,50')), ['--locale', 'klingon!'], '--locale klingon! is not known'],
  ['orders.csv', asExported(exported('45,50')), ['--locale', 'xx'], '--locale xx is not known'],
])('%s with %j is refused before anything is read of it', async (name, text, flags, message) => {
  writeFileSync(join(workspace.folder, name), text);
  const { code, stderr } = await errand(workspace, ['bulk', 'validate', name, ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
