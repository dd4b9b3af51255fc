import { expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const get = async (target: string) => (await service.send('GET', target)).body;

/** Places an order and waits until it has ended. */
async function ordered(url: string, max_price: number) {
  const made = await service.send('POST', '/orders', { ...orderBody(url), max_price });
  expect(made.status, made.text).toBe(201);
  service.pass(12_000);
  return get(`/orders/${made.body.id}`);
}

/** Checks that the ceiling, in US cents, applies to the charge after conversion. */
async function expectCeilingInUsd(url: string): Promise<void> {
  const {
    job_result: { price_components: price },
    status,
  } = await ordered(url, 90_000);
  expect([status, price.currency !== 'USD', price.payment_currency]).toEqual(['order_placed', true, 'USD']);
  const charged = price.converted_payment_total;
  expect(charged).toBeGreaterThan(price.total);
  expect((await ordered(url, charged)).status).toBe('order_placed');
  const { job_result: refused } = await ordered(url, charged - 1);
  expect([refused.error_type, refused.error_details.field_errors[0].expected]).toEqual([
    'max_price_exceeded',
    String(charged),
  ]);
}

/** Listings in foreign currencies, which only the test product's slug finds. */
async function foreignListings(): Promise<Record<string, string>[]> {
  const { results } = await get('/search?q=test-other-currency&limit=100');
  expect(results.length).toBeGreaterThan(5);
  return results;
}

test('a handmade listing in another currency has its price in that currency, and no usual search finds it', async () => {
  for (const { url = '', currency_code, price } of (await foreignListings()).slice(0, 5)) {
    expect(currency_code).toMatch(/^(EUR|GBP)$/);
    const id = new URL(url).pathname.split('/')[2];
    const details = await get(`/products/${id}?retailer=loomandkiln`);
    expect([details.currency_code, details.price]).toEqual([currency_code, price]);
  }
  const { results } = await get('/search?q=mug&retailer=loomandkiln&limit=100');
  expect(results.length).toBeGreaterThan(20);
  expect(new Set(results.map((it: { currency_code: string }) => it.currency_code))).toEqual(new Set(['USD']));
});

test('an order of it is held to its ceiling in US dollars', async () => {
  const [sold] = (await foreignListings()).filter(({ available }) => available);
  await expectCeilingInUsd(sold?.url ?? '');
});

test('so is one of the shop’s own product in euros', async () => {
  await expectCeilingInUsd(service.product('test-other-currency'));
});
