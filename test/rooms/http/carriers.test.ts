import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { Exchange } from '../../../src/http/transport/exchange.ts';
import { plainTransport } from '../../../src/http/transport/network.ts';
import { caller, keyedOrder, textOf } from '../../support/caller.ts';
import { json, peer } from '../../support/peer.ts';

const wallet = { balance: 1, spendable_balance: 1, order_fee_cents: 0 };

test('requests beyond the first few go by undici, on a connection of their own', async () => {
  const service = await peer(json(wallet));
  const { client } = caller(service.url, { network: { plain: 2 } });
  for (let count = 0; count < 5; count += 1) await client.call('wallet.get', {});
  expect(service.received.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 2]);
  const [first, last] = [service.received[0], service.received[4]];
  expect(first?.headers).toEqual(last?.headers);
});

test('the first few go at once, each on a connection of its own', async () => {
  const service = await peer(json(wallet));
  const { client } = caller(service.url);
  await Promise.all([1, 2, 3].map(() => client.call('wallet.get', {})));
  expect(service.connections()).toBe(3);
});

test.each([0, 1, 2])('a connection that the service keeps for %i s only is not used again', async (keeps) => {
  const kept = { connection: 'keep-alive', 'keep-alive': `timeout=${keeps}` };
  const service = await peer(json(wallet, 200, kept));
  const { client } = caller(service.url);
  for (let count = 0; count < 3; count += 1) await client.call('wallet.get', {});
  expect(service.connections()).toBe(3);
});

test('a header is read however many stand before it', async () => {
  const others = Object.fromEntries(Array.from({ length: 1_500 }, (_, index) => [`x-${index}`, '1']));
  const service = await peer((response) => {
    response.writeHead(200, { ...others, 'content-encoding': 'gzip', 'content-type': 'application/json' });
    response.end(gzipSync(JSON.stringify(wallet)));
  });
  const { client } = caller(service.url);
  expect((await client.call('wallet.get', {})).body).toMatchObject(wallet);
});

test('a response longer than anyone reads at once waits for its reader', async () => {
  const size = 32 * 1024 * 1024;
  let written = 0;
  const service = await peer((response) => {
    response.writeHead(200, { 'content-type': 'text/csv', 'content-length': size });
    const more = (): void => {
      while (written < size) {
        written += 65_536;
        if (!response.write(Buffer.alloc(65_536, 'x'))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const { client } = caller(service.url);
  const { chunks } = await client.stream('order.export', {});
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(written).toBeLessThan(size);
  expect((await textOf(chunks)).length).toBe(size);
});

test('what still connects when its socket is destroyed is over at once, and nothing was sent', async () => {
  const sockets: Socket[] = [];
  const ended: Socket[] = [];
  const carrier = await plainTransport('http:', {
    lookup: () => {},
    connectMs: 3_600_000,
    maxHeaderSize: 65_536,
    started: (socket) => sockets.push(socket),
    ended: (socket) => ended.push(socket),
  });
  const exchange = new Exchange(new AbortController().signal);
  const times = { headersTimeout: 5_000, bodyTimeout: 5_000 };
  const origin = 'http://shop.example';
  carrier.dispatch({ origin, path: '/', method: 'POST', headers: {}, body: null, ...times }, exchange);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sockets).toHaveLength(1);
  sockets[0]?.destroy();
  await expect(exchange.response).rejects.toMatchObject({ sent: 'not_sent' });
  expect(ended).toEqual(sockets);
});

test('what is given up while its connection is made is never written', async () => {
  const requested: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requested.push(url);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  let connect = (): void => {};
  const carrier = await plainTransport('http:', {
    lookup: (_, options, done) => {
      const found = { address: '127.0.0.1', family: 4 };
      connect = () => (options.all ? done(null, [found]) : done(null, found.address, found.family));
    },
    connectMs: 5_000,
    maxHeaderSize: 65_536,
    started: () => {},
    ended: () => {},
  });
  onTestFinished(async () => void (await carrier.destroy()));
  const send = (path: string, signal: AbortSignal): Exchange => {
    const exchange = new Exchange(signal);
    const origin = `http://shop.example:${port}`;
    const times = { headersTimeout: 5_000, bodyTimeout: 5_000 };
    carrier.dispatch(
      { origin, path, method: 'POST', headers: {}, body: Buffer.from('{}'), ...times },
      exchange,
    );
    return exchange;
  };
  const controller = new AbortController();
  const given = send('/given-up', controller.signal).response;
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(new Error('enough'));
  await expect(given).rejects.toMatchObject({ sent: 'not_sent' });
  connect();
  // Anything the aborted request wrote would have arrived before this one.
  const next = send('/next', new AbortController().signal).response;
  await new Promise((resolve) => setImmediate(resolve));
  connect();
  expect((await next).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(requested).toEqual(['/next']);
});

test.each([
  ['an upgrade that nobody asked for', '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo'],
  ['a status that there is not', '099 None\r\ncontent-length: 0'],
])('%s is no response', async (_, head) => {
  const sockets: Socket[] = [];
  const server = createSocketServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => socket.write(`HTTP/1.1 ${head}\r\n\r\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { client } = caller(`http://127.0.0.1:${port}`, { retries: 0 });
  const facts = { outcome: 'unknown' };
  await expect(client.call('order.create', { body: keyedOrder })).rejects.toMatchObject({
    category: 'in_doubt',
    facts,
  });
});
