import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { caller, failureOf, order, orderBody, orderId, testKey, textOf } from '../../support/caller.ts';
import { json, peer, text } from '../../support/peer.ts';

const emptyList = { orders: [], total: 0, limit: 50, offset: 0 };

describe('a call', () => {
  test('carries the key, who asks, and what is accepted', async () => {
    const service = await peer(json({ balance: 1 }, 200, { 'x-request-id': 'req-1' }));
    const called = await caller(service.url).client.call('wallet.get', {});
    expect(called).toMatchObject({ status: 200, attempts: 1, requestId: 'req-1', body: { balance: 1 } });
    expect(service.received[0]).toMatchObject({
      method: 'GET',
      target: '/wallet/me',
      headers: {
        authorization: `Bearer ${testKey}`,
        'user-agent': 'errand/0.0.0',
        accept: 'application/json',
      },
    });
  });

  test('leaves nothing waiting behind it, however it ends', async () => {
    const service = await peer(
      json({ balance: 1 }),
      json({}, 404),
      text('id\n', 200, { 'content-type': 'text/csv' }),
    );
    const { client, controller } = caller(service.url, { timeoutMs: 60_000 });
    await client.call('wallet.get', {});
    await failureOf(client.call('wallet.get', {}));
    await textOf((await client.stream('order.export', {})).chunks);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  test('carries its body as JSON', async () => {
    const service = await peer(json(order, 201));
    const { client } = caller(service.url);
    await client.call('order.create', { body: orderBody });
    expect(service.received[0]).toMatchObject({
      method: 'POST',
      target: '/orders',
      body: JSON.stringify(orderBody),
      headers: { 'content-type': 'application/json' },
    });
  });

  test('without a response to read is done with 204', async () => {
    const service = await peer(text('', 204));
    const { client } = caller(service.url);
    expect(await client.call('order.cancel', { path: { order_id: orderId } })).toMatchObject({
      status: 204,
      body: undefined,
    });
    expect(service.received[0]).toMatchObject({
      method: 'POST',
      target: `/orders/${orderId}/cancel`,
      body: '',
    });
  });

  test('puts each parameter in its place and form', async () => {
    const service = await peer(json(emptyList));
    await caller(service.url).client.call('order.list', {
      query: {
        created_after: '2026-01-01',
        search: 'a&b=c d/é',
        has_tracking: false,
        include: ['tracking_events'],
        limit: 5,
      },
    });
    const { pathname, searchParams } = new URL(service.received[0]?.target ?? '', service.url);
    expect(pathname).toBe('/orders');
    expect(Object.fromEntries(searchParams)).toEqual({
      created_after: '2026-01-01T00:00:00.000Z',
      search: 'a&b=c d/é',
      has_tracking: 'false',
      include: 'tracking_events',
      limit: '5',
    });
  });

  test.each(['a/b', 'a?b', '../x', 'ä ö', '%2e%2e'])(
    'keeps the id %s in its place in the path',
    async (id) => {
      const service = await peer(json({ status: 'completed' }));
      await caller(service.url).client.call('product.get', {
        path: { product_id: id },
        query: { retailer: 'store' },
      });
      expect(service.received[0]?.target).toBe(`/products/${encodeURIComponent(id)}?retailer=store`);
    },
  );

  test.each(['.', '..'])('refuses the id %s, which would lead out of the path', async (id) => {
    const service = await peer(json({}));
    const error = await failureOf(
      caller(service.url).client.call('product.offers', {
        path: { product_id: id },
        query: { retailer: 'x' },
      }),
    );
    expect(error.category).toBe('usage');
    expect(service.received).toEqual([]);
  });

  test.each([
    [{ limit: 501 }, 'limit: '],
    [{ limit: 0 }, 'limit: '],
    [{ offset: -1 }, 'offset: '],
    [{ created_after: 'yesterday' }, 'created_after: '],
    [{ return_status: 'lost' }, 'return_status: '],
    [{ metadata_key: 'a' }, 'metadata_value: '],
    [{ metadata_key: 'k'.repeat(201), metadata_value: 'v' }, 'metadata_key: '],
  ])('with %j is refused by name before it is sent', async (query, name) => {
    const service = await peer(json(emptyList));
    const error = await failureOf(caller(service.url).client.call('order.list', { query }));
    expect(error).toMatchObject({ name: 'UsageError', category: 'usage', facts: { outcome: 'not_sent' } });
    expect(error.message).toContain(name);
    expect(service.received).toEqual([]);
  });

  test('with a bad id is refused by name before it is sent', async () => {
    const error = await failureOf(
      caller('http://127.0.0.1:1').client.call('order.get', { path: { order_id: '42' } }),
    );
    expect(error.message).toBe('order_id: Input should be a valid UUID');
  });
});

describe('the credential', () => {
  test('is missed before anything is sent', async () => {
    const service = await peer(json({}));
    const error = await failureOf(caller(service.url, { apiKey: null }).client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'authentication', facts: { outcome: 'not_sent' } });
    expect(error.facts.hint).toContain('errand auth');
    expect(service.received).toEqual([]);
  });

  test('stays home where the operation needs none', async () => {
    const service = await peer(json({ retailers: [], total: 0 }));
    await caller(service.url).client.call('retailer.list', {});
    expect(service.received[0]?.headers.authorization).toBeUndefined();
  });

  test('of the legacy service is the client token with a blank password, sent to its own address', async () => {
    const [service, legacy] = [await peer(json({})), await peer(json({ request_id: 'r-1' }))];
    const { client } = caller(service.url, { legacyBaseUrl: legacy.url, legacyToken: 'client-token' });
    await client.call('legacy.retry', { path: { request_id: orderId } });
    expect(legacy.received[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('client-token:').toString('base64')}`,
    );
    expect(service.received).toEqual([]);
  });

  test('with a line break in it is refused without being shown', async () => {
    const error = await failureOf(
      caller('http://127.0.0.1:1', { apiKey: 'xx_test_1\r\nx-evil: 1' }).client.call('wallet.get', {}),
    );
    expect(error.category).toBe('authentication');
    expect(error.message).not.toContain('xx_test_1');
  });
});

describe('any request', () => {
  test('is sent as it is given, JSON coming back as a value', async () => {
    const service = await peer(json({ any: 'thing' }, 200, { 'x-request-id': 'r' }));
    const response = await caller(service.url).client.raw({
      method: 'put',
      path: '/new/thing?a=1',
      query: { b: ['2', '3'] },
      headers: { 'X-Own': 'yes' },
      body: '{"x": 1}',
    });
    expect(response).toMatchObject({ status: 200, json: { any: 'thing' }, requestId: 'r' });
    expect(service.received[0]).toMatchObject({
      method: 'PUT',
      target: '/new/thing?a=1&b=2&b=3',
      body: '{"x": 1}',
      headers: { 'x-own': 'yes', 'content-type': 'application/json', authorization: `Bearer ${testKey}` },
    });
  });

  test('responds in pieces where it is not JSON', async () => {
    const service = await peer(text('id\n1\n', 200, { 'content-type': 'text/csv' }));
    const response = await caller(service.url).client.raw({ method: 'GET', path: '/orders/export' });
    expect('chunks' in response && (await textOf(response.chunks))).toBe('id\n1\n');
  });

  test('fails as a call of the table does', async () => {
    const service = await peer(json({ code: 'not_found', message: 'no such order', details: {} }, 404));
    const error = await failureOf(
      caller(service.url).client.raw({ method: 'GET', path: `/orders/${orderId}` }),
    );
    expect(error).toMatchObject({
      category: 'not_found',
      message: 'no such order',
      facts: { code: 'not_found' },
    });
  });

  test.each([
    ['GET', '/unknown', undefined, 4],
    ['DELETE', '/unknown', undefined, 1],
    ['POST', '/orders', JSON.stringify({ idempotency_key: 'k' }), 5],
    ['POST', '/orders', JSON.stringify({ max_price: 1 }), 1],
    ['POST', '/orders/bulk/validate', '{}', 4],
    ['POST', `/orders/${orderId}/cancel`, undefined, 1],
  ])('%s %s is tried as often as the table allows', async (method, path, body, attempts) => {
    const service = await peer(json({}, 503));
    await failureOf(caller(service.url).client.raw({ method, path, body }));
    expect(service.received).toHaveLength(attempts);
  });

  test('that moves money and gets no response is in doubt', async () => {
    const service = await peer((_response, _request, socket) => void socket.destroy());
    const error = await failureOf(
      caller(service.url).client.raw({ method: 'POST', path: '/orders', body: '{}' }),
    );
    expect(error.category).toBe('in_doubt');
  });

  test('with a credential of its own needs no key', async () => {
    const service = await peer(json({ ok: 1 }));
    const { client } = caller(service.url, { apiKey: null });
    await client.raw({ method: 'GET', path: '/wallet/me', headers: { Authorization: 'Payment abc' } });
    expect(service.received[0]?.headers.authorization).toBe('Payment abc');
  });

  test.each([
    [{ path: 'orders' }, 'path'],
    [{ path: '//evil.example/orders' }, 'path'],
    [{ path: '/orders#x' }, 'path'],
    [{ path: '/or ders' }, 'path'],
    [{ path: 'https://evil.example/' }, 'path'],
    [{ path: '/\\evil.example' }, 'path'],
    [{ method: 'GE T' }, 'method'],
    [{ method: 'CONNECT' }, 'method'],
    [{ headers: { Host: 'evil.example' } }, 'Host'],
    [{ headers: { 'Content-Length': '0' } }, 'Content-Length'],
    [{ headers: { 'a b': '1' } }, 'a b'],
    [{ headers: { 'x-a': '1\r\nx-b: 2' } }, 'x-a'],
    [{ surface: 'legacy' as const }, 'ERRAND_LEGACY_BASE_URL'],
  ])('with %j is refused', async (part, name) => {
    const error = await failureOf(
      caller('http://127.0.0.1:1').client.raw({ method: 'GET', path: '/orders', ...part }),
    );
    expect(error.category).toBe('usage');
    expect(error.message).toContain(name);
  });
});
