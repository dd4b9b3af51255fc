import { afterAll, beforeAll, expect, test } from 'vitest';
import { Shop } from './shop.js';

const { ERRAND_BASE_URL: baseUrl, ERRAND_API_KEY: apiKey, ERRAND_SHOP_URL: products } = process.env;

const buyer = {
  first_name: 'Grace',
  last_name: 'Hopper',
  address_line1: '100 Congress Avenue',
  city: 'Austin',
  state: 'TX',
  postal_code: '78701',
  country: 'US',
  phone_number: '5125550100',
};

const shop = new Shop({ baseUrl, apiKey });
let url;
beforeAll(async () => {
  url = await shop.open();
});
afterAll(() => shop.close());

async function ask(method, path, body) {
  const response = await fetch(`${url}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, body: await response.json() };
}

// The same numbers in each run: a run that met the service of another would find its sales there.
const sell = (number, slug, ceiling = 5_000) =>
  ask('PUT', `/sales/${number}`, { url: `${products}/${slug}`, ceiling, buyer });

const sale = async (number) => (await ask('GET', `/sales/${number}`)).body;

test('what is sold is bought, and webhooks tell that it was delivered', async () => {
  const sold = { status: 200, body: { orderId: expect.any(String) } };
  expect(await sell('1', 'test-success')).toMatchObject(sold);
  await expect.poll(() => sale('1')).toMatchObject({ state: 'delivered', parcel: 'delivered' });
});

test('a sale that is sent twice is bought once', async () => {
  const [first, again] = [await sell('2', 'test-success'), await sell('2', 'test-success')];
  expect(again.body.orderId).toBe(first.body.orderId);
});

test.each([
  ['test-out-of-stock', 'out_of_stock'],
  ['test-price-exceeded', 'max_price_exceeded'],
  ['test-login-failed', 'login_failed'],
])('of a sale of %s the buyer learns that it came to nothing, and why', async (slug, reason) => {
  await sell(slug, slug);
  await expect.poll(() => sale(slug)).toMatchObject({ state: 'failed', reason });
});

test.each([
  ['test-refused-payment-failed', 'payment_failed'],
  ['test-refused-out-of-stock', 'out_of_stock'],
  ['test-invalid-address', 'invalid_shipping_address'],
  ['test-insufficient-funds', 'insufficient_funds'],
])('a sale of %s is refused at once, with the reason', async (slug, reason) => {
  expect(await sell(slug, slug)).toMatchObject({ status: 422, body: { state: 'refused', reason } });
});

test('a webhook that does not know the secret is heard by nobody', async () => {
  await sell('3', 'test-never');
  const { orderId } = await sale('3');
  expect((await ask('POST', '/hooks?secret=guessed', { id: orderId })).status).toBe(403);
});

test('what came broken is taken back', async () => {
  await sell('4', 'test-success');
  await expect.poll(() => sale('4')).toMatchObject({ state: 'delivered' });
  expect(await ask('POST', '/sales/4/return', { reason: 'damaged' })).toMatchObject({
    status: 201,
    body: { state: 'open' },
  });
  // Once only.
  expect((await ask('POST', '/sales/4/return', { reason: 'damaged' })).status).toBeGreaterThanOrEqual(400);
});

test('the catalogue finds something to sell, and says so where the service wants money for it', async () => {
  expect((await ask('GET', '/catalogue?q=coffee')).body[0]).toMatchObject({ price: expect.any(Number) });
  expect((await ask('GET', '/catalogue?q=test-insufficient-funds')).status).toBe(503);
});

test('nobody else has bought anything here', async () => {
  const headers = { authorization: `Bearer ${apiKey}` };
  const { orders } = await (await fetch(`${baseUrl}/orders?limit=500`, { headers })).json();
  const numbers = orders.map(({ metadata }) => metadata.sale).toSorted();
  expect(numbers).toEqual([...new Set(numbers)]);
});
