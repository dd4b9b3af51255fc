import { expect, test } from 'vitest';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const basic = (user: string, password = '') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
const legacy = (method: string, path: string, headers: Record<string, string> = basic(service.key)) =>
  service.send(method, path, undefined, null, headers);
const retry = (id: string) => legacy('POST', `/v1/orders/${id}/retry`);

async function failedOrder(slug = 'test-out-of-stock'): Promise<string> {
  const { id } = (await service.order(slug)).body;
  service.pass(20_000);
  return id;
}

test('GET /v1/products/{product_id} returns the legacy record, over HTTP Basic with a blank password', async () => {
  const found = await service.send('GET', '/products/search?query=tea&retailer=harborgoods');
  const id = found.body.results[0].product_id;
  const { status, body } = await legacy('GET', `/v1/products/${id}?retailer=harborgoods`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ status: 'completed', retailer: 'harborgoods', product_id: id });
  expect(Array.isArray(body.feature_bullets)).toBe(true);
  expect((await legacy('GET', '/v1/products/none?retailer=harborgoods')).body.status).toBe('failed');
  const slow = await legacy('GET', `/v1/products/${id}?retailer=harborgoods&async=true&max_age=1`);
  expect(['processing', 'completed']).toContain(slow.body.status);
});

test('v1 refuses a missing token, a wrong one, a password, and both ages at once', async () => {
  const path = '/v1/products/1?retailer=harborgoods';
  expect((await legacy('GET', path, {})).status).toBe(401);
  expect((await legacy('GET', path, basic('xx_test_nothing'))).status).toBe(401);
  expect((await legacy('GET', path, basic(service.key, 'secret'))).status).toBe(401);
  expect((await legacy('GET', `${path}&max_age=40&newer_than=1`)).status).toBe(422);
  expect((await legacy('GET', '/v1/products/1')).status).toBe(422);
});

test('POST /v1/orders/{request_id}/retry makes a new order request of a failed one, once', async () => {
  const id = await failedOrder();
  const made = await retry(id);
  expect(made.status).toBe(200);
  expect(made.body.request_id).not.toBe(id);
  const order = (await service.send('GET', `/orders/${made.body.request_id}`)).body;
  expect(order.status).toBe('pending');
  expect((await retry(id)).body.request_id).toBe(made.body.request_id);
  expect((await service.send('GET', '/orders')).body.total).toBe(2);
});

test('two retries at once are one new order', async () => {
  const id = await failedOrder();
  const responses = await Promise.all(Array.from({ length: 8 }, () => retry(id)));
  expect(new Set(responses.map(({ body }) => body.request_id)).size).toBe(1);
  expect((await service.send('GET', '/orders')).body.total).toBe(2);
});

test.each([
  ['test-success', 'only a failed order'],
  ['test-invalid-variant', 'a retry cannot mend'],
])('a retry of %s is refused: %s', async (slug, message) => {
  const refused = await retry(await failedOrder(slug));
  expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  expect(refused.body.message).toContain(message);
});

test('nobody retries the order of another', async () => {
  const id = await failedOrder();
  const other = await service.mint();
  expect((await legacy('POST', `/v1/orders/${id}/retry`, basic(other))).status).toBe(404);
});
