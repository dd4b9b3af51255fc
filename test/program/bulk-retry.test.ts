import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestService } from '../service/service.ts';
import { makePlace } from './place.ts';
import { errand } from './run.ts';

test('a row retried from the file, on a machine that did not upload it, has the key it was uploaded with', {
  timeout: 60_000,
}, async () => {
  const service = await TestService.start({ now: Date.now() });
  const settings = { ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key };
  const [here, there] = [makePlace(settings), makePlace(settings)];
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
