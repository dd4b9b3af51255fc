import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, onTestFinished, test } from 'vitest';
import { beginInFastShop } from '../../support/copies.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let shop: string;

beginInFastShop((copy, url) => {
  workspace = copy;
  shop = url;
});

const headings = 'reference,product_url,max_price_cents,name,address,city,state,zip,phone';
const bulk = (...args: string[]) => errand(workspace, ['bulk', ...args]);

function write(...slugs: readonly string[]): void {
  const lines = slugs.map(
    (slug, at) => `A-${at},${shop}${slug},5000,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...lines, ''].join('\n'));
}

async function upload(...slugs: readonly string[]): Promise<void> {
  write(...slugs);
  const { code, stderr } = await bulk('upload', 'orders.csv', '--watch', '--timeout', '20s');
  expect(code, stderr).toBe(7);
}

const before = [
  'test-success',
  'test-out-of-stock',
  'test-out-of-stock',
  'test-refused-out-of-stock',
  'test-success',
];
/** Fixes two of the three rows that failed. */
const corrected = before.with(2, 'test-success').with(3, 'test-success');

const jsonOf = async (...args: string[]) => JSON.parse((await bulk(...args, '-o', 'json')).stdout);
/** References of the failed rows, according to each command that reports them. */
async function failedBy(name: string) {
  const results: Record<string, string>[] = parse((await bulk('results', name)).stdout, { columns: true });
  const report: { order_state: string; own: { reference: string } }[] = await jsonOf('report', name);
  const { body } = JSON.parse((await bulk('retry', name, '--dry-run')).stdout);
  const watched = await bulk('watch', name, '-o', 'ndjson');
  const { failed, refused } = JSON.parse(watched.stdout.trim().split('\n').at(-1) ?? '');
  const isBad = (state = ''): boolean => /^(failed|refused)/.test(state);
  for (const { status, order_state: state } of results)
    expect([state, status]).toEqual([state, state === 'refused' ? 'failed' : 'placed']);
  expect(watched.code).toBe(7);
  return {
    results: results.filter((row) => isBad(row.order_state)).map((row) => row.reference),
    report: report.filter((row) => isBad(row.order_state)).map(({ own }) => own.reference),
    retry: body.rows.map((row: Record<string, string>) => row.reference),
    watch: failed + refused,
  };
}

test('after a corrected file results, report, retry and watch agree on each row', async () => {
  await upload(...before);
  await upload(...corrected);
  const whole = ['A-1', 'A-2', 'A-3'];
  expect(await failedBy('orders')).toEqual({ results: whole, report: whole, retry: whole, watch: 3 });
  expect(await failedBy('orders-2')).toEqual({ results: ['A-1'], report: ['A-1'], retry: ['A-1'], watch: 1 });
  const watched = await bulk('watch', 'orders-2');
  expect(watched.stderr).toMatch(/^3 orders: 2 placed, 1 failed$/m);
  expect(watched.stderr).toMatch(/^1 failed: 1 out_of_stock$/m);
  expect(watched.stderr).toContain('try again: errand bulk retry orders-2');
});

test('a machine that does not know where a failed order was made does not try it again', async () => {
  const service = await TestService.start({ now: Date.now() });
  const machine = (): Workspace => {
    const made = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    onTestFinished(() => made.remove());
    return made;
  };
  const [here, there] = [machine(), machine()];
  onTestFinished(() => service.stop());
  shop = service.product('');
  for (workspace of [there, here]) {
    write('test-success', 'test-out-of-stock');
    expect((await bulk('upload', 'orders.csv')).code).toBe(0);
    service.pass(60_000);
  }
  const watched = await bulk('watch', 'orders');
  expect(watched.stderr).toMatch(/^1 failed: 1 out_of_stock; 1 of them ordered before, not ordered again$/m);
  const retried = await bulk('retry', 'orders');
  expect(retried.code).toBe(4);
  expect(retried.stderr).toContain('1 row failed as an order of an upload that this machine does not know');
  workspace = there;
  expect((await bulk('retry', 'orders')).code).toBe(0);
});
