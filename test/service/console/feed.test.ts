import { describe, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { page, submit } from '../../support/read-page.ts';
import { Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** The entries of an order's feed as plain text. */
async function feed(id: string): Promise<string[]> {
  const { text } = await page(service, `/console/orders/${id}`);
  const list = /<ol class="timeline">(.*?)<\/ol>/s.exec(text)?.[1] ?? '';
  return [...list.matchAll(/<li class="([^"]*)">(.*?)<\/li>/gs)].map(
    ([, kind, entry = '']) =>
      `${kind}: ${entry
        .replace(/<[^>]+>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()}`,
  );
}

test('request, state, delivery and money of an order stand in one line of time', async () => {
  const receiver = await Receiver.start();
  try {
    receiver.reply = () => ({ status: 503 });
    const { id } = (await service.order('test-success', { webhooks: { request_succeeded: receiver.at() } }))
      .body;
    service.pass(1000);
    for (let poll = 0; poll < 3; poll += 1) await service.send('GET', `/orders/${id}`);
    await service.send('POST', `/orders/${id}/cancel`);
    service.pass(2000);
    await service.send('GET', `/orders/${id}/timeline`);
    await vi.waitFor(async () => {
      const entries = await feed(id);
      expect(entries.map((entry) => entry.replace(/ 2026-\S+ \S+/, ''))).toEqual([
        'done request: POST /orders 201 · request',
        'done state: Order created · service',
        'done money: Held -$51.00 · wallet',
        `done request: GET /orders/${id} ×3 200 · +1.0 s · request`,
        `bad request: POST /orders/${id}/cancel 400 · +1.0 s · request`,
        expect.stringMatching(/^done state: Order placed with the retailer · \+2\.\d s · retailer [\d-]+$/),
        expect.stringMatching(/^done money: Released \+\$51\.00 · \+2\.\d s · wallet$/),
        expect.stringMatching(/^done money: Fee -\$1\.00 · \+2\.\d s · wallet$/),
        expect.stringMatching(/^done money: Charged -\$19\.99 · \+2\.\d s · wallet$/),
        `done request: GET /orders/${id}/timeline 200 · +3.0 s · request`,
        expect.stringMatching(/^bad webhook: request_succeeded HTTP 503 · \+3\.0 s · webhook, \d+ ms$/),
        expect.stringMatching(/^next soft: next step/),
      ]);
    }, hangsAfterMs);
    const { text } = await page(service, `/console/orders/${id}`);
    expect(text).toMatch(/<a href="\/console\/requests\/\d+">POST \/orders<\/a>/);
    expect(text).toMatch(/<a href="\/console\/deliveries\/[\w-]+">request_succeeded<\/a>/);
  } finally {
    await receiver.stop();
  }
});

test('what a button or a trigger did is a request of the feed, in the time of the sandbox', async () => {
  const { id } = (await service.order('test-slow')).body;
  await service.send('POST', '/sandbox/control/advance', { ms: 3_600_000 }, null);
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 100 });
  const other = (await service.order('test-never', { max_price: 2000 })).body.id;
  await submit(service, `/console/orders/${other}/failed`, { error_type: 'checkout_failed' });
  const entries = (await feed(other)).join('\n');
  expect(entries).toContain('done request: POST /orders 201 2026-03-01 13:00:00 · request');
  expect(entries).toContain(`done request: POST /console/orders/${other}/failed 303 2026-03-01 13:00:00`);
  expect(entries).toContain('bad state: Order failed');
  expect(await feed(id)).not.toContain('wallet-funded');
});

test('a life of very many entries is cut at its beginning', async () => {
  const { id } = (await service.order('test-never', { max_price: 2000 })).body;
  for (let read = 0; read < 140; read += 1)
    await service.send('GET', read % 2 ? `/orders/${id}` : `/orders/${id}/timeline`);
  expect(await feed(id)).toHaveLength(121);
  expect((await page(service, `/console/orders/${id}`)).text).toContain('23 earlier ones are left out.');
});

describe('what is held for an order is released when its placing ends', () => {
  /**
   * Titles of the feed's money entries, and whether their amounts add up to the change in the wallet's balance since
   * `before`.
   */
  async function moneyOf(id: string, before: number) {
    const words = (await feed(id)).filter((entry) => entry.includes(' money: '));
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
