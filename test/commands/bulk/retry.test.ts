import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { embeddedShop, errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, prefer } from '../../support/workspace.ts';

test('a row retried from the file, on a machine that did not upload it, has the key it was uploaded with', async () => {
  const service = await TestService.start({ now: Date.now() });
  const settings = { ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key };
  const [here, there] = [makeWorkspace(settings), makeWorkspace(settings)];
  onTestFinished(async () => {
    await service.stop();
    here.remove();
    there.remove();
  });
  const columns =
    'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number';
  const rows = ['test-insufficient-funds', 'test-success'].map(
    (slug) => `${service.product(slug)},5000,A B,1 Main St,Austin,TX,78701,US,+15125550100`,
  );
  for (const { folder } of [here, there])
    writeFileSync(join(folder, 'orders.csv'), `${[columns, ...rows].join('\n')}\n`);
  for (const run of [[], ['--run', 'december']]) {
    const { stdout, stderr } = await errand(here, ['bulk', 'upload', 'orders.csv', '-o', 'id', ...run]);
    const id = stdout.trim();
    expect(id, stderr).not.toBe('');
    await expect
      .poll(async () => {
        service.pass(60_000);
        return (await service.send('GET', `/orders/bulk/${id}`)).body.status;
      })
      .toBe('completed');
    const retry = ['bulk', 'retry', id, '--dry-run'];
    const journaled = JSON.parse((await errand(here, retry)).stdout);
    const fromFile = await errand(there, [...retry, '--file', 'orders.csv', ...run]);
    expect(JSON.parse(fromFile.stdout).body).toEqual(journaled.body);
    expect(journaled.body.rows[0].idempotency_key).toHaveLength(36);
  }
});

test('a file of failed rows runs nothing in a spreadsheet, and goes up again as it was', async () => {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  prefer(workspace, { 'sandbox-speed': 50 });
  const product = `${await embeddedShop()}test-out-of-stock`;
  const header =
    'product_url,max_price_cents,name,address_line1,address_line2,city,state,postal_code,country,phone_number';
  const formula = '@HYPERLINK(1)';
  const row = `${product},5000,${formula} B,1 Main St,x;${formula};y,Austin,TX,78701,US,+15125550100`;
  writeFileSync(join(workspace.folder, 'orders.csv'), `${header}\n${row}\n`);
  const uploaded = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--watch', '-o', 'id']);
  const id = /[0-9a-f-]{36}/.exec(uploaded.stdout)?.[0] ?? expect.fail(uploaded.stderr);
  const dryRun = async (file: string) =>
    JSON.parse((await errand(workspace, ['bulk', 'upload', file, '--run', 'again', '--dry-run'])).stdout).body
      .rows;

  expect((await errand(workspace, ['bulk', 'retry', id, '--to', 'failed.csv'])).stderr).toContain(
    'wrote 1 row',
  );
  const text = readFileSync(join(workspace.folder, 'failed.csv'), 'utf8');
  expect(text).toContain(`,'${formula} B,`);
  expect(text).toContain(`,"x;${formula};y",`);
  expect(text).toContain(`,'+15125550100`);
  const printed = (await errand(workspace, ['bulk', 'retry', id, '--to', '-'])).stdout;
  expect(printed).toBe(text);
  expect(text).toContain('out_of_stock');
  const withoutKey = (rows: Record<string, unknown>[]) =>
    rows.map(({ idempotency_key: _, reason: __, ...rest }) => rest);
  expect(withoutKey(await dryRun('failed.csv'))).toEqual(withoutKey(await dryRun('orders.csv')));

  const raw = (await errand(workspace, ['bulk', 'retry', id, '--to', '-', '--raw-csv'])).stdout;
  expect(raw).toContain(`,${formula} B,`);
});
