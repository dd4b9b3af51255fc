import { describe, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { page, submit, textOf } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** The entries of an order's timeline as plain text, with their lane: `bad webhook: request_succeeded HTTP 503`. */
async function feed(id: string): Promise<string[]> {
  const { text } = await page(service, `/console/orders/${id}`);
  const list = /<ol class="timeline">(.*?)<\/ol><\/div>/s.exec(text)?.[1] ?? '';
  return list.split('<div class="lane ').flatMap((part) => {
    const lane = /^\w+/.exec(part)?.[0] ?? '';
    return part
      .split(/(?=<(?:details|div) class="event)/)
      .slice(1)
      .map((event) => {
        const mood = /class="event ?(\w*)"/.exec(event)?.[1] || 'done';
        const [head = ''] = event.split(/<\/summary>|<\/div>/);
        return `${mood} ${lane}: ${textOf(head)}`;
      });
  });
}

test('request, state, parcels, money and webhooks of an order stand in lanes over one line of time', async () => {
  const receiver = await Receiver.start();
  try {
    receiver.reply = () => ({ status: 503 });
    const { id } = (await service.order('test-success', { webhooks: { request_succeeded: receiver.at() } }))
      .body;
    service.pass(1000);
    for (let poll = 0; poll < 3; poll += 1) await service.send('GET', `/orders/${id}`);
    await service.send('POST', `/orders/${id}/cancel`);
    expect(await feed(id)).toEqual([
      'done request: POST /orders 201',
      'done state: Order created service',
      'done money: Held -$51.00',
      'done request: GET /orders/… ×3 200',
      'bad request: POST /orders/…/cancel 400 order_not_cancellable',
      expect.stringMatching(/^next state: Order placed with the retailer [\d-]+$/),
      'next money: Released +$51.00',
      'next money: Fee -$1.00',
      'next money: Charged -$19.99',
      'next webhook: request_succeeded',
      expect.stringMatching(/^next state: Tracking number received \S+/),
      expect.stringMatching(/^next parcel: pending \S+/),
      expect.stringMatching(/^next state: Shipped/),
      expect.stringMatching(/^next parcel: in transit/),
      expect.stringMatching(/^next parcel: in transit/),
      expect.stringMatching(/^next parcel: in transit/),
      expect.stringMatching(/^next state: Delivered/),
      expect.stringMatching(/^next parcel: delivered/),
    ]);
    service.pass(2000);
    await service.send('GET', `/orders/${id}/timeline`);
    await vi.waitFor(async () => {
      const entries = (await feed(id)).filter((entry) => !entry.startsWith('next'));
      expect(entries.slice(5)).toEqual([
        expect.stringMatching(/^done state: Order placed with the retailer [\d-]+$/),
        'done money: Released +$51.00',
        'done money: Fee -$1.00',
        'done money: Charged -$19.99',
        expect.stringMatching(/^bad webhook: request_succeeded HTTP 503, sent again in \d s$/),
        'done request: GET /orders/…/timeline 200',
      ]);
    }, hangsAfterMs);
    const { text } = await page(service, `/console/orders/${id}`);
    expect(text).toMatch(/<a href="\/console\/requests\/\d+">Request \d+<\/a>/);
    expect(text).toMatch(/<a href="\/console\/deliveries\/[\w-]+">The delivery<\/a>/);
  } finally {
    await receiver.stop();
  }
});

test('attempts under one key are one story, which made one order', async () => {
  const order = { idempotency_key: 'story-1', webhooks: undefined };
  await service.send('POST', '/sandbox/control/faults', { faults: ['503@POST /orders'] }, null);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect((await service.order('test-slow', order)).status).toBe(503);
    service.pass(400);
  }
  await service.order('test-slow', { idempotency_key: 'another' });
  await service.send('POST', '/sandbox/control/faults', { faults: ['reset-after@POST /orders'] }, null);
  await expect(service.order('test-slow', order)).rejects.toThrow();
  await service.send('POST', '/sandbox/control/faults', { faults: [] }, null);
  const refused = await service.order('test-slow', order);
  expect([refused.status, refused.body.code]).toEqual([409, 'already_exists']);
  const { identifier } = refused.body.details;
  const { text } = await page(service, `/console/orders/${identifier}`);
  expect(text).toContain('<b>3 × 503, broken off, then 409: one order</b>');
  expect(text).toContain('5 attempts under one key');
  expect(textOf(text)).toContain('fault 503@POST /orders, service_unavailable');
  expect((await feed(identifier)).filter((entry) => entry.includes('POST /orders '))).toHaveLength(1);
});

test('the clock is moved to a moment of the future, and no further', async () => {
  const { id } = (await service.order('test-success')).body;
  const { text } = await page(service, `/console/orders/${id}`);
  const moments = [
    ...text.matchAll(/orders\/[\w-]+\/jump">.*?name="once" value="([^"]+)".*?name="to" value="(\d+)"/g),
  ];
  const [, once = '', to = ''] = moments[1] ?? [];
  for (let press = 0; press < 2; press += 1)
    expect((await submit(service, `/console/orders/${id}/jump`, { once, to })).status).toBe(303);
  const { now } = (await service.send('GET', '/sandbox/control', undefined, null)).body;
  expect(Date.parse(now)).toBe(Number(to));
  const past = (await feed(id)).filter((entry) => entry.startsWith('done state'));
  expect(past.at(-1)).toMatch(/^done state: Tracking number received/);
  expect((await submit(service, `/console/orders/${id}/jump`, { once, to: 'x' })).status).toBe(400);
});

test('what a button or a trigger did is a request of the feed, in the time of the sandbox', async () => {
  const { id } = (await service.order('test-slow')).body;
  await service.send('POST', '/sandbox/control/advance', { ms: 3_600_000 }, null);
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 100 });
  const other = (await service.order('test-never', { max_price: 2000 })).body.id;
  await submit(service, `/console/orders/${other}/failed`, { error_type: 'checkout_failed' });
  const { text } = await page(service, `/console/orders/${other}`);
  expect(text).toContain('title="2026-03-01 13:00:00"');
  const entries = (await feed(other)).join('\n');
  expect(entries).toContain('done request: POST /orders 201');
  expect(entries).toContain('done request: POST /console/orders/…/failed 303 console');
  expect(entries).toContain('bad state: Order failed');
  expect(await feed(id)).not.toContain('wallet-funded');
});

test('a life of very many entries is cut at its beginning', async () => {
  const { id } = (await service.order('test-never', { max_price: 2000 })).body;
  for (let read = 0; read < 140; read += 1)
    await service.send('GET', read % 2 ? `/orders/${id}` : `/orders/${id}/timeline`);
  expect((await feed(id)).filter((entry) => !entry.startsWith('next'))).toHaveLength(120);
  expect((await page(service, `/console/orders/${id}`)).text).toContain('23 earlier ones are left out.');
});

describe('what is held for an order is released when its placing ends', () => {
  /**
   * Titles of the feed's money entries, and whether their amounts add up to the change in the wallet's balance since
   * `before`.
   */
  async function moneyOf(id: string, before: number) {
    const words = (await feed(id)).filter((entry) => entry.startsWith('done money: '));
    const amounts = words.map((entry) => / money: ([A-Z][a-z ]+) ([+-])\$([\d.]+)/.exec(entry) ?? []);
    const cents = amounts.map(([, , sign, value]) => Math.round(Number(`${sign}${value}`) * 100));
    const wallet = (await service.send('GET', '/wallet/me')).body;
    return {
      titles: amounts.map(([, title]) => title),
      isSum: cents.reduce((sum, one) => sum + one, 0) === wallet.balance - before,
    };
  }

  test.each([
    ['failed', 'test-out-of-stock', 10_000, ['Held', 'Released']],
    ['placed', 'test-success', 10_000, ['Held', 'Released', 'Fee', 'Charged']],
    ['pending', 'test-slow', 0, ['Held']],
  ] as const)('%s', async (_, slug, ms, titles) => {
    const before = (await service.send('GET', '/wallet/me')).body.balance;
    const { id } = (await service.order(slug)).body;
    service.pass(ms);
    expect(await moneyOf(id, before)).toEqual({ titles, isSum: titles.length > 1 });
  });

  test('cancelled', async () => {
    const before = (await service.send('GET', '/wallet/me')).body.balance;
    const { id } = (await service.order('test-slow')).body;
    await service.send('POST', `/orders/${id}/cancel`);
    expect(await moneyOf(id, before)).toEqual({ titles: ['Held', 'Released'], isSum: true });
  });
});
