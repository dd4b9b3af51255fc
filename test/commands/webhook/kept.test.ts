import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openWebhookStore } from '../../../src/journal/webhook-store.ts';
import { peer } from '../../support/peer.ts';
import { errand, shell } from '../../support/run.ts';
import { order, orderId } from '../../support/webhook-order.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { Listening } from './listening.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' });
});
afterEach(() => workspace.remove());

const post = async (url: unknown, body: string): Promise<number> =>
  (await fetch(String(url), { method: 'POST', body, headers: { 'x-webhook-event': 'status_updated' } }))
    .status;

/** A server that accepts everything. */
async function target() {
  return peer((response) => void response.writeHead(200).end('{}'));
}

const typesOf = ({ records }: Listening): unknown[] => records.map(({ type }) => type);

describe('an event that was kept and not shown, since the listener was killed', () => {
  /** Kills a listener that has acknowledged an event and waits for the service to verify it. */
  async function killedBeforeShowing(): Promise<void> {
    const silent = await peer(() => {});
    workspace.environment.ERRAND_BASE_URL = silent.url;
    const killed = new Listening(workspace, []);
    const { url } = await killed.record('ready');
    expect(await post(url, JSON.stringify(order('pending')))).toBe(200);
    killed.kill();
    await killed.ended();
    expect(typesOf(killed)).toEqual(['ready']);
  }

  test('is shown by the next one, sent on, and shown once', async () => {
    await killedBeforeShowing();
    const there = await target();
    const next = new Listening(workspace, ['--unverified', '--max', '1', '--forward-to', there.url]);
    expect(await next.ended()).toBe(0);
    expect(next.records).toMatchObject([
      { type: 'ready' },
      { type: 'event', id: 1, order_id: orderId, body: order('pending') },
      { type: 'forward', id: 1, delivered: true },
      { type: 'summary', received: 0, shown: 1, forwarded: 1 },
    ]);
    const last = new Listening(workspace, ['--timeout', '300ms']);
    expect(await last.ended()).toBe(8);
    expect(typesOf(last)).toEqual(['ready', 'summary']);
  });

  test('is left to a listener of its own service, and to one that wants it', async () => {
    await killedBeforeShowing();
    const { ERRAND_BASE_URL: baseUrl = '' } = workspace.environment;
    const others = [
      new Listening(workspace, ['--timeout', '300ms', '--base-url', 'http://127.0.0.1:9']),
      new Listening(workspace, ['--timeout', '300ms', '--events', 'tracking_updated']),
    ];
    for (const other of others) expect(await other.ended()).toBe(8);
    for (const other of others) expect(typesOf(other)).toEqual(['ready', 'summary']);
    const own = new Listening(workspace, ['--unverified', '--max', '1', '--base-url', baseUrl]);
    expect(await own.ended()).toBe(0);
    expect(typesOf(own)).toEqual(['ready', 'event', 'summary']);
  });

  test('with --query nothing is out before the end, so that it is not shown until then', async () => {
    const query = ['--unverified', '-o', 'json', '--query', 'length(@)', '--max', '2'];
    const killed = new Listening(workspace, query);
    await receiveOn(killed);
    killed.kill();
    await killed.ended();
    const next = new Listening(workspace, query);
    await receiveOn(next, 'in_progress');
    expect(await next.ended()).toBe(0);
    const last = new Listening(workspace, ['--timeout', '300ms']);
    expect(await last.ended()).toBe(8);
    expect(typesOf(last)).toEqual(['ready', 'summary']);
  });
});

/** Sends an event to a listener, whose address it prints on stderr. */
async function receiveOn(listening: Listening, status = 'pending'): Promise<void> {
  const address = (): string | undefined => listening.stderr.match(/listening on (\S+)/)?.[1];
  await expect.poll(address).toBeDefined();
  expect(await post(address(), JSON.stringify(order(status)))).toBe(200);
}

/** Persists `count` events that could not be forwarded. */
async function keepFailed(count: number): Promise<void> {
  const store = await openWebhookStore(join(workspace.folder, '.state'), Date.now);
  try {
    for (let number = 0; number < count; number += 1) {
      const body = JSON.stringify({ ...order('pending'), number });
      const arrival = {
        event: 'status_updated',
        orderId,
        status: 'pending',
        errorType: null,
        headers: {},
        body,
      };
      await store.events.save(
        { ...arrival, profile: 'local', baseUrl: 'embedded:' },
        { acts: true, shows: false },
      );
    }
  } finally {
    store.close();
  }
}

describe('webhook replay', () => {
  test('sends all that failed, however many there are', async () => {
    await keepFailed(123);
    const there = await target();
    const { code, stderr } = await shell(
      workspace,
      `errand webhook events --failed -o id | errand webhook replay - --unverified --to ${there.url} -o id`,
    );
    expect(code, stderr).toBe(0);
    expect(there.received).toHaveLength(123);
    expect((await errand(workspace, ['webhook', 'events', '--failed', '-o', 'id'])).stdout).toBe('');
  });

  test('and forwarding send a body as it came, to the byte', async () => {
    const there = await target();
    const text = `\uFEFF{ "id": "${orderId}",\n "big": 12345678901234567890, "price": 1.10, "tiny": 1e-7, "a": 1, "a": "\\u00e9" }`;
    const listening = new Listening(workspace, ['--unverified', '--max', '1', '--forward-to', there.url]);
    const { url } = await listening.record('ready');
    expect(await post(url, text)).toBe(200);
    expect(await listening.ended()).toBe(0);
    expect((await errand(workspace, ['webhook', 'replay', '1', '--unverified'])).code).toBe(0);
    expect(there.received.map(({ body }) => body)).toEqual([text, text]);
  });
});
