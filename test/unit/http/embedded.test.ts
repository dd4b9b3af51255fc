import { describe, expect, test } from 'vitest';
import { type EmbeddedHandler, embeddedTransport } from '../../../src/http/transport/embedded.ts';
import { caller, failureOf, keyedOrder, order, textOf } from '../../support/caller.ts';

type HandlerResponse = Awaited<ReturnType<EmbeddedHandler>>;
const transportOf = (response: Partial<HandlerResponse>) =>
  embeddedTransport(async () => ({ status: 200, headers: {}, body: null, ...response }));

describe('a service inside the process', () => {
  test('gets the request as it would come over the network', async () => {
    const requests: Parameters<EmbeddedHandler>[0][] = [];
    const transport = embeddedTransport(async (request) => {
      requests.push(request);
      return { status: 201, headers: { 'X-Request-Id': 'r-1' }, body: JSON.stringify(order) };
    });
    const called = await caller('embedded:', { transport }).client.call('order.create', { body: keyedOrder });
    expect(called).toMatchObject({ status: 201, requestId: 'r-1', body: order });
    expect(requests).toMatchObject([
      {
        method: 'POST',
        target: '/orders',
        remoteAddress: '127.0.0.1',
        headers: { 'content-type': 'application/json' },
      },
    ]);
    expect(Buffer.from(requests[0]?.body ?? []).toString()).toBe(JSON.stringify(keyedOrder));
  });

  test.each([
    ['text', '{"balance":1}'],
    ['bytes', new TextEncoder().encode('{"balance":1}')],
    ['pieces', ['{"bal', new TextEncoder().encode('ance":1}')]],
  ])('may respond with %s', async (_, body) => {
    const { client } = caller('embedded:', { transport: transportOf({ body }) });
    expect((await client.call('wallet.get', {})).body).toEqual({ balance: 1 });
  });

  test('may respond with a stream', async () => {
    const body = (async function* () {
      yield 'id\n';
      yield '1\n';
    })();
    const { client } = caller('embedded:', {
      transport: transportOf({ headers: { 'content-type': 'text/csv' }, body }),
    });
    expect(await textOf((await client.stream('order.export', {})).chunks)).toBe('id\n1\n');
  });

  test('names itself in a refusal', async () => {
    const { client } = caller('embedded:', { transport: transportOf({ status: 404 }) });
    expect((await failureOf(client.call('wallet.get', {}))).message).toBe(
      'GET embedded:/wallet/me returned 404',
    );
  });

  test('that breaks down is told once, an order being in doubt', async () => {
    let calls = 0;
    const transport = embeddedTransport(() => {
      calls += 1;
      throw new Error('disk I/O error');
    });
    const error = await failureOf(
      caller('embedded:', { transport }).client.call('order.create', { body: keyedOrder }),
    );
    expect(error).toMatchObject({ category: 'in_doubt' });
    expect(error.message).toContain('the embedded sandbox failed: disk I/O error');
    expect(calls).toBe(1);
  });

  test('that breaks down has nothing to do with the network: the hint names where its data is', async () => {
    const transport = embeddedTransport(() => Promise.reject(new Error('the disk is full')));
    const error = await failureOf(
      caller('embedded:', { transport }).client.call('sandbox.mint', { body: {} }),
    );
    expect(error.facts.hint).toContain('errand config path');
    expect(error.facts.hint).not.toContain('network');
  });

  test('that breaks down half-way through a response is reported', async () => {
    const body = (async function* () {
      yield 'id\n';
      throw new Error('disk I/O error');
    })();
    const { client } = caller('embedded:', { transport: transportOf({ body }) });
    expect((await failureOf(textOf((await client.stream('order.export', {})).chunks))).message).toContain(
      'disk I/O error',
    );
  });

  test('that hangs is given up at the deadline', async () => {
    const transport = embeddedTransport(() => new Promise(() => {}));
    const error = await failureOf(
      caller('embedded:', { transport, timeoutMs: 30 }).client.call('wallet.get', {}),
    );
    expect(error).toMatchObject({ name: 'DeadlineError' });
  });

  test('that hangs is given up when its response does not begin', async () => {
    const transport = embeddedTransport(() => new Promise(() => {}), { headersMs: 20 });
    const error = await failureOf(
      caller('embedded:', { transport, retries: 0 }).client.call('wallet.get', {}),
    );
    expect(error.message).toContain('no response came in time');
  });

  test('that hangs is left when the user stops', async () => {
    const transport = embeddedTransport(() => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    });
    const { client, controller } = caller('embedded:', { transport });
    expect(await failureOf(client.call('wallet.get', {}))).toMatchObject({ category: 'interrupted' });
  });
});
