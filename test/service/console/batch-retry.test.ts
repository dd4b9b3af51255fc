import { expect, test } from 'vitest';
import { rowBody } from '../../support/order-body.ts';
import { page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const upload = async (rows: unknown[]): Promise<string> => {
  const { body } = await service.send('POST', '/orders/bulk', { filename: 'july.csv', rows });
  service.pass(15_000);
  return body.id ?? expect.fail(JSON.stringify(body));
};
const batch = async (id: string) => (await service.send('GET', `/orders/bulk/${id}`)).body;
const retry = (id: string, once: string = crypto.randomUUID()) =>
  submit(service, `/console/batches/${id}/retry`, { once });
/** Follows a retry's redirect. @returns the id of the new batch. */
async function madeBy(response: Awaited<ReturnType<typeof retry>>): Promise<string> {
  expect([response.status, response.text]).toEqual([303, '']);
  const path = response.headers.get('location') ?? '';
  expect((await page(service, path)).status).toBe(200);
  return path.replace('/console/batches/', '');
}

test('rows that failed are placed again in a new batch, each at most once', async () => {
  const row = (slug: string) => rowBody(service.product(slug));
  const id = await upload([
    row('test-success'),
    row('test-out-of-stock'),
    { ...row('test-success'), max_price: '-' },
  ]);
  expect((await batch(id)).rows.map((one: { status: string }) => one.status)).toEqual([
    'placed',
    'placed',
    'failed',
  ]);
  const once = crypto.randomUUID();
  const both = await Promise.all([retry(id, once), retry(id, once)]);
  expect(await Promise.all(both.map(madeBy))).toEqual([once, once]);
  service.pass(15_000);
  const made = await batch(once);
  expect(made).toMatchObject({ filename: 'july.csv', row_count: 1, placed_count: 1 });
  expect((await service.send('GET', '/orders')).body.total).toBe(3);
  expect((await page(service, `/console/batches/${once}`)).text).toContain('Retry 1 failed row<');
  expect((await page(service, `/console/batches/${id}`)).text).not.toContain(`id="retry-${id}"`);
  const again = await retry(id);
  expect(again.status).toBe(409);
  expect(again.text).toContain('No row of this batch has failed that could be placed again');
  const next = await madeBy(await retry(once));
  service.pass(15_000);
  expect(await batch(next)).toMatchObject({ row_count: 1, placed_count: 1 });
  expect((await service.send('GET', '/orders')).body.total).toBe(4);
});

test('a row whose own key has an order already makes no other', async () => {
  const key = crypto.randomUUID();
  await service.order('test-success', { idempotency_key: key });
  const id = await upload([{ ...rowBody(service.product('test-success')), idempotency_key: key }]);
  const [row] = (await batch(id)).rows;
  expect(row).toMatchObject({ status: 'failed', error: expect.stringContaining('already_exists') });
  expect((await retry(id)).status).toBe(409);
  expect((await service.send('GET', '/orders')).body.total).toBe(1);
});

test('without the money for it nothing is retried, and a batch that is not there says so', async () => {
  const id = await upload([{ ...rowBody(service.product('test-price-exceeded')), max_price: '60000' }]);
  await service.order('test-never', { max_price: 60_000 });
  const refused = await retry(id);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('insufficient_funds')]);
  expect((await service.send('GET', '/orders/bulk')).body.total).toBe(1);
  expect((await retry(crypto.randomUUID())).status).toBe(404);
  expect((await submit(service, `/console/batches/${id}/retry`, {})).status).toBe(400);
});
