import { afterEach, expect, test } from 'vitest';
import { readFault } from '../../src/sandbox/faults/spec.ts';
import { orderBody, TestService } from './service.ts';

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** A service whose faults begin once its key is minted. */
async function faulty(...texts: string[]): Promise<TestService> {
  const faults = texts.map((text) => readFault(text) ?? expect.fail(`${text} is no fault`));
  service = await TestService.start({ faults });
  return service;
}

const total = async (it: TestService) => (await it.send('GET', '/orders')).body.total;
const place = (it: TestService) => it.send('POST', '/orders', orderBody(it.product('test-success')));

test('reset-before: the connection breaks and no order is made', async () => {
  const it = await faulty('reset-before@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(0);
});

test('reset-after: the connection breaks and the order is made', async () => {
  const it = await faulty('reset-after@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(1);
});

test('truncate: half an answer comes, and the order is made', async () => {
  const it = await faulty('truncate@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(1);
});

test('a person’s pages have none, and do not change which fall on the requests of a program', async () => {
  const fallen = async (isWatched: boolean): Promise<number[]> => {
    const it = await faulty('503:50%');
    const statuses: number[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      statuses.push((await it.send('GET', '/orders')).status);
      if (!isWatched) continue;
      expect((await it.send('GET', '/', undefined, null, { accept: 'text/html' })).status).toBe(200);
    }
    await it.stop();
    service = undefined;
    return statuses;
  };
  const alone = await fallen(false);
  expect(alone).toContain(503);
  expect(await fallen(true)).toEqual(alone);
});

test('429 carries Retry-After, a 5xx its code; before the work or after it', async () => {
  const it = await faulty(
    '429=5s@POST /orders',
    '503@/wallet/me',
    '502-after@/orders/bulk/validate',
    '500@/search',
  );
  const limited = await place(it);
  expect([limited.status, limited.body.code, limited.headers.get('retry-after')]).toEqual([
    429,
    'rate_limit_exceeded',
    '5',
  ]);
  expect(await total(it)).toBe(0);
  expect((await it.send('GET', '/wallet/me')).body.code).toBe('service_unavailable');
  expect((await it.send('GET', '/search?q=tea')).body.code).toBe('internal_error');
  expect((await it.send('POST', '/orders/bulk/validate', {})).body.code).toBe('external_service_error');
});

test('delay: the answer comes, later', async () => {
  const it = await faulty('delay=80ms@/wallet/me');
  const began = performance.now();
  expect((await it.send('GET', '/wallet/me')).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(70);
});

test('refuse: no connection is taken', async () => {
  await expect(faulty('refuse')).rejects.toThrow();
});

test('a share of the requests fails, the same ones for the same seed', async () => {
  const pattern = async () => {
    const it = await faulty('503:50%@/wallet/me');
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) statuses.push((await it.send('GET', '/wallet/me')).status);
    await it.stop();
    service = undefined;
    return statuses;
  };
  const first = await pattern();
  expect(await pattern()).toEqual(first);
  const failed = first.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(8);
  expect(failed).toBeLessThan(32);
});

test.each([
  ['503@/orders/*', 'GET', '/orders/1/timeline', true],
  ['503@/orders/*', 'GET', '/orders', false],
  ['503@/orders/*/cancel', 'POST', '/orders/1/cancel', true],
  ['503@/orders/*/cancel', 'POST', '/orders/cancel', false],
  ['503@GET /orders', 'POST', '/orders', false],
  ['503', 'DELETE', '/anything', true],
])('%s on %s %s: %s', (text, method, path, expected) => {
  expect(readFault(text)?.matches(method, path)).toBe(expected);
});

test.each([
  '',
  'explode',
  '404',
  '503:200%',
  'reset',
  'delay=x',
  '503=5s',
  'refuse@/orders',
  '503@orders',
  '503:20',
])('"%s" is no fault', (text) => {
  expect(readFault(text)).toBeUndefined();
});
