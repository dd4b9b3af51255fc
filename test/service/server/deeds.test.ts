import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ServedRequest } from '../../../src/api/control.ts';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { rowBody } from '../../support/order-body.ts';
import { onceOf, page, submit } from '../../support/read-page.ts';
import { TestService } from '../../support/service.ts';

const seen: ServedRequest[] = [];
let service: TestService;
beforeEach(async () => {
  seen.length = 0;
  service = await TestService.start({
    onRequest: (request) => seen.push(request),
    faults: [readFault('503-after@POST /returns') ?? expect.fail()],
  });
});
afterEach(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

/** What the last request did. */
const did = (): string | null => seen.at(-1)?.did ?? null;
const short = (id: string): string => id.slice(0, 8);

test('each request that changes something says what it did, and one that reads says nothing', async () => {
  expect(did()).toBe('minted a key');
  const { id } = (await service.order('test-slow')).body;
  expect(did()).toBe(`placed ${short(id)}`);
  await service.send('GET', `/orders/${id}`);
  expect(did()).toBeNull();
  await service.send('POST', '/sandbox/trigger', { event: 'shipped', id });
  expect(did()).toBe(`shipped ${short(id)}`);
  await service.send('POST', `/orders/${(await service.order('test-slow')).body.id}/cancel`);
  expect(did()).toMatch(/^cancelled [\da-f]{8}$/);
  const { short_id } = (await service.send('POST', '/managed-accounts', { email: 'a@b.example' })).body;
  expect(did()).toBe(`stored account ${short_id}`);
  await service.send('POST', '/sandbox/trigger', { event: 'account-forwarded', id: short_id });
  expect(did()).toBe(`account-forwarded ${short_id}`);
  await service.send('DELETE', `/managed-accounts/${short_id}`);
  expect(did()).toBe(`deleted account ${short_id}`);
  const batch = { rows: [rowBody(service.product('test-success'))] };
  const uploaded = (await service.send('POST', '/orders/bulk', batch)).body.id;
  expect(did()).toBe(`uploaded batch ${short(uploaded)}, 1 row`);
  await service.send('POST', '/sandbox/control/advance', { ms: 1000 });
  expect(did()).toBe('moved the clock to 2026-03-01T12:00:01.000Z');
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 5 });
  expect(did()).toBe('wallet-funded');
});

test('one that is refused says why, by its code or the field that is wrong', async () => {
  await service.order('test-success', { max_price: 10_000_000 });
  expect(did()).toBe('insufficient_funds');
  await service.send('POST', '/orders', {});
  expect(did()).toBe('body.products: missing');
  await service.send('POST', '/orders', { ...{ products: [] }, [`${'x'.repeat(200)}`]: 1 });
  expect(did()?.length).toBeLessThanOrEqual(60);
  await service.send('GET', '/nothing');
  expect(did()).toBe('not_found');
});

test('what was done before a fault hid it is told', async () => {
  const { id } = (await service.order('test-success')).body;
  service.pass(12_000);
  const { items } = (await service.send('GET', `/orders/${id}`)).body;
  const body = { order_id: id, items: [{ order_item_id: items[0].id, quantity: 1 }], reason: 'damaged' };
  expect((await service.send('POST', '/returns', body)).status).toBe(503);
  const [made] = (await service.send('GET', '/returns')).body.return_requests;
  expect(seen.at(-2)).toMatchObject({
    status: 503,
    fault: 'status',
    did: `requested return ${short(made.id)}`,
  });
});

test('a form of the console says what it did, and no code that a person types is told', async () => {
  const { text } = await page(service, '/shop/test-success');
  const user = /<option value="([^"]+)"/.exec(text)?.[1] ?? '';
  const fields = { once: onceOf(text), user, quantity: '1', max_price: '50' };
  const placed = await submit(service, '/console/shop/test-success', fields);
  const id = placed.headers.get('location')?.split('/').at(-1) ?? '';
  expect(did()).toBe(`placed ${short(id)}`);
  await submit(service, `/console/orders/${id}/cancel`);
  expect(did()).toBe(`cancel ${short(id)}`);
  const { user_code } = (await service.send('POST', '/device/code', undefined, null)).body;
  await service.send('POST', '/sandbox/trigger', { event: 'device-approve', id: user_code });
  expect(did()).toBe('device-approve');
});
