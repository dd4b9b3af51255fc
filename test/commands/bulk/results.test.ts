import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const minute = 60 * 1000;
const opening = 100_000;
/** Some of the user's own headings collide with result columns. */
const headings =
  'status,my_reference,product_url,quantity,Max Price,name,address,city,state,zip,phone,metadata.team,Order ID';
const slugs = [
  'test-success',
  'test-price-exceeded',
  'test-out-of-stock',
  'test-cancelled-by-retailer',
  'test-quantity-limit',
  'test-undeliverable',
  'test-two-packages',
  'test-url-unreachable',
  'test-never',
] as const;

let service: TestService;
let workspace: Workspace;
let batch: string;

const run = (...args: string[]) => errand(workspace, args);
const records = (csv: string) => parse(csv, { columns: true }) as Record<string, string>[];
const results = async (...args: string[]) => {
  const finished = await run('bulk', 'results', ...args);
  expect(finished).toMatchObject({ code: 0 });
  return { ...finished, rows: records(finished.stdout) };
};
const sum = (rows: readonly Record<string, string>[], column: string): number =>
  rows.reduce((total, row) => total + Number(row[column]), 0);

/** Uploads a file with every outcome as one batch and runs it to completion. */
beforeAll(async () => {
  service = await TestService.start({ now: Date.parse('2026-11-30T20:00:00Z') });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  await service.order('test-success');
  const rows = slugs.map((slug, at) => {
    const quantity = slug === 'test-quantity-limit' ? 5 : 1;
    return `=mine${at},A-${at},${service.product(slug)},${quantity},$50.05,Ada Byron,${at} Main St,Austin,TX,78701,5125550100,${at % 2 ? 'blue' : 'red'},X-${at}`;
  });
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  batch = await upload('orders.csv', '--skip-invalid');
  service.pass(minute);
});
afterAll(async () => {
  workspace.remove();
  await service.stop();
});

async function upload(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('bulk', 'upload', ...args, '-o', 'id');
  expect(code, stderr).toBe(0);
  return stdout.trim();
}

describe('bulk results', () => {
  test('has every column of the file in its place, and gives its own other names where the file has them', async () => {
    const { stdout, rows } = await results(batch);
    const own = headings.split(',');
    const [first = ''] = stdout.split('\n');
    expect(first.split(',').slice(0, own.length)).toEqual(own);
    expect(first.split(',').slice(own.length)).toEqual([
      ...['row', 'errand_status', 'errand_order_id', 'order_status', 'error', 'order_state', 'error_type'],
      ...['ceiling_cents', 'quoted_cents', 'charged_cents', 'fee_cents', 'refunded_cents', 'credited_cents'],
      ...['from_wallet_cents', 'held_cents', 'currency', 'paid_by', 'tracking_numbers', 'met_by', 'returns'],
    ]);
    expect(rows[0]).toMatchObject({
      ...{ status: "'=mine0", my_reference: 'A-0', 'Max Price': '$50.05', 'Order ID': 'X-0' },
      ...{ row: '2', errand_status: 'placed', order_status: 'order_placed', order_state: 'delivered' },
      ...{ 'metadata.team': 'red', error: '', error_type: '', currency: 'USD', paid_by: 'wallet' },
    });
    expect(rows[0]?.errand_order_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(rows.map(({ row }) => Number(row))).toEqual([2, 3, 4, 5, 6, 7, 8, 10]);
  });

  test('says what each row was charged, or what it was refused at, and why', async () => {
    const { rows } = await results(batch);
    const of = (slug: (typeof slugs)[number]) =>
      rows.find(({ product_url: url = '' }) => url.endsWith(`/${slug}`)) ?? expect.fail(slug);
    expect(of('test-success')).toMatchObject({
      ...{ charged_cents: '1999', fee_cents: '100', refunded_cents: '0', from_wallet_cents: '2099' },
      ...{ quoted_cents: '', ceiling_cents: '5005', tracking_numbers: expect.stringMatching(/^\w{10,}$/) },
    });
    expect(of('test-price-exceeded')).toMatchObject({
      ...{ charged_cents: '', fee_cents: '', from_wallet_cents: '', paid_by: '' },
      ...{ order_state: 'failed: price', error_type: 'max_price_exceeded' },
      error: expect.stringMatching(/^max_price_exceeded: The total at checkout is /),
    });
    expect(Number(of('test-price-exceeded').quoted_cents)).toBeGreaterThan(5005);
    expect(of('test-cancelled-by-retailer')).toMatchObject({
      ...{ charged_cents: '1999', fee_cents: '100', refunded_cents: '1999', from_wallet_cents: '100' },
      order_state: 'cancelled by retailer',
    });
    expect(of('test-quantity-limit')).toMatchObject({
      error_type: 'quantity_limit_exceeded',
      charged_cents: '',
    });
    expect(of('test-undeliverable')).toMatchObject({ order_state: 'undeliverable', charged_cents: '1999' });
    expect(of('test-two-packages').tracking_numbers).toMatch(/^\w+, \w+$/);
    expect(of('test-never')).toMatchObject({ order_state: 'in progress', held_cents: '5105' });
  });

  test('adds up to what has left the wallet, to the cent', async () => {
    const { rows } = await results(batch);
    const wallet = (await service.send('GET', '/wallet/me')).body;
    const others = 2099;
    expect(opening - others - sum(rows, 'from_wallet_cents')).toBe(wallet.balance);
    expect(sum(rows, 'held_cents')).toBe(wallet.balance - wallet.spendable_balance);
  });

  test('has one line for a row that was retried: its latest attempt, and the amounts of all', async () => {
    const retry = await run('bulk', 'retry', batch, '-o', 'id');
    expect(retry.code, retry.stderr).toBe(0);
    service.pass(minute);
    const { rows } = await results(batch, retry.stdout.trim());
    expect(rows.map(({ row }) => Number(row))).toEqual([2, 3, 4, 5, 6, 7, 8, 10]);
    const again = rows.find(({ my_reference: reference }) => reference === 'A-3');
    expect(again).toMatchObject({
      ...{ charged_cents: '3998', fee_cents: '200', refunded_cents: '3998', from_wallet_cents: '200' },
      order_state: 'cancelled by retailer',
    });
    const wallet = (await service.send('GET', '/wallet/me')).body;
    expect(opening - 2099 - sum(rows, 'from_wallet_cents')).toBe(wallet.balance);
    // The upload's name covers both batches, and the row that was left out.
    const whole = await results('orders');
    expect(whole.rows.map(({ row }) => Number(row))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(whole.rows.filter(({ errand_status: status }) => status !== 'left_out')).toEqual(rows);
    expect(whole.rows[7]).toMatchObject({
      ...{ my_reference: 'A-7', order_state: 'left out', error_type: 'invalid', charged_cents: '' },
      ...{ errand_order_id: '', error: expect.stringMatching(/^invalid: /) },
    });
    // The retry's batch alone shows none of the first batch's results.
    const alone = (await results(retry.stdout.trim())).rows;
    expect(alone.map(({ my_reference: reference }) => reference)).toEqual(['A-1', 'A-2', 'A-3', 'A-4']);
    expect(sum(alone, 'from_wallet_cents')).toBe(100);
  });

  test('has the headings of the file where they were mapped to those of orders', async () => {
    const own = 'Ship To,Limit,Item,Street,city,state,zip,phone';
    writeFileSync(
      join(workspace.folder, 'theirs.csv'),
      `${own}\nAda Byron,$50.00,${service.product('test-out-of-stock')},9 Main St,Austin,TX,78701,5125550100\n`,
    );
    const maps = ['Ship To=name', 'Limit=max_price', 'Item=product_url'].flatMap((map) => ['--map', map]);
    await upload('theirs.csv', ...maps);
    service.pass(minute);
    expect((await run('bulk', 'retry', 'theirs')).code).toBe(0);
    service.pass(minute);
    const { stdout, rows } = await results('theirs');
    expect(stdout.startsWith('Ship To,Limit,Item,Street,city,state,zip,phone,row,status,')).toBe(true);
    expect(rows).toMatchObject([{ 'Ship To': 'Ada Byron', Limit: '$50.00', row: '2' }]);
    // The same holds for a planned and applied file.
    const planned = ['theirs.csv', '--run', 'planned', ...maps, '--out', 'theirs.plan'];
    expect((await run('bulk', 'plan', ...planned)).code).toBe(0);
    const applied = await run('bulk', 'apply', 'theirs.plan', '-o', 'id');
    expect(applied.code, applied.stderr).toBe(0);
    const ofPlan = (await results(applied.stdout.trim())).stdout;
    expect(ofPlan).toMatch(/^Ship To,Limit,Item,.*\nAda Byron,\$50\.00,/);
    service.pass(minute);
    // A page to be shared omits the recipient, whatever its heading.
    const page = join(workspace.folder, 'theirs.html');
    expect((await run('bulk', 'report', 'theirs', '--html', page)).code).toBe(0);
    expect(readFileSync(page, 'utf8')).not.toMatch(/Ada|Main St/);
  });

  test('on another machine begins as the service has it, with the columns that it echoes', async () => {
    const elsewhere = makeWorkspace(workspace.environment);
    try {
      elsewhere.environment.ERRAND_STATE_DIR = join(elsewhere.folder, '.state');
      const { code, stdout } = await errand(elsewhere, ['bulk', 'results', batch]);
      expect(code).toBe(0);
      expect(stdout.split('\n')[0]).toMatch(
        /^index,errand_status,errand_order_id,order_status,error,recipient,product_urls,status,my_reference,Order ID,order_state,/,
      );
      const [first] = records(stdout);
      expect(first).toMatchObject({
        ...{ index: '0', status: "'=mine0", my_reference: 'A-0', recipient: 'Ada Byron' },
        ...{ charged_cents: '1999', order_state: 'delivered' },
      });
    } finally {
      elsewhere.remove();
    }
  });

  test('--raw-csv is what the service writes, byte for byte, of one batch', async () => {
    const raw = await run('bulk', 'results', batch, '--raw-csv');
    expect(raw.stdout).toBe((await service.send('GET', `/orders/bulk/${batch}/results.csv`)).text);
    const several = await run('bulk', 'results', batch, '00000000-0000-4000-8000-000000000001', '--raw-csv');
    expect([several.code, several.stdout]).toEqual([2, '']);
    expect(several.stderr).toContain('--raw-csv prints the CSV of one batch');
  });

  test('a row that is no order yet, or was refused, says so and has no amount', async () => {
    service.pass(minute);
    writeFileSync(
      join(workspace.folder, 'one.csv'),
      `${headings}\nmine,B-1,${service.product('test-success')},1,$50.00,Ada Byron,1 Main St,Austin,TX,78701,5125550100,,\n`,
    );
    const waiting = await upload('one.csv');
    const { rows, stderr } = await results(waiting);
    expect(rows).toMatchObject([
      { errand_status: 'pending', order_state: 'waiting', charged_cents: '', ceiling_cents: '5000' },
    ]);
    expect(stderr).toContain('one batch goes on: not every row is in yet; --wait waits for it');
  });
});
