import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { findRoute } from '../../../src/sandbox/routes.ts';
import { drawFaults } from '../../../src/sandbox/server/fault-injection.ts';
import { Owner } from '../../../src/sandbox/server/owner.ts';
import { RequestLog } from '../../../src/sandbox/server/request-log.ts';
import {
  type ConnectionLimits,
  createHttpServer,
  listen,
  respondWith,
} from '../../../src/sandbox/server/server.ts';
import { orderBody } from '../../support/order-body.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace } from '../../support/workspace.ts';

let server: Server;
let port: number;
let sockets: Socket[];
let drips: NodeJS.Timeout[];

beforeEach(() => {
  sockets = [];
  drips = [];
});

async function serve(limits: Partial<ConnectionLimits>, stalledMs?: number): Promise<void> {
  const sandbox = await openSandbox({
    file: ':memory:',
    baseUrl: 'http://127.0.0.1',
    now: Date.now,
    report: () => {},
  });
  server = createHttpServer(limits);
  const draw = drawFaults([], 0);
  respondWith(server, {
    owner: new Owner(0),
    ...{
      handle: sandbox.handle,
      report: () => {},
      draw,
      requests: new RequestLog(findRoute),
      findRoute,
      now: Date.now,
    },
    ...(stalledMs && { stalledMs }),
  });
  await listen(server, 0, '127.0.0.1');
  port = Object(server.address()).port;
  onTestFinished(async () => {
    server.close();
    await sandbox.close();
  });
}

afterEach(() => {
  for (const drip of drips) clearInterval(drip);
  for (const socket of sockets) socket.destroy();
});

/** A client that never closes its connection. */
async function caller(text = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** Sends a byte at intervals, so that the connection is never idle. */
async function dripping(text: string, byte: string): Promise<void> {
  const socket = await caller(text);
  socket.resume();
  drips.push(setInterval(() => socket.write(byte), 50));
}

/** Closes the test's own requests, so that they do not count as held connections. */
const hangUp = { connection: 'close' };

async function mintedKey(url: string): Promise<string> {
  const response = await fetch(`${url}/sandbox/keys`, { method: 'POST', headers: hangUp });
  return String(Object(await response.json()).api_key);
}

const held = (): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

const post = (length: number): string =>
  `POST /orders HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: ${length}\r\n\r\n`;

const slow: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['say nothing', () => caller()],
  ['begin the headers', () => caller('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-')],
  ['drip the headers', () => dripping('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-', 'x')],
  ['begin the body', () => caller(`${post(100)}{`)],
  ['drip the body', () => dripping(`${post(100_000)}{`, ' ')],
  ['drip a body that is refused', () => dripping(`${post(1e9)}${' '.repeat(100_000)}`, ' ')],
  ['are done, and stay', () => caller('GET /retailers HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')],
  ['send no HTTP', () => caller('what?\r\n\r\n')],
];

describe('connections that', () => {
  test.each(slow)('%s are let go of', async (_, open) => {
    await serve({ headersMs: 400, requestMs: 800, idleMs: 400, lingerMs: 100 });
    for (let count = 0; count < 30; count += 1) await open();
    expect(await held()).toBeGreaterThan(0);
    await expect.poll(held).toBe(0);
  });

  // Reader and server share this process, so a limit that a busy machine exceeds would cut the slow reader off too.
  test('take nothing of their response are let go of, and those that take it slowly are not', async () => {
    await serve({}, 3_000);
    const key = await mintedKey(`http://127.0.0.1:${port}`);
    const headers = { ...hangUp, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const order = { ...orderBody('http://127.0.0.1/shop/test-success'), po_number: 'x'.repeat(1_000_000) };
    for (let count = 0; count < 20; count += 1)
      await fetch(`http://127.0.0.1:${port}/orders`, {
        method: 'POST',
        headers,
        body: JSON.stringify(order),
      });
    const list = `GET /orders HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nauthorization: Bearer ${key}\r\n\r\n`;
    await caller(list);
    const reading = await caller(list);
    let size = 0;
    reading.on('data', (chunk: Buffer) => {
      size += chunk.length;
      reading.pause();
      // Chunks are at most 64 KiB: together they take longer than the limit, but no single one comes near it.
      setTimeout(() => reading.resume(), 20);
    });
    await once(reading, 'end');
    expect(size).toBeGreaterThan(15_000_000);
    await expect.poll(held).toBe(0);
  });
});

test('bodies that are never finished hold little memory together, and keep no small request from being served', async () => {
  const workspace = makeWorkspace();
  const served = await serveAt(workspace, '--memory');
  const { port: at } = served;
  const bytes = 10 * 1024 * 1024;
  const residentMb = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = residentMb();
  const head = `POST /orders/bulk HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;
  const body = Buffer.alloc(bytes - 1, ' ');
  for (let count = 0; count < 60; count += 1) {
    const socket = connect({ port: at, host: '127.0.0.1' });
    socket.on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(head);
    await new Promise((resolve) => socket.write(body, resolve));
  }
  expect(residentMb() - before).toBeLessThan(300);
  const key = await mintedKey(served.url);
  const large = () =>
    fetch(`${served.url}/orders/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ filename: 'x'.repeat(9_000_000), rows: [{ url: 'a' }] }),
    });
  const refused = await large();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await large()).status).toBe(201);
  workspace.remove();
});
