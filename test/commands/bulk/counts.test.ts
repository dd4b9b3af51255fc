import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beginInFastShop } from '../../support/copies.ts';
import { errand, shell } from '../../support/run.ts';
import type { Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let shop: string;

beginInFastShop((copy, url) => {
  workspace = copy;
  shop = url;
});

const headings =
  'my_reference,product_url,note,max_price_cents,name,address,city,state,zip,phone,idempotency_key';
const line = (slug: string, at: number, key = '') =>
  `A-${at},${shop}${slug},,5000,Ada Byron,${at} Main St,Austin,TX,78701,5125550100,${key}`;

function write(...lines: string[]): void {
  writeFileSync(
    join(workspace.folder, 'orders.csv'),
    ['# a comment', '# another', headings, ...lines, ''].join('\n'),
  );
}

const upload = (...more: string[]) =>
  errand(workspace, ['bulk', 'upload', 'orders.csv', '--watch', '--timeout', '10m', ...more]);
const idOf = (stdout: string): string => /[0-9a-f-]{36}/.exec(stdout)?.[0] ?? '';

describe('one screen', () => {
  test('has counts that add up, called the same everywhere, and says why', async () => {
    write(
      line('test-success', 1),
      line('test-out-of-stock', 2),
      line('test-out-of-stock', 3),
      line('test-price-exceeded', 4),
      line('test-success', 5),
    );
    const { code, stdout, stderr } = await upload();
    expect(code).toBe(7);
    expect(stdout).toMatch(/ROWS +ORDERED +REFUSED/);
    expect(stdout).toMatch(/completed +5 +5 +0 /);
    expect(stderr).toMatch(/^5 rows: 5 ordered in \d+ s$/m);
    expect(stderr).toMatch(/^5 orders: 2 placed, 3 failed$/m);
    expect(stderr).toMatch(/^3 failed: 2 out_of_stock, 1 max_price_exceeded$/m);
    expect(stderr).toContain('try again: errand bulk retry orders');
  });

  test('the summary of a script adds up, too', async () => {
    write(line('test-success', 1), line('test-out-of-stock', 2));
    const { stdout } = await upload('-o', 'ndjson');
    const summary = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(summary).toMatchObject({
      type: 'summary',
      rows: 2,
      ordered: 2,
      refused: 0,
      waiting: 0,
      placed: 1,
      failed: 1,
      under_way: 0,
      before: 0,
    });
  });
});

test('rows that were ordered before have not failed: exit 0', async () => {
  write(line('test-success', 1, 'k1'), line('test-success', 2, 'k2'));
  expect((await upload()).code).toBe(0);
  write(line('test-success', 1, 'k1'), line('test-success', 2, 'k2'), line('test-success', 3, 'k3'));
  const again = await upload();
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toMatch(/^1 new; 2 placed already$/m);
  expect(again.stderr).toMatch(/^1 row: 1 ordered in/m);
  expect(again.stderr).not.toContain('try again');
});

describe('a row', () => {
  test('has the number of the spreadsheet in every output', async () => {
    write(line('test-success', 1), line('no-such', 2).replace('5000', 'free'), line('test-out-of-stock', 3));
    const checked = await errand(workspace, ['bulk', 'validate', 'orders.csv', '--local', '-o', 'json']);
    expect(JSON.parse(checked.stdout)).toMatchObject([{ row: 5, column: 'max_price_cents' }]);
    const uploaded = await upload('--skip-invalid', '-o', 'ndjson', '--batch-size', '1');
    const events = uploaded.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    const rows = events.filter(({ type }) => type === 'row');
    expect(new Set(rows.map(({ row }) => row))).toEqual(new Set([4, 6]));
    const failed = rows.find(({ order_status }) => order_status === 'order_failed');
    expect(failed).toMatchObject({ row: 6, index: 0 });
    const got = (await errand(workspace, ['bulk', 'get', failed.batch_id])).stdout;
    expect(got).toMatch(/ROW +STATUS/);
    expect(got).toMatch(/^ +6 +placed +\S+ +order_failed +failed +Ada Byron +out_of_stock: /m);
    const results = (await errand(workspace, ['bulk', 'results', failed.batch_id])).stdout;
    expect(results).toMatch(/^my_reference,.*,idempotency_key,row,status,/);
    expect(results).toMatch(/,6,placed,[^,]+,order_failed,"?out_of_stock: /m);
    const raw = (await errand(workspace, ['bulk', 'results', failed.batch_id, '--raw-csv'])).stdout;
    expect(raw).toMatch(/^index,status,/);
    expect(raw).toMatch(/^0,placed,/m);
    const record = JSON.parse(
      (await errand(workspace, ['bulk', 'get', failed.batch_id, '-o', 'json'])).stdout,
    );
    expect(record.rows[0]).toMatchObject({ index: 0, error: null });
  });

  test('has the place in its batch where the file is not known', async () => {
    write(line('test-success', 1));
    const id = idOf((await upload()).stdout);
    const state = join(workspace.folder, '.state');
    await shell(workspace, `rm ${state}/uploads.db* ${state}/journal.db*`);
    expect((await errand(workspace, ['bulk', 'get', id])).stdout).toMatch(/PLACE +STATUS/);
    expect((await errand(workspace, ['bulk', 'results', id])).stdout).toMatch(/^index,status,/);
  });
});

test('bulk retry --to keeps the columns of the file in their order, empty ones too', async () => {
  write(line('test-out-of-stock', 1), line('test-success', 2));
  const id = idOf((await upload()).stdout);
  const again = ['bulk', 'retry', id, '--to', 'failed.csv', '--force'];
  for (const flags of [[], ['--file', 'orders.csv']]) {
    expect((await errand(workspace, [...again, ...flags])).code).toBe(0);
    const [first, row] = readFileSync(join(workspace.folder, 'failed.csv'), 'utf8').split('\n');
    expect(first).toBe(`${headings},reason`);
    expect(row).toMatch(
      new RegExp(`^A-1,${shop}test-out-of-stock,,5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100,`),
    );
  }
});

test('the rows of a retried batch keep their numbers', async () => {
  write(line('test-success', 1), line('test-out-of-stock', 2));
  const id = idOf((await upload()).stdout);
  const retried = await errand(workspace, ['bulk', 'retry', id, '-o', 'id']);
  const got = await errand(workspace, ['bulk', 'get', retried.stdout.trim()]);
  expect(got.stdout).toMatch(/^ +5 +(pending|placed) /m);
});

describe('a file with rows that cannot be ordered', () => {
  const validate = (...more: string[]) => errand(workspace, ['bulk', 'validate', 'orders.csv', ...more]);

  test('has every error listed at once, those of the service too, and one estimate', async () => {
    write(
      line('test-success', 1),
      line('test-url-unreachable', 2),
      line('test-success', 3).replace(shop, 'no-url/'),
    );
    const checked = await validate('-o', 'json');
    expect(checked.code).toBe(7);
    expect(JSON.parse(checked.stdout)).toMatchObject([{ row: 6, column: 'product_url' }, { row: 5 }]);
    const shown = await validate();
    expect(shown.stderr).toContain('1 of 3 rows valid');
    const estimate = /at most \$[\d.]+, of/.exec(shown.stderr)?.[0] ?? 'no estimate';
    const uploaded = await upload('--skip-invalid');
    expect(uploaded.code, uploaded.stderr).toBe(0);
    expect(uploaded.stderr).toContain('orders.csv: 1 of 3 rows; 2 are invalid and left out');
    expect(estimate).toBe('at most $51.00, of');
    for (const verb of ['results', 'report']) {
      const { stderr } = await errand(workspace, ['bulk', verb, 'orders']);
      expect(stderr).toContain('orders: 2 rows of the file were left out as invalid (rows 5, 6)');
    }
    expect((await validate('--local')).stderr).toContain('at most $100.00, without fees');
  });

  test('is not sent to the service where no row is valid here, and that is said', async () => {
    write(line('test-success', 1).replace('5000', 'free'));
    const { code, stderr } = await validate();
    expect(code).toBe(7);
    expect(stderr).toContain('no row passed the local check, so the service checked none');
    expect(stderr).not.toContain('at most');
  });

  test('is held to the rules of an address that an order is held to', async () => {
    write(line('test-success', 1).replace(',TX,', ',ZZ,').replace('5125550100', 'abc'));
    const { code, stdout } = await validate('-o', 'json');
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject([
      { row: 4, column: 'state', value: 'ZZ' },
      { row: 4, column: 'phone_number', value: 'abc' },
    ]);
  });
});

test('the same file uploaded and followed again says that nothing was ordered', async () => {
  write(line('test-success', 1));
  expect((await upload()).stderr).not.toContain('was made before');
  const again = await upload();
  expect(again.code).toBe(0);
  expect(again.stderr).toContain('this upload was made before; nothing was ordered again');
});
