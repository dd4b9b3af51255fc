import { afterEach, beforeEach, expect, test } from 'vitest';
import { json, peer } from '../http/peer.ts';
import { makePlace, type Place } from './place.ts';
import { errand } from './run.ts';

const [one, other] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];

let place: Place;
beforeEach(() => {
  place = makePlace({ ERRAND_API_KEY: 'xx_test_0123456789abcdef' });
});
afterEach(() => place.remove());

const row = (status: string, order: string | null, index = 0) => ({
  index,
  status,
  order_id: null,
  order_status: order,
  error: null,
  recipient: null,
  product_urls: [],
  passthrough: {},
});

const batch = (id: string, status: string, rows: readonly unknown[], count = rows.length) => ({
  id,
  status,
  filename: 'orders.csv',
  row_count: count,
  placed_count: 0,
  failed_count: 0,
  rows,
});

const watch = (url: string, ids: readonly string[], timeout = '2s') =>
  errand(place, ['bulk', 'watch', ...ids, '--base-url', url, '--timeout', timeout]);

test('a batch that was never heard of before --timeout passed is not done: exit 8', async () => {
  const { code, stderr } = await watch('http://127.0.0.1:1', [one]);
  expect(code).toBe(8);
  expect(stderr).toContain('--timeout passed');
  const results = await errand(place, [
    'bulk',
    'results',
    one,
    '--wait',
    '--base-url',
    'http://127.0.0.1:1',
    '--timeout',
    '2s',
  ]);
  expect(results).toMatchObject({ code: 8, stdout: '' });
});

test('a batch whose rows are not there yet is waited for', async () => {
  const { url } = await peer(
    json(batch(one, 'pending', [], 1)),
    json(batch(one, 'completed', [row('placed', 'order_placed')])),
  );
  const { code, stderr } = await watch(url, [one], '20s');
  expect(code).toBe(0);
  expect(stderr).toContain('1 row of 1 placed');
});

test('a batch that failed as a whole is not waited for', async () => {
  const { url } = await peer(json(batch(one, 'failed', [row('pending', null)])));
  const { code, stderr } = await watch(url, [one], '20s');
  expect(code).toBe(7);
  expect(stderr).toContain('1 row failed');
});

test('of several batches only those with failed rows are named for a retry, a command each', async () => {
  const { url } = await peer((response, request, socket) => {
    const [id, status, order] = request.target.endsWith(one)
      ? [one, 'placed', 'order_placed']
      : [other, 'failed', null];
    json(batch(id, 'completed', [row(status, order)]))(response, request, socket);
  });
  const { code, stderr } = await watch(url, [one, other], '20s');
  expect(code).toBe(7);
  expect(stderr).toContain(`errand bulk retry ${other}`);
  expect(stderr).not.toContain(`errand bulk retry ${one}`);
});
