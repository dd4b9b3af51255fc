import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const headings = 'Requisition,product_url,max_price_cents,name,address,city,state,zip,phone';

/** Writes a file with an order that succeeds, and one that fails. */
function write({ service }: Shopping, { folder }: Workspace, cents = 5000): void {
  const rows = ['test-success', 'test-out-of-stock'].map(
    (slug, at) =>
      `R-${at},${service.product(slug)},${cents},Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
}

const counted = (stderr: string): string | undefined => /^\d+ new.*$/m.exec(stderr)?.[0];
const upload = (shop: Shopping, ...more: readonly string[]) =>
  shop.run('bulk', 'upload', 'orders.csv', ...more);

test('a dry run counts as the upload does, and orders nothing', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  expect((await upload(shop)).code).toBe(0);
  shop.service.pass(60_000);
  write(shop, shop.workspace, 5100);
  const refused = await upload(shop, '--dry-run');
  expect([refused.code, refused.stderr], refused.stderr).toEqual([
    5,
    expect.stringMatching(/1 row is like an earlier order: row 2 as order \S+ \(delivered, /),
  ]);
  const shown = await upload(shop, '--dry-run', '--skip-duplicates');
  expect(counted(shown.stderr)).toBe('1 new, of them 1 failed before; 1 left out');
  expect(JSON.parse(shown.stdout).body.rows).toHaveLength(1);
  expect(await shop.orders()).toHaveLength(2);
  expect(counted((await upload(shop, '--skip-duplicates')).stderr)).toBe(counted(shown.stderr));
});

test('on a machine that knows nothing, a dry run finds the orders by their references, and makes no journal', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  const named = ['bulk', 'upload', 'orders.csv', '--reference-column', 'Requisition'];
  expect((await shop.run(...named)).code).toBe(0);
  shop.service.pass(60_000);
  const other = makeWorkspace({
    ERRAND_BASE_URL: shop.service.baseUrl,
    ERRAND_API_KEY: shop.service.key,
    ERRAND_NO_INPUT: '1',
  });
  onTestFinished(() => other.remove());
  write(shop, other);
  const shown = await errand(other, [...named, '--dry-run']);
  expect(counted(shown.stderr), shown.stderr).toBe('1 new, of them 1 failed before; 1 placed already');
  expect(existsSync(join(other.environment.ERRAND_STATE_DIR ?? '', 'journal.db'))).toBe(false);
  expect(counted((await errand(other, named)).stderr)).toBe(counted(shown.stderr));
});

test('a dry run that cannot look says so', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  expect((await upload(shop)).code).toBe(0);
  const curl = await upload(shop, '--dry-run', '--curl');
  expect(curl.stderr).toContain('what became of earlier orders was not looked up (--curl sends no request)');
  await shop.losses.stop();
  const away = await upload(shop, '--dry-run', '--retries', '0');
  expect(away.stderr).toMatch(
    /^what became of earlier orders was not looked up \(.+\); here, rows that were sent before count as placed$/m,
  );
  expect(counted(away.stderr)).toBe('0 new; 2 placed already');
  expect([curl.code, away.code]).toEqual([0, 9]);
});

for (const [how, references, said] of [
  ['content', [], 'it repeats orders of 8d ago: 2 of 2 rows are placed already'],
  ['reference', ['--reference-column', 'Requisition'], '0 new; 2 placed already'],
] as const)
  test(`a dry run whose key has expired goes by what is stored, however late the service says it is; by ${how}`, async () => {
    const shop = await shopping();
    write(shop, shop.workspace);
    expect((await upload(shop, ...references)).code).toBe(0);
    shop.service.pass((8 * 24 + 1) * 3600_000);
    const shown = await upload(shop, ...references, '--dry-run');
    expect([shown.code, shown.stderr], shown.stderr).toEqual([3, expect.stringContaining(said)]);
    expect((await upload(shop, ...references)).code).toBe(3);
  });

test('a dry run exits as the upload does that leaves out a row which differs from its order', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  const named = ['--reference-column', 'Requisition'];
  expect((await upload(shop, ...named)).code).toBe(0);
  const file = join(shop.workspace.folder, 'orders.csv');
  const rows = readFileSync(file, 'utf8').replace('Ada Byron,0', 'Eve Byron,0');
  writeFileSync(
    file,
    `${rows}R-2,${shop.service.product('test-slow')},5000,Ada Byron,2 Main St,Austin,TX,78701,5125550100\n`,
  );
  const shown = await upload(shop, ...named, '--dry-run');
  expect(JSON.parse(shown.stdout).body.rows).toHaveLength(1);
  const sent = await upload(shop, ...named);
  expect([shown.code, counted(shown.stderr)]).toEqual([sent.code, counted(sent.stderr)]);
  expect(sent.code).toBe(5);
});

/** Has a policy apply to a machine. */
function policy({ workspace }: Shopping, rule: string): void {
  const file = join(workspace.folder, 'policy.yaml');
  writeFileSync(file, `version: 1\n${rule}\n`, { mode: 0o600 });
  workspace.environment.ERRAND_POLICY = file;
}

/** Exit codes of a command's dry run, and of the command. */
async function codes(
  shop: Shopping,
  ...args: readonly string[]
): Promise<readonly [number | null, number | null]> {
  const shown = await shop.run(...args, '--dry-run');
  return [shown.code, (await shop.run(...args)).code];
}

test.each(['limits: { per_order: $1 }', 'approve: { above: $1 }'])(
  'a dry run exits as what the policy refuses, or wants approved: %s',
  async (rule) => {
    const shop = await shopping();
    write(shop, shop.workspace);
    const order = ['order', 'create', '--file', 'order.json'];
    const upload = ['bulk', 'upload', 'orders.csv'];
    expect((await shop.run('bulk', 'plan', 'orders.csv', '--out', 'a.plan')).code).toBe(0);
    expect((await shop.run(...upload)).code).toBe(0);
    shop.service.pass(60_000);
    policy(shop, rule);
    expect(await codes(shop, ...order)).toEqual([11, 11]);
    expect(await codes(shop, 'bulk', 'retry', 'orders')).toEqual([11, 11]);
    expect(await codes(shop, ...upload, '--run', 'b')).toEqual([11, 11]);
    const shown = await shop.run(...upload, '--run', 'b', '--dry-run');
    expect(shown.stderr).toMatch(/^policy: (refused|needs an approval): (row 2, )?/m);
    expect(JSON.parse(shown.stdout).body.rows).toHaveLength(2);
    expect(await shop.orders()).toHaveLength(2);
  },
);

test('a dry run exits as a plan does that the policy refuses', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  policy(shop, 'limits: { per_order: $60 }');
  expect((await shop.run('bulk', 'plan', 'orders.csv', '--out', 'a.plan')).code).toBe(0);
  expect((await shop.run('bulk', 'apply', 'a.plan', '--dry-run')).code).toBe(0);
  policy(shop, 'limits: { per_order: $1 }');
  expect(await codes(shop, 'bulk', 'apply', 'a.plan')).toEqual([11, 11]);
});

test('a dry run counts no order against a policy that the command finds to have failed', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  policy(shop, 'duplicates: { same: [product, address], within: 7d, then: refuse }');
  expect((await upload(shop)).code).toBe(0);
  shop.service.pass(60_000);
  const shown = await shop.run('bulk', 'retry', 'orders', '--dry-run');
  expect([shown.code, shown.stderr], shown.stderr).toEqual([0, expect.stringMatching(/^policy: allowed$/m)]);
  expect((await shop.run('bulk', 'retry', 'orders')).code).toBe(0);
});

test('a dry run exits as an upload does that the wallet cannot cover', async () => {
  const shop = await shopping();
  write(shop, shop.workspace, 90_000);
  const shown = await upload(shop, '--dry-run');
  expect([shown.code, shown.stdout]).toEqual([6, '']);
  const sent = await upload(shop);
  expect([sent.code, sent.stderr]).toEqual([6, shown.stderr]);
});

test('a dry run exits as the command does where the service cannot be reached', async () => {
  const shop = await shopping();
  write(shop, shop.workspace);
  await shop.losses.stop();
  const away = ['--retries', '0'];
  expect(await codes(shop, 'bulk', 'upload', 'orders.csv', ...away)).toEqual([9, 9]);
  const named = ['order', 'create', '--file', 'order.json', '--reference', 'R-1', ...away];
  expect(await codes(shop, ...named)).toEqual([9, 9]);
  expect((await shop.run(...named, '--dry-run', '--curl')).code).toBe(0);
});

test('a dry run of an order exits as the order does', async () => {
  const shop = await shopping();
  const order = ['order', 'create', '--file', 'order.json'];
  const named = [...order, '--reference', 'R-1'];
  expect(await codes(shop, ...order)).toEqual([0, 0]);
  expect(await codes(shop, ...order)).toEqual([5, 5]);
  expect(await codes(shop, ...order, '--max-price', '$51')).toEqual([5, 5]);
  expect(await codes(shop, ...order, '--new')).toEqual([0, 0]);
  expect(await codes(shop, ...named)).toEqual([0, 0]);
  const met = await shop.run(...named, '--dry-run');
  expect([met.code, met.stderr]).toEqual([
    0,
    expect.stringMatching(/^the reference R-1 has \S+ \(waiting, .+\) already: sent, that one is shown/),
  ]);
  expect(await codes(shop, ...named)).toEqual([0, 0]);
  const other = ['--product', `${shop.service.product('test-slow')}`];
  const differs = await shop.run(...named, ...other, '--dry-run');
  expect(differs.stderr).toMatch(/^the reference R-1 has a live order that differs, /);
  expect(await codes(shop, ...named, ...other)).toEqual([5, 5]);
  expect(await shop.orders()).toHaveLength(3);
});
