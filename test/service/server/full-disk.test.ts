import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DatabaseError } from '../../../src/platform/sqlite/database-error.ts';
import { type OpenSandbox, openSandbox } from '../../../src/sandbox/open.ts';
import { findRoute } from '../../../src/sandbox/routes.ts';
import { drawFaults } from '../../../src/sandbox/server/fault-injection.ts';
import { Owner } from '../../../src/sandbox/server/owner.ts';
import { RequestLog } from '../../../src/sandbox/server/request-log.ts';
import { createHttpServer, listen, respondWith, stop } from '../../../src/sandbox/server/server.ts';
import { makeFolder } from '../../support/folder.ts';
import { orderBody } from '../../support/order-body.ts';

const product = 'http://127.0.0.1:4848/shop/test-success';

let folder: ReturnType<typeof makeFolder>;
let opened: OpenSandbox;
let key: string;
const bugs: unknown[] = [];

beforeEach(async () => {
  folder = makeFolder();
  bugs.length = 0;
  opened = await openSandbox({
    file: join(folder.path, 'sandbox.db'),
    baseUrl: 'http://127.0.0.1:4848',
    now: Date.now,
    report: (error) => bugs.push(error),
  });
  const minted = await opened.handle({ ...request('POST', '/sandbox/keys'), headers: {} });
  key = JSON.parse(String(minted.body)).api_key;
});
afterEach(() => {
  opened.close();
  folder.remove();
});

const request = (method: string, target: string, body?: unknown) => ({
  method,
  target,
  headers: { authorization: `Bearer ${key}` },
  body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
  remoteAddress: '',
});

const order = { ...orderBody(product), idempotency_key: 'once', po_number: 'x'.repeat(50_000) };

async function fillDisk(): Promise<void> {
  const { store } = opened.service;
  const { page_count: pages } = store.get('PRAGMA page_count') ?? {};
  await store.perform(`PRAGMA max_page_count = ${Number(pages)}`);
}
const freeDisk = () => opened.service.store.perform('PRAGMA max_page_count = 1000000');

const wallet = async () =>
  JSON.parse(String((await opened.handle(request('GET', '/wallet/me'))).body)).spendable_balance;

test('embedded, a full disk is an error that names the file, and no half order stays', async () => {
  await fillDisk();
  const refused = opened.handle(request('POST', '/orders', order));
  await expect(refused).rejects.toBeInstanceOf(DatabaseError);
  await expect(refused).rejects.toThrow(/sandbox\.db cannot be used: the disk is full/);
  expect(await wallet()).toBe(100_000);
  await freeDisk();
  expect((await opened.handle(request('POST', '/orders', order))).status).toBe(201);
  expect(await wallet()).toBe(100_000 - 5_000 - 100);
  expect(bugs).toEqual([]);
});

test('served, a full disk is a 503 that names no file, and the service goes on once there is room', async () => {
  const server = createHttpServer();
  respondWith(server, {
    owner: new Owner(0),
    handle: opened.handle,
    report: (error) => bugs.push(error),
    draw: drawFaults([], 0),
    requests: new RequestLog(findRoute),
    findRoute,
    now: Date.now,
  });
  await listen(server, 0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  const send = () =>
    fetch(`http://127.0.0.1:${port}/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
  await fillDisk();
  const refused = await send();
  expect(refused.status).toBe(503);
  const text = await refused.text();
  expect(JSON.parse(text)).toMatchObject({
    code: 'service_unavailable',
    message: 'The sandbox cannot use its data now: the disk is full.',
  });
  expect(text).not.toContain(folder.path);
  await freeDisk();
  expect((await send()).status).toBe(201);
  expect((await send()).status).toBe(409);
  expect(bugs).toEqual([]);
  await stop(server);
});
