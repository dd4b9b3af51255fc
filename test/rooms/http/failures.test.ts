import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ErrandError } from '../../../src/platform/errors.ts';
import { caller, failureOf, keyedOrder, order, orderBody, orderId, textOf } from '../../support/caller.ts';
import { closedPort, hang, json, peer, reset, text, truncated } from '../../support/peer.ts';

/** Fakes the timers behind all timeouts. @returns a function that advances time, ms. */
function timeInHand(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

const wallet = { balance: 100_000, spendable_balance: 100_000, order_fee_cents: 0 };

describe('a service that cannot be reached', () => {
  test('is unavailable after all tries, and surely not sent', async () => {
    const url = await closedPort();
    const { client, clock } = caller(url);
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({
      category: 'unavailable',
      facts: { outcome: 'not_sent', attempts: 4, retryable: true },
    });
    expect(error.message).toBe(`GET ${url}/wallet/me failed: the connection was refused`);
    expect(clock.slept).toEqual([250, 500, 1000]);
  });

  test('leaves nothing in doubt even of an order', async () => {
    const { client } = caller(await closedPort());
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 5 } });
  });

  test('lets even a request that is never repeated be tried again', async () => {
    const { client, clock } = caller(await closedPort());
    await failureOf(client.call('order.cancel', { path: { order_id: orderId } }));
    expect(clock.slept).toHaveLength(3);
  });

  test('is named where its host does not exist', async () => {
    const { client } = caller('https://no-such-host.invalid', { retries: 0 });
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent' } });
    expect(error.message).toMatch(/no such host|could not be looked up/);
  });

  test('is not tried twice where it does not speak TLS', async () => {
    const { url } = await peer(json(wallet));
    const { client, clock } = caller(url.replace('http:', 'https:'));
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 1 } });
    expect(error.message).toContain('TLS');
    expect(clock.slept).toEqual([]);
  });
});

describe('a connection that breaks', () => {
  test('is mended by trying a read again', async () => {
    const service = await peer(reset, json(wallet));
    const { client } = caller(service.url);
    const { body, attempts } = await client.call('wallet.get', {});
    expect(body).toEqual(wallet);
    expect(attempts).toBe(2);
  });

  test('has the order sent again with the same bytes', async () => {
    const service = await peer(reset, json(order, 201));
    const { client } = caller(service.url);
    expect((await client.call('order.create', { body: keyedOrder })).body).toEqual(order);
    expect(service.received.map(({ body }) => body)).toEqual([
      JSON.stringify(keyedOrder),
      JSON.stringify(keyedOrder),
    ]);
  });

  test('never has an order without a key sent again', async () => {
    const service = await peer(reset);
    const { client } = caller(service.url);
    const error = await failureOf(client.call('order.create', { body: orderBody }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown', attempts: 1 } });
    expect(service.received).toHaveLength(1);
  });

  test('leaves the order in doubt when no attempt gets a response', async () => {
    const service = await peer(reset);
    const { client } = caller(service.url);
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({
      category: 'in_doubt',
      facts: { outcome: 'unknown', attempts: 5, retryable: true },
    });
    expect(error.message).toContain(`POST ${service.url}/orders may have taken effect`);
  });

  test('on a connection that was used before is in doubt too', async () => {
    const service = await peer(json(wallet), reset);
    const { client } = caller(service.url, { retries: 0 });
    await client.call('wallet.get', {});
    const error = await failureOf(
      client.call('return.create', { body: { order_id: orderId, items: [], reason: 'other' } }),
    );
    expect(service.connections()).toBe(1);
    expect(error).toMatchObject({
      category: 'in_doubt',
      facts: { outcome: 'unknown', attempts: 1, retryable: false },
    });
  });

  test('leaves a write that moves no money unavailable, its outcome unknown', async () => {
    const service = await peer(reset);
    const { client } = caller(service.url);
    const error = await failureOf(client.call('order.cancel', { path: { order_id: orderId } }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'unknown', attempts: 1 } });
  });

  test('half-way through a response is tried again for a read', async () => {
    const service = await peer(truncated, json({ orders: [], total: 0, limit: 50, offset: 0 }));
    const { client } = caller(service.url);
    expect((await client.call('order.list', {})).attempts).toBe(2);
  });

  test('half-way through every response is unavailable', async () => {
    const service = await peer(truncated);
    const { client } = caller(service.url);
    const error = await failureOf(client.call('order.list', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { attempts: 4 } });
    expect(error.message).toMatch(/broke off|closed before the response was whole/);
    expect(error.facts.outcome).toBeUndefined();
  });
});

describe('a service that is slow', () => {
  test('is given up when --timeout passes', async () => {
    const service = await peer(hang);
    const { client } = caller(service.url, { timeoutMs: 80 });
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ name: 'DeadlineError', category: 'unavailable' });
    expect(error.message).toBe(`GET ${service.url}/wallet/me got no response within 0.08s`);
  });

  test('leaves an order in doubt when --timeout passes', async () => {
    const pass = timeInHand();
    const service = await peer(() => pass(2_000));
    const { client } = caller(service.url, { timeoutMs: 2_000 });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown' } });
    expect(error.message).toContain('no response came within 2s');
  });

  test('is given up when its headers do not come, and tried again', async () => {
    const pass = timeInHand();
    // undici checks its timers only once a second.
    const service = await peer(() => pass(4_000), json(wallet));
    const { client } = caller(service.url, { network: { timeouts: { headersMs: 2_000 } } });
    expect((await client.call('wallet.get', {})).attempts).toBe(2);
  });

  test('is given up when its body stops half-way', async () => {
    const service = await peer(
      (response) => void response.writeHead(200, { 'content-length': '99' }).write('{'),
    );
    const { client } = caller(service.url, { retries: 0, network: { timeouts: { bodyMs: 60 } } });
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error.message).toContain('the response stopped half-way');
  });

  test('is read to the end when its bytes drip', async () => {
    const service = await peer((response) => {
      const bytes = JSON.stringify(wallet).split('');
      const drip = (): void => {
        const byte = bytes.shift();
        if (byte === undefined) response.end();
        else response.write(byte, () => setImmediate(drip));
      };
      drip();
    });
    expect((await caller(service.url).client.call('wallet.get', {})).body).toEqual(wallet);
  });

  test('does not keep the tries going beyond the deadline', async () => {
    const service = await peer(json({}, 503, { 'retry-after': '30' }));
    const { client, clock } = caller(service.url, { timeoutMs: 50_000 });
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { status: 503, attempts: 2 } });
    expect(clock.slept).toEqual([30_000]);
  });
});

describe('a service that accepts the connection and says nothing', () => {
  /** The TLS handshake never starts, so connecting never completes. */
  async function silent(): Promise<{ url: string; ended: Promise<unknown> }> {
    let end: (value: unknown) => void = () => {};
    const ended = new Promise((resolve) => {
      end = resolve;
    });
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .on('close', end)
        .resume(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ended };
  }

  test('is given up after the time to connect, nothing having been sent', async () => {
    const { url } = await silent();
    const { client } = caller(url, { retries: 1, network: { timeouts: { connectMs: 60 } } });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'not_sent', attempts: 2 } });
    expect(error.message).toContain('connecting took too long');
  });

  test('holds nobody up once the client is closed', async () => {
    const { url, ended } = await silent();
    const { client } = caller(url, { timeoutMs: 60 });
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ name: 'DeadlineError', facts: { outcome: 'not_sent' } });
    await client.close();
    await ended;
  });
});

describe('an interruption', () => {
  test('of a read is just that', async () => {
    const service = await peer(() => controller.abort());
    const { client, controller } = caller(service.url);
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'interrupted', message: 'interrupted', facts: { attempts: 1 } });
  });

  test.each([
    ['a signal, whose exit code it keeps', new ErrandError('terminated', 'terminated'), 'terminated'],
    ['any other reason', new DOMException('late', 'TimeoutError'), 'in_doubt'],
  ])('of an order on its way is in doubt, by %s', async (_, reason, category) => {
    const service = await peer(() => controller.abort(reason));
    const { client, controller } = caller(service.url);
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ name: 'InDoubtError', category, facts: { outcome: 'unknown' } });
    expect(error.message).toContain('may have taken effect');
  });

  test('before anything was sent leaves nothing in doubt', async () => {
    const service = await peer(json(order, 201));
    const { client, controller } = caller(service.url);
    controller.abort();
    const error = await failureOf(client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'interrupted', facts: { outcome: 'not_sent' } });
    expect(service.received).toEqual([]);
  });
});

describe('a response that is not the service’s', () => {
  test.each([
    ['HTML', text('<!doctype html><p>hi</p>', 200, { 'content-type': 'text/html' }), 'HTML'],
    [
      'HTML that says it is JSON',
      text(' <html></html>', 200, { 'content-type': 'application/json' }),
      'HTML',
    ],
    ['JSON that is cut', text('{"balance": 1', 200), 'not JSON'],
    ['nothing', text('', 200), 'empty body'],
    ['JSON of another service', json({ hello: 1 }), 'no balance'],
    ['a list', json([]), 'no object'],
    ['JSON nested too deep', text(`{"balance":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 'not JSON'],
  ])('such as %s is unavailable, and not asked for twice', async (_, response, what) => {
    const service = await peer(response);
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error.category).toBe('unavailable');
    expect(error.message).toContain(what);
    expect(error.facts.hint).toContain('base URL');
    expect(service.received).toHaveLength(1);
  });

  test('to an order leaves it in doubt', async () => {
    const service = await peer(
      text('<html>welcome to the hotel</html>', 200, { 'content-type': 'text/html' }),
    );
    const error = await failureOf(caller(service.url).client.call('order.create', { body: keyedOrder }));
    expect(error).toMatchObject({ category: 'in_doubt', facts: { outcome: 'unknown' } });
  });

  test('to a cancel is no success', async () => {
    const service = await peer(
      text('<html>welcome to the hotel</html>', 200, { 'content-type': 'text/html' }),
    );
    const error = await failureOf(
      caller(service.url).client.call('order.cancel', { path: { order_id: orderId } }),
    );
    expect(error).toMatchObject({ category: 'unavailable', facts: { outcome: 'unknown' } });
  });

  test('and no HTTP at all is unavailable', async () => {
    const server = createServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const error = await failureOf(
      caller(`http://127.0.0.1:${port}`, { retries: 0 }).client.call('wallet.get', {}),
    );
    expect(error.message).toContain('the response is not HTTP');
  });

  test('with headers beyond all measure is refused', async () => {
    const service = await peer(json(wallet, 200, { 'x-long': 'x'.repeat(70_000) }));
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { attempts: 1 } });
    expect(error.message).toContain('headers of the response are too large');
  });
});

describe('a good response', () => {
  test('keeps the fields that nobody knows', async () => {
    const service = await peer(json({ ...wallet, colour: 'green' }));
    expect((await caller(service.url).client.call('wallet.get', {})).body).toMatchObject({ colour: 'green' });
  });

  test('reaches no prototype', async () => {
    const service = await peer(text('{"balance": 1, "__proto__": {"spendable_balance": 7}}'));
    const { body } = await caller(service.url).client.call('wallet.get', {});
    expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
    expect(body.spendable_balance).toBeUndefined();
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('may come as %s', async (coding, compress) => {
    const service = await peer(text(compress(JSON.stringify(wallet)), 200, { 'content-encoding': coding }));
    expect((await caller(service.url).client.call('wallet.get', {})).body).toEqual(wallet);
    expect(service.received[0]?.headers['accept-encoding']).toBe('gzip, br');
  });

  test('comes on the connection of the one before', async () => {
    const service = await peer(json(wallet));
    const { client } = caller(service.url);
    for (let i = 0; i < 5; i += 1) await client.call('wallet.get', {});
    expect(service.connections()).toBe(1);
  });
});

describe('an empty response', () => {
  test('is not taken for a broken compressed one', async () => {
    const service = await peer(text('', 204, { 'content-encoding': 'gzip' }));
    const { client } = caller(service.url);
    expect((await client.call('order.cancel', { path: { order_id: orderId } })).status).toBe(204);
    expect((await client.raw({ method: 'HEAD', path: '/anything' })).status).toBe(204);
  });
});

describe('a compressed response', () => {
  test('that unfolds without end is refused, memory staying flat', async () => {
    const service = await peer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      const megabyte = Buffer.alloc(1024 * 1024, ' ');
      response.on('close', () => gzip.destroy());
      for (let i = 0; i < 400; i += 1) gzip.write(megabyte);
      gzip.end();
    });
    const { client } = caller(service.url);
    const before = process.memoryUsage().rss;
    const error = await failureOf(client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { attempts: 1 } });
    expect(error.message).toContain('larger than 64 MB');
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test.each([
    [
      'broken',
      text(Buffer.from('not gzip at all'), 200, { 'content-encoding': 'gzip' }),
      'compressed response is broken',
    ],
    ['coded in a way nobody asked for', text('x', 200, { 'content-encoding': 'zstd' }), '"zstd"'],
    ['coded twice', text('x', 200, { 'content-encoding': 'gzip, gzip' }), '"gzip, gzip"'],
  ])('that is %s is unavailable', async (_, response, what) => {
    const service = await peer(response);
    const error = await failureOf(caller(service.url).client.call('wallet.get', {}));
    expect(error).toMatchObject({ category: 'unavailable', facts: { attempts: 1 } });
    expect(error.message).toContain(what);
  });

  test('that is cut is tried again', async () => {
    const whole = gzipSync(JSON.stringify(wallet));
    const service = await peer(
      text(whole.subarray(0, whole.length - 12), 200, { 'content-encoding': 'gzip' }),
      text(whole, 200, { 'content-encoding': 'gzip' }),
    );
    expect((await caller(service.url).client.call('wallet.get', {})).attempts).toBe(2);
  });
});

describe('an export', () => {
  test('comes in pieces, however long it is', async () => {
    const line = `${'x'.repeat(999)}\n`;
    const service = await peer((response) => {
      response.writeHead(200, { 'content-type': 'text/csv' });
      let left = 100_000;
      const more = (): void => {
        while (left > 0) {
          left -= 1;
          if (!response.write(line)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const { chunks, status } = await caller(service.url).client.stream('order.export', {
      query: { has_tracking: true },
    });
    let length = 0;
    for await (const chunk of chunks) length += chunk.length;
    expect(status).toBe(200);
    expect(length).toBe(100_000_000);
    expect(service.received[0]).toMatchObject({
      target: '/orders/export?has_tracking=true',
      headers: { accept: 'text/csv' },
    });
  });

  test('that breaks off says so after what came', async () => {
    let breakOff = (): void => {};
    const service = await peer((response, _, socket) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '99' });
      response.write('id,status\n');
      breakOff = () => socket.destroy();
    });
    const { chunks } = await caller(service.url).client.stream('order.export', {});
    const seen: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const chunk of chunks) {
          seen.push(Buffer.from(chunk).toString());
          breakOff();
        }
      })(),
    );
    expect(seen).toEqual(['id,status\n']);
    expect(error).toMatchObject({ category: 'unavailable' });
    expect(error.message).toContain('broke off');
  });

  test('that nobody reads does not end the process', async () => {
    const service = await peer((response, _, socket) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': '99' });
      response.write('id,status\n', () => setImmediate(() => socket.destroy()));
    });
    const { chunks } = await caller(service.url).client.stream('order.export', {});
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect((await failureOf(textOf(chunks))).category).toBe('unavailable');
  });

  test('is not cut by --timeout once it has begun', async () => {
    const pass = timeInHand();
    let write = (_: string): void => {};
    const service = await peer((response) => {
      write = (text) => void (text === '' ? response.end() : response.write(text));
      write('id\n');
    });
    const { chunks } = await caller(service.url, { timeoutMs: 2_000 }).client.stream('order.export', {});
    const seen: string[] = [];
    for await (const chunk of chunks) {
      seen.push(Buffer.from(chunk).toString());
      // Runs while the next chunk is awaited.
      setImmediate(() => {
        pass(900);
        write(seen.length < 4 ? `${seen.length}\n` : '');
      });
    }
    expect(seen.join('')).toBe('id\n1\n2\n3\n');
  });

  test('that stops in its middle is given up after --timeout', async () => {
    const pass = timeInHand();
    const service = await peer(
      (response) => void response.writeHead(200, { 'content-type': 'text/csv' }).write('id\n'),
    );
    const { chunks } = await caller(service.url, { timeoutMs: 2_000 }).client.stream('order.export', {});
    const reading = async (): Promise<void> => {
      for await (const _ of chunks) setImmediate(() => pass(4_000));
    };
    expect(await failureOf(reading())).toMatchObject({
      category: 'unavailable',
      message: expect.stringContaining('broke off: nothing more came within 2s'),
    });
  });

  test('in JSON is none', async () => {
    const service = await peer(json({ orders: [] }));
    const error = await failureOf(caller(service.url).client.stream('order.export', {}));
    expect(error.message).toContain("returned JSON, not the service's CSV");
  });

  test('is told when it is interrupted half-way', async () => {
    const service = await peer(
      (response) => void response.writeHead(200, { 'content-type': 'text/csv' }).write('id\n'),
    );
    const { client, controller } = caller(service.url);
    const { chunks } = await client.stream('order.export', {});
    const reading = textOf(chunks);
    controller.abort();
    expect(await failureOf(reading)).toMatchObject({
      category: 'interrupted',
      message: 'interrupted',
      facts: { outcome: undefined },
    });
  });

  test('in HTML is none', async () => {
    const service = await peer(text('<html></html>', 200, { 'content-type': 'text/html' }));
    const error = await failureOf(caller(service.url).client.stream('order.export', {}));
    expect(error.message).toContain('HTML');
  });
});
