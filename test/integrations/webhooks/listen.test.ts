import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../../src/integrations/webhooks/exec.ts';
import { forward } from '../../../src/integrations/webhooks/forward.ts';
import { type ListenOptions, type ListenRecord, listen } from '../../../src/integrations/webhooks/listen.ts';
import { olderNames, sameEvents } from '../../../src/integrations/webhooks/listener.ts';
import { openWebhookStore, type WebhookStore } from '../../../src/journal/webhook-store.ts';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { json, peer } from '../../support/peer.ts';
import { order, orderId } from '../../support/webhook-order.ts';
import { HandClock } from './hand-clock.ts';

let folder: string;
let store: WebhookStore;
let clock: HandClock;
let interruption: AbortController;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-listen-'));
  clock = new HandClock();
  interruption = new AbortController();
  store = await openWebhookStore(folder, clock.now);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a listener; returns its URL, the records so far, and all records at the end. */
async function start(more: Partial<ListenOptions> = {}) {
  const records: ListenRecord[] = [];
  const feed = listen({
    host: '127.0.0.1',
    port: 0,
    secret: 'a-secret-that-nobody-guesses',
    log: store.events,
    profile: 'work',
    baseUrl: 'https://service.example',
    clock,
    signal: interruption.signal,
    shown: (id) => store.events.noteShown(id),
    wants: () => true,
    ...more,
  });
  const first = await feed.next();
  if (first.done || first.value.type !== 'ready') throw new Error('it did not begin with ready');
  const { url } = first.value;
  const ended = (async () => {
    for await (const record of feed) records.push(record);
    return records;
  })();
  const send = async (body: unknown, event = 'status_updated') =>
    (await fetch(url, { method: 'POST', body: JSON.stringify(body), headers: { 'x-webhook-event': event } }))
      .status;
  return { url, records, ended, send };
}

const clockedForward = (url: string, retries = 0): ListenOptions['forward'] => {
  const target = { url, allowPrivate: false, retries, clock: new HandClock(true), version: '1' };
  return (delivery, signal) => forward(delivery, target, signal);
};
/** Sorts records by event: showing an event overlaps with acting on the previous one. */
const byEvent = (records: readonly ListenRecord[]): ListenRecord[] =>
  records.toSorted((a, b) => ('id' in a ? a.id : 99) - ('id' in b ? b.id : 99));
const running = (command: string): ListenOptions['exec'] => {
  const run = { command, environment: { PATH: process.env.PATH, FOLDER: folder }, clock, onLine: () => {} };
  return (delivery, signal) => runCommand(run, delivery, signal);
};

test('events are shown as they came, and the summary ends it after so many', async () => {
  const { send, ended, url } = await start({ max: 2 });
  expect(await send(order('pending'))).toBe(200);
  expect(await send(order('in_progress'))).toBe(200);
  expect(await ended).toMatchObject([
    {
      type: 'event',
      id: 1,
      event: 'status_updated',
      order_id: orderId,
      status: 'pending',
      body: order('pending'),
    },
    { type: 'event', id: 2, status: 'in_progress' },
    { type: 'summary', received: 2, stored: 2, duplicates: 0, shown: 2, failed: 0, ended: 'max' },
  ]);
  await expect(fetch(url, { method: 'POST', body: '{}' })).rejects.toThrow();
});

test('a delivery that comes again is acknowledged and counted, not shown twice', async () => {
  const { send, ended } = await start();
  for (const status of ['pending', 'pending', 'in_progress', 'pending'])
    expect(await send(order(status))).toBe(200);
  expect(await send(order('pending'), 'tracking_updated')).toBe(200);
  interruption.abort();
  const records = await ended;
  expect(records.filter(({ type }) => type === 'event')).toHaveLength(3);
  expect(records.at(-1)).toMatchObject({ received: 5, stored: 3, duplicates: 2, shown: 3 });
  expect(store.events.get(1).deliveries).toBe(3);
});

test('what came before is known to the next listener', async () => {
  const first = await start();
  await first.send(order('pending'));
  interruption.abort();
  await first.ended;
  interruption = new AbortController();
  const second = await start();
  await second.send(order('pending'));
  interruption.abort();
  expect((await second.ended).at(-1)).toMatchObject({ received: 1, stored: 0, duplicates: 1, shown: 0 });
});

test('other events than those asked for are kept, but neither shown nor sent on', async () => {
  const there = await peer(json({}));
  const names = sameEvents(['request_succeeded']);
  const { send, ended } = await start({
    max: 2,
    wants: (event) => event !== null && names.includes(event),
    forward: clockedForward(there.url),
  });
  await send(order('pending'), 'status_updated');
  await send(order('order_placed'), 'request_succeeded');
  await send(order('order_placed'), 'order_placed');
  expect((await ended).at(-1)).toMatchObject({ received: 3, stored: 3, shown: 2, forwarded: 2 });
  expect(there.received).toHaveLength(2);
  expect([...store.events.list({ failed: true })]).toEqual([]);
});

test('an older name asks for the events of that name alone', async () => {
  expect(sameEvents(['order_placed'])).toEqual(['order_placed']);
  expect(sameEvents(['request_succeeded'])).toEqual(['request_succeeded', 'order_placed']);
  expect(olderNames(['order_placed'])).toEqual([
    'order_placed is the old name of request_succeeded; events named request_succeeded are not included',
  ]);
  expect(olderNames(['order_placed', 'request_succeeded', 'status_updated'])).toEqual([]);
});

test('it ends when the time is over', async () => {
  const { send, ended } = await start({ forMs: 30_000 });
  await send(order('pending'));
  clock.pass(30_000);
  expect((await ended).at(-1)).toMatchObject({ type: 'summary', shown: 1, ended: 'timeout' });
});

test('an interruption ends it with a summary', async () => {
  const { ended } = await start();
  interruption.abort();
  expect(await ended).toMatchObject([{ type: 'summary', received: 0, ended: 'interrupted' }]);
});

test('who stops reading closes the listener', async () => {
  const feed = listen({
    ...{ host: '127.0.0.1', port: 0, secret: 'a-secret-that-nobody-guesses', log: store.events },
    ...{ profile: 'work', baseUrl: 'https://service.example', clock, signal: interruption.signal },
    shown: async () => {},
    wants: () => true,
  });
  const { value } = await feed.next();
  await feed.return(undefined);
  const url = value && 'url' in value ? String(value.url) : '';
  await expect(fetch(url, { method: 'POST', body: '{}' })).rejects.toThrow();
});

test('the address of a tunnel takes the place of the own one, and is what is registered', async () => {
  const steps: string[] = [];
  const { url, ended } = await start({
    publicUrl: 'https://tunnel.example/errand/',
    begin: async (address) => {
      steps.push(`registered ${address}`);
      return async () => void steps.push('restored');
    },
  });
  expect(url).toBe('https://tunnel.example/errand/a-secret-that-nobody-guesses');
  expect(steps).toEqual([`registered ${url}`]);
  interruption.abort();
  await ended;
  expect(steps).toEqual([`registered ${url}`, 'restored']);
});

test('a registration that fails ends it, and the port is free again', async () => {
  let registered = '';
  const begin = async (address: string) => {
    registered = address;
    throw new Error('no such account');
  };
  await expect(start({ begin })).rejects.toThrow('no such account');
  await expect(fetch(registered, { method: 'POST', body: '{}' })).rejects.toThrow();
});

test('with rereading, what the service says is shown and acted upon, not what the event claims', async () => {
  const there = await peer(json({}));
  const { send, ended } = await start({
    max: 2,
    reread: async (id) => {
      if (id !== orderId) throw new Error('there is no such order');
      return order('pending', { total: 7 });
    },
    forward: clockedForward(there.url),
  });
  await send(order('order_placed', { total: 0, error_type: 'out_of_stock' }));
  await send({ ...order('order_placed'), id: '22222222-2222-4222-8222-222222222222' });
  expect(byEvent(await ended)).toMatchObject([
    { type: 'event', id: 1, verified: true, status: 'pending', error_type: null, body: { total: 7 } },
    { type: 'forward', id: 1, delivered: true },
    { type: 'event', id: 2, verified: false, message: 'there is no such order' },
    { type: 'summary', shown: 2, forwarded: 1, failed: 1 },
  ]);
  expect(there.received.map(({ body }) => JSON.parse(body))).toEqual([order('pending', { total: 7 })]);
  expect([...store.events.list({ failed: true })].map(({ id }) => id)).toEqual([2]);
});

const forged = [
  ['request_failed', 'pending'],
  ['order_failed', 'order_placed'],
  ['Request_Failed', 'in_progress'],
  ['request_succeeded', 'pending'],
  ['order_placed', 'order_failed'],
  ['request_succeeded', 'cancelled'],
  ['tracking_obtained', 'order_placed'],
] as const;
test.each(forged)(
  '%s of an order that is %s is not verified, and nothing acts on it',
  async (event, status) => {
    const there = await peer(json({}));
    const { send, ended } = await start({
      max: 1,
      clock: new HandClock(true),
      reread: async () => order(status),
      forward: clockedForward(there.url),
      exec: running('echo "$ERRAND_EVENT" >> "$FOLDER/ran"'),
    });
    await send(order(status), event);
    expect(await ended).toMatchObject([
      { type: 'event', verified: false, message: expect.stringContaining(`does not confirm ${event}`) },
      { type: 'summary', shown: 1, forwarded: 0, failed: 1 },
    ]);
    expect(there.received).toEqual([]);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  },
);

const older = [
  ['order_placed', order('cancelled_by_retailer')],
  ['request_succeeded', order('a_newer_status')],
  ['request_failed', order('order_failed')],
  ['request_failed', order('cancelled')],
  ['tracking_updated', order('order_placed', { tracking_numbers: [{}] })],
  ['status_updated', order('pending')],
  ['case_updated', order('order_placed')],
] as const;
test.each(older)('%s is confirmed by what the order is since', async (event, now) => {
  const { send, ended } = await start({ max: 1, reread: async () => now });
  await send(order('pending'), event);
  expect(await ended).toMatchObject([{ type: 'event', verified: true }, { failed: 0 }]);
});

test('a true event that comes before the service reads its change is waited for', async () => {
  const statuses = ['in_progress', 'in_progress', 'order_placed'];
  const hand = new HandClock(true);
  const reread = async () => order(statuses.shift() ?? 'order_placed');
  const { send, ended } = await start({ max: 1, clock: hand, reread });
  await send(order('order_placed'), 'request_succeeded');
  expect(await ended).toMatchObject([{ verified: true, status: 'order_placed' }, { failed: 0 }]);
  expect(hand.waits).toEqual([250, 500]);
});

test('an event that names no order cannot be verified', async () => {
  const { send, ended } = await start({ max: 1, reread: async () => order('pending') });
  await send({ hello: 1 });
  expect(await ended).toMatchObject([{ verified: false, order_id: null }, { failed: 1 }]);
});

test('events are sent on and run one at a time, in the order in which they came', async () => {
  const there = await peer(json({}));
  const { send, ended } = await start({
    max: 5,
    forward: clockedForward(there.url),
    exec: running('cat >> "$FOLDER/ran"; echo >> "$FOLDER/ran"'),
  });
  const statuses = ['a', 'b', 'c', 'd', 'e'];
  for (const status of statuses) await send(order(status));
  expect((await ended).at(-1)).toMatchObject({ forwarded: 5, failed: 0 });
  expect(there.received.map(({ body }) => JSON.parse(body).status)).toEqual(statuses);
  const ran = readFileSync(join(folder, 'ran'), 'utf8').trim().split('\n');
  expect(ran.map((line) => JSON.parse(line).status)).toEqual(statuses);
});

test('what is not taken counts once as failed, is found again, and stops nothing behind it', async () => {
  const there = await peer(json({}, 422), json({}));
  const { send, ended } = await start({
    max: 2,
    forward: clockedForward(there.url),
    exec: running('exit 4'),
  });
  await send(order('a'));
  await send(order('b'));
  expect(byEvent(await ended)).toMatchObject([
    { type: 'event', id: 1 },
    { type: 'forward', id: 1, delivered: false, status: 422 },
    { type: 'exec', id: 1, exit_code: 4 },
    { type: 'event', id: 2 },
    { type: 'forward', id: 2, delivered: true },
    { type: 'exec', id: 2, exit_code: 4 },
    { type: 'summary', forwarded: 1, failed: 2 },
  ]);
  expect([...store.events.list({ failed: true })].map(({ id }) => id)).toEqual([2, 1]);
});

test('an event is shown while the one before it is still being sent on', async () => {
  const there = await peer(() => {});
  const { send, records, ended } = await start({ forward: clockedForward(there.url) });
  await send(order('a'));
  await expect.poll(() => there.received).toHaveLength(1);
  await send(order('b'));
  await expect.poll(() => records.length).toBe(2);
  interruption.abort();
  expect((await ended).at(-1)).toMatchObject({ shown: 2, forwarded: 0, failed: 2, ended: 'interrupted' });
  expect([...store.events.list({ failed: true })].map(({ id, forward }) => [id, forward])).toEqual([
    [2, null],
    [1, null],
  ]);
});

test('after the last requested one, senders are told to come again', async () => {
  let go = (): void => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { send, ended } = await start({
    max: 1,
    exec: async () => {
      await held;
      return { exit_code: 0, message: null, at: '' };
    },
  });
  expect(await send(order('a'))).toBe(200);
  expect(await send(order('b'))).toBe(503);
  go();
  expect((await ended).at(-1)).toMatchObject({ received: 1, stored: 1, shown: 1 });
});

test('an event that cannot be kept is not acknowledged, and that is told', async () => {
  const { send, records, ended } = await start();
  const Sqlite = loadSqlite();
  const other = new Sqlite(join(folder, 'webhooks.db'));
  other.exec('DROP TABLE events');
  other.close();
  expect(await send(order('a'))).toBe(503);
  await expect
    .poll(() => records)
    .toMatchObject([{ type: 'gap', message: expect.stringContaining('webhooks.db') }]);
  interruption.abort();
  expect((await ended).at(-1)).toMatchObject({ received: 0, stored: 0 });
});

test('two listeners on one state show an event once between them', async () => {
  const [one, other] = [await start(), await start()];
  await Promise.all([one.send(order('a')), other.send(order('a'))]);
  interruption.abort();
  const shown = [...(await one.ended), ...(await other.ended)].filter(({ type }) => type === 'event');
  expect(shown).toHaveLength(1);
});

test('a hundred at once are each shown once', async () => {
  const { send, ended } = await start({ max: 100 });
  const all = Array.from({ length: 100 }, (_, index) => order(`s${index}`));
  for (let attempts = 0, left = all; left.length > 0 && attempts < 50; attempts += 1) {
    const statuses = await Promise.all(left.map((one) => send(one)));
    left = left.filter((_, index) => statuses[index] !== 200);
  }
  const shown = (await ended).flatMap((record) => (record.type === 'event' ? [record.status] : []));
  expect(new Set(shown).size).toBe(100);
});
