import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { targetOf } from '../../../src/sandbox/webhooks/address.ts';
import { TestService } from '../../support/service.ts';

interface Received {
  readonly path: string;
  readonly event: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: ReturnType<typeof JSON.parse>;
}

let service: TestService;
let receiver: Server;
let address: string;
let received: Received[];
/** Response statuses of the receiver, in order; 200 afterwards. */
let responses: number[];

beforeEach(async () => {
  received = [];
  responses = [];
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({
      path: request.url ?? '',
      event: String(request.headers['x-webhook-event']),
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    response.writeHead(responses.shift() ?? 200, { location: 'http://127.0.0.1:1/' }).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  service = await TestService.start();
});
afterEach(async () => {
  await service.stop();
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
  expect(service.bugs).toEqual([]);
});

const register = (url = `${address}/hook`, key = service.key) =>
  service.send('POST', '/users', { webhook_url: url }, key);
const events = (path = '/hook') => received.filter((it) => it.path === path).map(({ event }) => event);
const arrived = (count: number) => expect.poll(() => received.length).toBe(count);
/** Advances time in steps, with a request after each. */
async function live(ms: number, step = 500) {
  for (let at = 0; at < ms; at += step) {
    service.pass(step);
    await service.send('GET', '/wallet/me');
  }
}

test('POST /users registers the address and returns it', async () => {
  const { status, body } = await register(`${address}/hook?secret=s3cret`);
  expect(status).toBe(200);
  expect(body).toEqual({ id: expect.any(String), webhook_url: `${address}/hook?secret=s3cret` });
});

test('without an address nothing is sent', async () => {
  await service.order('test-success');
  await live(12_000);
  expect(received).toEqual([]);
});

test('every event of a delivered order comes, in order, with its name and the record of that moment', async () => {
  await register();
  const { id } = (await service.order('test-success')).body;
  await live(12_000);
  await expect.poll(() => received.at(-1)?.body.tracking_numbers[0]?.status).toBe('delivered');
  expect(events().slice(0, 5)).toEqual([
    'status_updated',
    'request_succeeded',
    'status_updated',
    'tracking_obtained',
    'tracking_updated',
  ]);
  expect(events().filter((event) => event === 'tracking_updated').length).toBeGreaterThan(3);
  expect(received.map(({ body }) => body.status).slice(0, 3)).toEqual([
    'in_progress',
    'order_placed',
    'order_placed',
  ]);
  expect(
    received.every(({ body, headers }) => body.id === id && headers['content-type'] === 'application/json'),
  ).toBe(true);
});

test('request_failed carries error_type', async () => {
  await register();
  await service.order('test-out-of-stock');
  await live(5000);
  await arrived(3);
  expect(events()).toEqual(['status_updated', 'request_failed', 'status_updated']);
  expect(received[1]?.body).toMatchObject({ status: 'order_failed', error_type: 'out_of_stock' });
});

test('a cancel is a status_updated', async () => {
  await register();
  const { id } = (await service.order('test-slow')).body;
  await service.send('POST', `/orders/${id}/cancel`);
  await arrived(1);
  expect(received[0]).toMatchObject({ event: 'status_updated', body: { status: 'cancelled' } });
});

test('the addresses of an order’s own webhooks get their events, under either name, every one of an array', async () => {
  const webhooks = {
    request_succeeded: `${address}/one`,
    order_placed: [`${address}/two`, `${address}/three`, `${address}/one`],
    tracking_obtained: `${address}/tracking`,
  };
  const { body } = await service.order('test-success', { webhooks });
  expect(body.webhooks).toBeUndefined();
  await live(12_000);
  await arrived(4);
  expect(received.map(({ path, event }) => `${path} ${event}`).toSorted()).toEqual([
    '/one request_succeeded',
    '/three request_succeeded',
    '/tracking tracking_obtained',
    '/two request_succeeded',
  ]);
});

test('what is not taken is tried again, and nothing of that order overtakes it', async () => {
  await register();
  responses = [500, 302, 503];
  await service.order('test-success');
  await live(3000);
  await expect.poll(() => events().length).toBeGreaterThan(0);
  await live(12_000);
  await expect.poll(() => received.at(-1)?.body.tracking_numbers[0]?.status).toBe('delivered');
  expect(events().slice(0, 6)).toEqual([
    'status_updated',
    'status_updated',
    'status_updated',
    'status_updated',
    'request_succeeded',
    'status_updated',
  ]);
  expect(new Set(received.slice(0, 4).map(({ body }) => body.status))).toEqual(new Set(['in_progress']));
});

test('an order whose receiver is broken does not hold up another', async () => {
  const broken = { status_updated: 'http://127.0.0.1:1/closed' };
  await service.order('test-success', { webhooks: broken });
  await service.order('test-success', { webhooks: { status_updated: `${address}/fine` } });
  await live(4000);
  await expect.poll(() => events('/fine')).toEqual(['status_updated', 'status_updated']);
});

test('what is queued survives the end of the service', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'errand-hooks-'));
  const file = join(folder, 'sandbox.db');
  const first = await TestService.start({ file });
  try {
    const port = (receiver.address() as AddressInfo).port;
    await first.send('POST', '/users', { webhook_url: `http://127.0.0.1:${port}/later` });
    responses = [500];
    await first.order('test-out-of-stock');
    first.pass(1500);
    await first.send('GET', '/wallet/me');
    await arrived(1);
  } finally {
    await first.stop();
  }
  const second = await TestService.start({ file, now: Date.parse('2026-03-01T13:00:00Z') });
  try {
    await expect.poll(() => events('/later').length).toBe(4);
  } finally {
    await second.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('an address that is not loopback is refused, unless external ones are allowed', async () => {
  const refused = await register('https://hooks.example.com/x');
  expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  const open = await TestService.start({
    config: { webhooks: { loopback: true, external: true, named: [] } },
  });
  try {
    expect((await open.send('POST', '/users', { webhook_url: 'https://hooks.example.com/x' })).status).toBe(
      200,
    );
  } finally {
    await open.stop();
  }
});

test.each([
  ['http://127.0.0.1/', undefined, undefined],
  ['http://[::1]:8080/', undefined, undefined],
  ['http://localhost/', undefined, undefined],
  ['http://10.0.0.1/', 'only loopback', undefined],
  ['http://169.254.169.254/latest', 'only loopback', 'never called'],
  ['http://example.com/', 'only loopback', undefined],
])('%s: %s by default, %s with external ones', (url, usual, external) => {
  const check = (allow: boolean, expected: string | undefined) => {
    const { denial } = targetOf(new URL(url), { loopback: true, external: allow, named: [] });
    if (expected === undefined) expect(denial).toBeUndefined();
    else expect(denial).toContain(expected);
  };
  check(false, usual);
  check(true, external);
});

test.each([{}, { webhook_url: 'ftp://x' }, { webhook_url: 7 }, { webhook_url: 'http://127.0.0.1', more: 1 }])(
  '%j is a 422',
  async (body) => {
    expect((await service.send('POST', '/users', body)).status).toBe(422);
  },
);

test('a slow receiver slows no request', async () => {
  let asked = 0;
  let answered = 0;
  const slow = createServer((_, response) => {
    asked += 1;
    response.on('close', () => (answered += 1));
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    await register(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`);
    await service.order('test-success');
    service.pass(3000);
    await service.send('GET', '/wallet/me');
    await expect.poll(() => asked).toBe(1);
    await service.send('GET', '/wallet/me');
    // A request that waited for the receiver would not return until the delivery times out.
    expect(answered).toBe(0);
  } finally {
    slow.closeAllConnections();
    slow.close();
  }
});

test('each change of a return is an update of the case of its order', async () => {
  const { body: order } = await service.order('test-success');
  service.pass(12_000);
  await register();
  const items = [{ order_item_id: order.items[0].id }];
  await service.send('POST', '/returns', { order_id: order.id, items, reason: 'damaged' });
  await live(8_000);
  await expect.poll(() => events().filter((event) => event === 'case_updated')).toHaveLength(2);
  const cases = received.filter(({ event }) => event === 'case_updated');
  expect(cases.map(({ body }) => [body.id, body.returns[0].status])).toEqual([
    [order.id, 'approved'],
    [order.id, 'credited'],
  ]);
});
