import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Arrival } from '../../../src/journal/events.ts';
import { openWebhookStore, type WebhookStore } from '../../../src/journal/webhook-store.ts';
import { journalModule } from '../../support/intents.ts';

const orderId = '11111111-1111-4111-8111-111111111111';
const arrival = (status: string, more: Partial<Arrival> = {}): Arrival => ({
  event: 'status_updated',
  orderId,
  status,
  errorType: null,
  headers: { 'x-webhook-event': 'status_updated' },
  body: JSON.stringify({ id: orderId, status }),
  profile: 'work',
  baseUrl: 'https://service.example',
  ...more,
});
const sent = (delivered: boolean, url: string, at: string) => ({
  ...{ delivered, url, at },
  ...{ status: delivered ? 200 : 500, attempts: 1, message: null },
});

let folder: string;
let now: number;
let store: WebhookStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-events-'));
  now = Date.parse('2026-03-01T12:00:00Z');
  store = await openWebhookStore(folder, () => now);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const ids = (filter = {}): number[] => [...store.events.list(filter)].map(({ id }) => id);

describe('events received', () => {
  test('one is durable once it is kept: kill -9 right after it changes nothing', () => {
    const script = `const { openWebhookStore } = await import(${journalModule});
      const store = await openWebhookStore(${JSON.stringify(folder)}, () => ${now});
      await store.events.save(${JSON.stringify(arrival('pending'))}, { acts: true, shows: true });
      process.kill(process.pid, 'SIGKILL');`;
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    expect(signal, stderr).toBe('SIGKILL');
    expect(store.events.get(1)).toMatchObject({
      status: 'pending',
      received_at: '2026-03-01T12:00:00.000Z',
      body: { id: orderId },
    });
    expect(ids({ failed: true })).toEqual([1]);
  });

  test('the same name and body from the same service is one event, however often it comes', async () => {
    expect(await store.events.save(arrival('a'), { acts: false, shows: true })).toMatchObject({
      isNew: true,
      event: { id: 1, deliveries: 1 },
    });
    now += 5_000;
    expect(await store.events.save(arrival('a'), { acts: false, shows: true })).toMatchObject({
      isNew: false,
      event: { id: 1, deliveries: 2, last_received_at: '2026-03-01T12:00:05.000Z' },
    });
    expect(
      (await store.events.save(arrival('a', { event: 'tracking_updated' }), { acts: false, shows: true }))
        .event.id,
    ).toBe(2);
    expect(
      (await store.events.save(arrival('a', { event: null }), { acts: false, shows: true })).event.id,
    ).toBe(3);
    expect(
      (
        await store.events.save(arrival('a', { baseUrl: 'https://else.example' }), {
          acts: false,
          shows: true,
        })
      ).event.id,
    ).toBe(4);
    expect((await store.events.save(arrival('b'), { acts: false, shows: true })).event.id).toBe(5);
  });

  test('they are listed newest first, by name, by order, and by what failed, however many there are', async () => {
    for (let index = 0; index < 250; index += 1)
      await store.events.save(
        arrival(`s${index}`, index % 2 === 0 ? {} : { event: 'tracking_updated', orderId: null }),
        { acts: false, shows: true },
      );
    expect(ids()).toEqual(Array.from({ length: 250 }, (_, index) => 250 - index));
    expect(ids({ events: ['status_updated', 'case_updated'] })).toHaveLength(125);
    expect(ids({ orderId })).toHaveLength(125);
    expect(ids({ orderId, events: ['tracking_updated'] })).toEqual([]);
    expect(ids({ failed: true })).toEqual([]);
  });

  test('an event is owed until it was sent on and its command ran', async () => {
    await store.events.save(arrival('a'), { acts: true, shows: true });
    expect(ids({ failed: true })).toEqual([1]);
    await store.events.noteForward(1, sent(true, 'http://127.0.0.1/a', '2026-03-01T12:00:00Z'));
    expect(ids({ failed: true })).toEqual([]);
    await store.events.noteExec(1, { exit_code: null, message: 'ended by SIGTERM', at: '' });
    expect(ids({ failed: true })).toEqual([1]);
    await store.events.noteExec(1, { exit_code: 0, message: null, at: '' });
    expect(ids({ failed: true })).toEqual([]);
    await store.events.noteForward(1, sent(false, 'http://127.0.0.1/a', '2026-03-01T12:00:01Z'));
    expect(ids({ failed: true })).toEqual([1]);
  });

  test('the address used last is known', async () => {
    expect(store.events.lastForward()).toBeUndefined();
    for (const status of ['a', 'b']) await store.events.save(arrival(status), { acts: false, shows: true });
    await store.events.noteForward(2, sent(true, 'http://first/', '2026-03-01T12:00:00.000Z'));
    await store.events.noteForward(1, sent(false, 'http://second/', '2026-03-01T12:00:01.000Z'));
    expect(store.events.lastForward()).toBe('http://second/');
  });

  test('one that is not kept is told so', () => {
    expect(() => store.events.get(7)).toThrow('no event 7 is kept');
  });

  test('they are kept for 30 days', async () => {
    await store.events.save(arrival('old'), { acts: false, shows: true });
    now += 31 * 24 * 3600 * 1000;
    await store.events.save(arrival('new'), { acts: false, shows: true });
    expect(ids()).toEqual([2]);
  });

  test('only their owner can read them', () => {
    expect(statSync(join(folder, 'webhooks.db')).mode & 0o077).toBe(0);
  });
});

describe('addresses registered', () => {
  test('a listener ends with the address that was set to stay', async () => {
    const { registrations } = store;
    await registrations.setPermanent('a', 'https://one');
    await registrations.setPermanent('a', 'https://two');
    await registrations.setPermanent('b', 'https://other');
    const id = await registrations.begin('a', 'http://listener');
    expect(await registrations.end('a', id)).toEqual({ isCurrent: true, earlier: 'https://two' });
  });

  test('nothing is known before the first', async () => {
    const id = await store.registrations.begin('a', 'http://listener');
    expect(await store.registrations.end('a', id)).toEqual({ isCurrent: true, earlier: undefined });
  });

  test('of two listeners the one that ends first leaves the other its registration', async () => {
    const { registrations } = store;
    await registrations.setPermanent('a', 'https://stays');
    const first = await registrations.begin('a', 'http://first');
    const second = await registrations.begin('a', 'http://second');
    expect(await registrations.end('a', first)).toEqual({ isCurrent: false, earlier: 'http://second' });
    expect(await registrations.end('a', second)).toEqual({ isCurrent: true, earlier: 'https://stays' });
  });

  test('the second to come gives way to the first where that still listens', async () => {
    const { registrations } = store;
    await registrations.begin('a', 'http://first');
    const second = await registrations.begin('a', 'http://second');
    expect(await registrations.end('a', second)).toEqual({ isCurrent: true, earlier: 'http://first' });
  });

  test('an address registered meanwhile stays', async () => {
    const { registrations } = store;
    const id = await registrations.begin('a', 'http://listener');
    await registrations.setPermanent('a', 'https://meanwhile');
    expect((await registrations.end('a', id)).isCurrent).toBe(false);
  });

  test('a listener that died without a word is passed over', async () => {
    const { registrations } = store;
    await registrations.setPermanent('a', 'https://stays');
    const script = `const { openWebhookStore } = await import(${journalModule});
      const store = await openWebhookStore(${JSON.stringify(folder)}, Date.now);
      await store.registrations.begin('a', 'http://dead');
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    const id = await registrations.begin('a', 'http://listener');
    expect(await registrations.end('a', id)).toEqual({ isCurrent: true, earlier: 'https://stays' });
  });
});
