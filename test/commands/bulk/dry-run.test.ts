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
});

for (const [how, references, code, said] of [
  ['content', [], 5, 'it repeats orders of 8d ago: 2 of 2 rows are placed already'],
  ['reference', ['--reference-column', 'Requisition'], 0, '0 new; 2 placed already'],
] as const)
  test(`a dry run whose key has expired goes by what is stored, however late the service says it is; by ${how}`, async () => {
    const shop = await shopping();
    write(shop, shop.workspace);
    expect((await upload(shop, ...references)).code).toBe(0);
    shop.service.pass(8 * 24 * 3600_000);
    const shown = await upload(shop, ...references, '--dry-run');
    expect([shown.code, shown.stderr], shown.stderr).toEqual([code, expect.stringContaining(said)]);
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
