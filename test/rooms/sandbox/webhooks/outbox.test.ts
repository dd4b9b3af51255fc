import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { retryDelay } from '../../../../src/sandbox/webhooks/outbox.ts';
import { Receiver } from '../../../support/receiver.ts';
import { Sender } from './sender.ts';

let folder: string;
let file: string;
let receiver: Receiver;
let senders: Sender[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errand-outbox-'));
  file = join(folder, 'sandbox.db');
  receiver = await Receiver.start();
  senders = [];
});
afterEach(async () => {
  for (const sender of senders) await sender.close();
  for (const sender of senders) expect(sender.bugs).toEqual([]);
  await receiver.stop();
  rmSync(folder, { recursive: true });
});

async function open(config: Parameters<typeof Sender.open>[1] = {}): Promise<Sender> {
  const sender = await Sender.open(file, config);
  senders.push(sender);
  return sender;
}

async function close(sender: Sender): Promise<void> {
  senders.splice(senders.indexOf(sender), 1);
  await sender.close();
}

const refusing = () => ({ status: 503 });
const accepting = () => ({ status: 200 });

describe('a webhook that was not taken', () => {
  test('is sent again after 1 s, then after twice as long each time, until it is', async () => {
    const sender = await open();
    await sender.register(receiver.at());
    receiver.reply = refusing;
    await sender.oneEvent();
    await sender.pass(0);
    for (const wait of [1_000, 2_000, 4_000]) {
      const before = receiver.received.length;
      await sender.pass(wait - 1);
      expect(receiver.received).toHaveLength(before);
      if (wait === 4_000) receiver.reply = accepting;
      await sender.pass(1);
      expect(receiver.received).toHaveLength(before + 1);
    }
    expect(sender.log()).toEqual([
      { event: 'status_updated', state: 'delivered', attempts: 4, status: 200, error: null },
    ]);
    await sender.pass(24 * 3600 * 1000);
    expect(receiver.received).toHaveLength(4);
  });

  test('has each attempt in the log', async () => {
    const sender = await open();
    await sender.register(receiver.at());
    receiver.reply = refusing;
    await sender.oneEvent();
    await sender.pass(0);
    receiver.reply = accepting;
    await sender.pass(1_000);
    const start = Date.parse('2026-03-01T12:00:00Z');
    expect(sender.attempts()).toEqual([
      { at: start, status: 503, error: 'HTTP 503' },
      { at: start + 1_000, status: 200, error: null },
    ]);
  });

  test.each([1, 10])(
    'is given up after a day of the sandbox, at speed %i, and lets the next one go',
    async (speed) => {
      const sender = await open({ speed });
      await sender.register(receiver.at());
      receiver.reply = ({ event }) => (event === 'request_succeeded' ? { status: 500 } : { status: 200 });
      await sender.order('test-never', { webhooks: { request_succeeded: receiver.at() } });
      const id = await sender.order('test-success');
      await sender.pass(3_000);
      await sender.send('GET', '/orders');
      await sender.pass(0);
      expect(receiver.events()).toEqual(['status_updated', 'status_updated', 'request_succeeded']);
      let waited = 0;
      let attempts = 1;
      for (let wait = retryDelay(1, speed); wait !== null; wait = retryDelay(attempts, speed)) {
        await sender.pass(wait);
        waited += wait;
        attempts += 1;
        expect(receiver.events().filter((event) => event === 'request_succeeded')).toHaveLength(attempts);
      }
      expect(waited).toBeLessThanOrEqual((24 * 3600 * 1000) / speed);
      expect(sender.log()[2]).toMatchObject({ state: 'given up', attempts, status: 500 });
      const next = receiver.received[receiver.events().lastIndexOf('request_succeeded') + 1];
      expect(next).toMatchObject({ event: 'status_updated', orderId: id });
      const last = receiver.received.length;
      await sender.pass(1000 * 24 * 3600 * 1000);
      expect(receiver.events().slice(last)).not.toContain('request_succeeded');
    },
  );

  test('holds back what follows of the same order to the same address, and nothing else', async () => {
    const sender = await open();
    await sender.register(receiver.at('/first'));
    receiver.reply = ({ orderId, target }) => ({
      status: orderId === stuck && target === 'POST /first' ? 500 : 200,
    });
    const stuck = await sender.order('test-success', {
      webhooks: { request_succeeded: receiver.at('/own') },
    });
    const free = await sender.order('test-success');
    await sender.pass(3_000);
    await sender.send('GET', '/orders');
    await sender.pass(0);
    const seen = (id: string) => receiver.received.filter(({ orderId }) => orderId === id);
    expect(
      seen(stuck)
        .map(({ event, target }) => `${event} ${target}`)
        .toSorted(),
    ).toEqual(['request_succeeded POST /own', 'status_updated POST /first']);
    expect(seen(free)).toHaveLength(3);
    receiver.reply = accepting;
    await sender.pass(1_000);
    expect(seen(stuck).filter(({ target }) => target === 'POST /first')).toHaveLength(4);
  });

  test('at a refused connection it stays queued', async () => {
    const sender = await open();
    await sender.register(receiver.at('/pass1?token=pass2').replace('//', '//ada:pass3@'));
    const { port } = receiver;
    await receiver.stop();
    await sender.oneEvent();
    await sender.pass(0);
    const [kept] = sender.log();
    expect(kept).toMatchObject({ state: 'open', attempts: 1, status: null });
    expect(kept?.error).toContain(`127.0.0.1:${port}`);
    expect(JSON.stringify([sender.log(), sender.attempts()])).not.toMatch(/pass|ada/);
    receiver = await Receiver.start();
  });
});

describe('the queue', () => {
  test('is kept with the state of its event, and outlives the process', async () => {
    const first = await open();
    await first.register(receiver.at());
    receiver.reply = refusing;
    const id = await first.order('test-success');
    await first.pass(3_000);
    await first.send('GET', '/orders');
    await close(first);
    receiver.reply = accepting;
    const tried = receiver.received.length;
    const second = await open();
    second.key = first.key;
    await second.pass(60_000);
    expect(receiver.events().slice(tried, tried + 3)).toEqual([
      'status_updated',
      'request_succeeded',
      'status_updated',
    ]);
    expect(new Set(receiver.received.map(({ orderId }) => orderId))).toEqual(new Set([id]));
  });

  test('gives one delivery to one process, and to another only once its holder must be gone', async () => {
    const [holder, other] = [await open(), await open()];
    await holder.register(receiver.at());
    receiver.reply = () => 'silence';
    await holder.oneEvent();
    await receiver.until(1);
    await other.pass(14_000);
    // The lease ignores the sandbox's own clock, which can jump by days.
    await other.opened.service.clock.advance(3 * 24 * 3600 * 1000);
    await other.pass(0);
    expect(receiver.received).toHaveLength(1);
    receiver.reply = accepting;
    await other.pass(1_000);
    expect(receiver.received).toHaveLength(2);
    expect(other.log()[0]).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('takes a delivery from a holder whose lease no clock will reach: the machine was set back by a day', async () => {
    const day = 24 * 3600 * 1000;
    const [holder, other] = [await open(), await open()];
    await holder.register(receiver.at());
    receiver.reply = () => 'silence';
    await holder.oneEvent();
    await receiver.until(1);
    receiver.reply = accepting;
    await other.pass(-day);
    await other.opened.service.clock.advance(day);
    await other.pass(0);
    expect(receiver.received).toHaveLength(2);
    expect(other.log()[0]).toMatchObject({ state: 'delivered' });
  });

  test('closing waits no longer than a moment, and another process goes on at once', async () => {
    const first = await open();
    await first.register(receiver.at());
    receiver.reply = () => 'silence';
    await first.oneEvent();
    await receiver.until(1);
    // A process that waited until the response timeout would record a failed attempt.
    await close(first);
    receiver.reply = accepting;
    const second = await open();
    expect(second.attempts()).toEqual([]);
    await second.pass(0);
    expect(second.log()[0]).toMatchObject({ state: 'delivered', attempts: 1 });
  });

  test('what is due when a process ends at once is delivered by it', async () => {
    const sender = await open();
    await sender.register(receiver.at());
    await sender.order('test-success');
    await sender.pass(3_000);
    await sender.send('GET', '/orders');
    await close(sender);
    expect(receiver.events()).toEqual(['status_updated', 'request_succeeded', 'status_updated']);
  });

  test('is empty, and nothing is sent, where no address is registered', async () => {
    const sender = await open();
    sender.key = (await sender.send('POST', '/sandbox/keys')).api_key;
    await sender.oneEvent();
    await sender.pass(0);
    expect(sender.log()).toEqual([]);
  });
});
