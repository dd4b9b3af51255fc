import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { Store } from '../../../src/sandbox/store/store.ts';
import { expectBalancedBooks } from '../../support/books.ts';
import { bundled } from '../../support/bundled.ts';
import { makeFolder } from '../../support/folder.ts';
import { TestService } from '../../support/service.ts';

let folder: ReturnType<typeof makeFolder>;
let file: string;
beforeEach(() => {
  folder = makeFolder();
  file = join(folder.path, 'sandbox.db');
});
afterEach(() => folder.remove());

test('two services on one store respond as one', async () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const [one, other] = [await TestService.start({ file, now }), await TestService.start({ file, now })];
  const { key } = one;
  const made = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? one : other).order(
        'test-success',
        { max_price: 2_400, idempotency_key: `key-${index >> 1}` },
        key,
      ),
    ),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(made.filter(({ status }) => status === 409)).toHaveLength(20);
  for (const service of [one, other]) {
    service.pass(60_000);
    expect((await service.send('GET', '/orders?tracking_status=delivered', undefined, key)).body.total).toBe(
      20,
    );
    expect((await service.send('GET', '/wallet/me', undefined, key)).body.balance).toBe(
      100_000 - 20 * (1_999 + 100),
    );
  }
  await Promise.all([one.stop(), other.stop()]);
  expect([...one.bugs, ...other.bugs]).toEqual([]);
  const store = await Store.open(file);
  expectBalancedBooks(store);
  await store.close();
});

test('what is due is brought about once, by whichever of several comes first', async () => {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const bugs: unknown[] = [];
  const open = () =>
    openSandbox({
      file,
      baseUrl: 'http://127.0.0.1:4848',
      now: () => now,
      report: (error) => bugs.push(error),
    });
  const sandboxes = [await open(), await open(), await open()];
  const ask = async (index: number, method: string, target: string, key = '', body?: unknown) => {
    const response = await sandboxes[index % 3]?.handle({
      method,
      target,
      headers: key === '' ? {} : { authorization: `Bearer ${key}` },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
    return JSON.parse(String(response?.body));
  };
  const { api_key: key, example_order: example } = await ask(0, 'POST', '/sandbox/keys');
  for (let order = 0; order < 15; order += 1) await ask(order, 'POST', '/orders', key, example);
  for (let second = 0; second < 12; second += 1) {
    now += 1_000;
    await Promise.all([0, 1, 2].map((index) => ask(index, 'GET', '/orders', key)));
  }
  const store = sandboxes[0]?.service.store;
  if (!store) throw new Error('no sandbox is open');
  expectBalancedBooks(store);
  const kinds = store.all("SELECT kind, count(*) AS rows FROM ledger WHERE kind <> 'opening' GROUP BY kind");
  expect(kinds).toEqual([
    { kind: 'fee', rows: 15 },
    { kind: 'purchase', rows: 15 },
  ]);
  for (const sandbox of sandboxes) sandbox.close();
  expect(bugs).toEqual([]);
});

test('creates with one key that all passed the first look make one order', async () => {
  const bugs: unknown[] = [];
  const open = () =>
    openSandbox({
      file,
      baseUrl: 'http://127.0.0.1:4848',
      now: Date.now,
      report: (error) => bugs.push(error),
    });
  const sandboxes = [await open(), await open()];
  const request = (target: string, key = '', body = '') => ({
    method: 'POST',
    target,
    headers: key === '' ? {} : { authorization: `Bearer ${key}` },
    body: new TextEncoder().encode(body),
    remoteAddress: '',
  });
  const minted = await sandboxes[0]?.handle(request('/sandbox/keys'));
  const { api_key: key, example_order: example } = JSON.parse(String(minted?.body));
  const body = JSON.stringify({ ...example, idempotency_key: 'same' });
  // Started in the same turn of the event loop, all of them look up the key before the first has written its order.
  const responses = await Promise.all(
    [...sandboxes, ...sandboxes, ...sandboxes].map(({ handle }) => handle(request('/orders', key, body))),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
  const ids = responses.map((response) => JSON.parse(String(response.body)));
  expect(new Set(ids.map(({ id, details }) => id ?? details.identifier)).size).toBe(1);
  for (const sandbox of sandboxes) sandbox.close();
  expect(bugs).toEqual([]);
});

test('processes that are killed leave every order they acknowledged, and no half one', async () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const service = await TestService.start({ file, now });
  // Fund the fees of many orders; wallet limits are not under test.
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 100_000_000 });
  const store = await Store.open(file);
  const responded: string[] = [];
  for (const lines of [1, 7, 23]) {
    responded.push(...(await killedAfter(lines, [file, service.key, String(now)])));
  }
  const ids = new Set(store.all('SELECT id FROM orders').map(({ id }) => String(id)));
  expect(responded.length).toBeGreaterThanOrEqual(2 * (1 + 7 + 23));
  expect(responded.filter((line) => !line.startsWith('201 ') || !ids.has(line.slice(4)))).toEqual([]);
  expect(store.get('PRAGMA integrity_check')).toEqual({ integrity_check: 'ok' });
  expect(store.all('PRAGMA foreign_key_check')).toEqual([]);
  const bare = 'SELECT count(*) AS rows FROM orders WHERE seq NOT IN (SELECT order_seq FROM order_metadata)';
  expect(store.get(bare)?.rows).toBe(0);
  expectBalancedBooks(store);
  await store.close();
  expect((await service.send('GET', '/orders?limit=1')).body.total).toBe(ids.size);
  await service.stop();
});

/** Runs two processes that place orders concurrently and kills each after `count` responses. @returns the responses. */
async function killedAfter(count: number, args: readonly string[]): Promise<string[]> {
  const creator = await bundled(new URL('./creator.ts', import.meta.url));
  const one = async (): Promise<string[]> => {
    const child = spawn(process.execPath, [creator, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const responded: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      responded.push(line);
      if (responded.length === count) child.kill('SIGKILL');
    }
    return responded;
  };
  return (await Promise.all([one(), one()])).flat();
}
