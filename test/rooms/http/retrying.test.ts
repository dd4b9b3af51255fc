import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { caller, failureOf, keyedOrder, order, orderBody, orderId } from '../../support/caller.ts';
import { json, peer, reset } from '../../support/peer.ts';

const wallet = { balance: 1 };
const unavailable = { code: 'service_unavailable', message: 'down for a moment', details: {} };
const limited = { code: 'rate_limit_exceeded', message: 'too many requests', details: {} };

describe('a rate limit', () => {
  test('is waited for as many seconds as the service says', async () => {
    const service = await peer(json(limited, 429, { 'retry-after': '7' }), json(wallet));
    const { client, clock } = caller(service.url);
    expect((await client.call('wallet.get', {})).attempts).toBe(2);
    expect(clock.slept).toEqual([7000]);
  });

  test('is waited for until the date the service says', async () => {
    const service = await peer(
      json(limited, 429, {
        'retry-after': 'Sat, 21 Nov 2026 10:00:20 GMT',
        date: 'Sat, 21 Nov 2026 10:00:00 GMT',
      }),
      json(wallet),
    );
    const { client, clock } = caller(service.url);
    await client.call('wallet.get', {});
    expect(clock.slept).toEqual([20_000]);
  });

  test('of an hour is told, not waited for', async () => {
    const service = await peer(json(limited, 429, { 'retry-after': '3600' }));
    const { client, clock } = caller(service.url);
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({
      category: 'unavailable',
      facts: {
        code: 'rate_limit_exceeded',
        status: 429,
        retryAfterMs: 3_600_000,
        retryable: true,
        outcome: 'rejected',
        attempts: 1,
      },
    });
    expect(clock.slept).toEqual([]);
  });

  test('leaves an order in doubt: what stands before the service may respond to it after the work was done', async () => {
    const service = await peer(json(limited, 429));
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown', attempts: 5 } });
  });

  test('before the service goes away leaves an order in doubt: it may have responded after the work was done', async () => {
    const server = createServer((_, response) => {
      response.writeHead(429, { 'content-type': 'application/json', connection: 'close' });
      response.end(JSON.stringify(limited));
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { client } = caller(`http://127.0.0.1:${port}`);
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown' } });
  });
});

describe('a service that fails', () => {
  test('is asked again for an order, with the same key', async () => {
    const service = await peer(json(unavailable, 503), json(unavailable, 502), json(order, 201));
    const { client } = caller(service.url);
    expect((await client.call('order.create', { body: keyedOrder })).attempts).toBe(3);
    expect(new Set(service.received.map(({ body }) => body)).size).toBe(1);
  });

  test('leaves an order in doubt: it may have worked before it failed', async () => {
    const service = await peer(json(unavailable, 500));
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({
      category: 'in_doubt',
      facts: { outcome: 'unknown', status: 500, code: 'service_unavailable', attempts: 5 },
    });
  });

  test('leaves an order in doubt whatever a later attempt is refused for', async () => {
    const service = await peer(
      json(unavailable, 503),
      json({ ...unavailable, code: 'rate_limited' }, 429),
      json({ ...unavailable, code: 'insufficient_funds' }, 402),
    );
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown', attempts: 3 } });
  });

  test('is asked once for an order without a key', async () => {
    const service = await peer(json(unavailable, 503));
    await failureOf(caller(service.url).client.call('order.create', { body: orderBody }));
    expect(service.received).toHaveLength(1);
  });

  test('is asked once to cancel', async () => {
    const service = await peer(json(unavailable, 503));
    const error = await failureOf(
      caller(service.url).client.call('order.cancel', { path: { order_id: orderId } }),
    );
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'unknown', attempts: 1 } });
  });

  test('is asked as often as --retries says', async () => {
    const service = await peer(json(unavailable, 503));
    await failureOf(caller(service.url, { retries: 1 }).client.call('wallet.get', {}));
    expect(service.received).toHaveLength(2);
  });

  test('is not asked again once the user has stopped waiting', async () => {
    const service = await peer(json(unavailable, 503));
    const { client, controller } = caller(service.url, {
      clock: {
        now: () => 0,
        monotonic: () => 0,
        sleep: async (_, signal) => {
          controller.abort();
          signal?.throwIfAborted();
        },
      },
    });
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error.category).toBe('interrupted');
    expect(service.received).toHaveLength(1);
  });
});

describe('an order whose first attempt got no response', () => {
  test('stays in doubt though a later try is refused', async () => {
    const funds = {
      code: 'insufficient_funds',
      message: 'the wallet cannot cover it',
      details: { required: 2 },
    };
    const service = await peer(reset, json(funds, 402));
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({
      category: 'in_doubt',
      facts: { outcome: 'unknown', code: 'insufficient_funds', attempts: 2 },
    });
    expect(error.message).toContain('the wallet cannot cover it');
  });

  test('is found when the later try says that it exists', async () => {
    const exists = {
      code: 'already_exists',
      message: 'it exists',
      details: { resource: 'order', identifier: orderId },
    };
    const service = await peer(reset, json(exists, 409));
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({
      category: 'conflict',
      facts: { code: 'already_exists', details: { identifier: orderId } },
    });
  });
});
