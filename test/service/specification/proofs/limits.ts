import { expect } from 'vitest';
import type { TestService } from '../../../support/service.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { limitRows } from '../rows/limits.ts';
import {
  addAccount,
  bulkRow,
  day,
  expectInvalid,
  expectRefusal,
  found,
  listed,
  ordered,
  read,
  second,
  upload,
} from '../scenes.ts';
import { dataCallCost } from './agent.ts';
import { agentOrderFee } from './agent-fee.ts';
import { electronicsPage, storePage } from './products.ts';
import { returned } from './returns.ts';

/** Checks a limit and its default: both bounds are accepted, values beyond them are refused. */
const bounded = (path: string, rows: string, most: number, byDefault: (it: TestService) => Promise<void>) =>
  proof(`1 and ${most} are taken, 0 and ${most + 1} refused`, async (it) => {
    await byDefault(it);
    for (const value of [1, most]) expect((await read(it, `${path}?limit=${value}`))[rows]).toBeDefined();
    for (const value of [0, -1, most + 1])
      expectInvalid(await it.send('GET', `${path}?limit=${value}`), 'query', 'limit');
  });

/** Checks a filter's maximum length: it is accepted, one character more is refused. */
const longestFilter = (name: string, most: number, more = '') =>
  proof(`${most} characters are taken, ${most + 1} refused`, async (it) => {
    expect(await listed(it, `${name}=${'x'.repeat(most)}${more}`)).toEqual([]);
    const longer = await it.send('GET', `/orders?${name}=${'x'.repeat(most + 1)}${more}`);
    expectInvalid(longer, 'query', name);
  });

/**
 * Checks the maximum length of an order field: it is accepted, one character more is refused. Counts characters, not
 * bytes.
 */
const longestField = (name: string, most: number, more: Record<string, unknown> = {}) =>
  proof(`${most} characters are taken, ${most + 1} refused`, async (it) => {
    const made = (character: string, count: number) =>
      it.order('test-success', { ...more, [name]: character.repeat(count) });
    for (const character of ['x', 'é']) expect((await made(character, most)).status).toBe(201);
    expectInvalid(await made('x', most + 1), 'body', name);
  });

const lists = ['/orders', '/orders/bulk', '/managed-accounts', '/returns', '/retailers'];

export const limitProofs: ProofsOf<typeof limitRows> = {
  'limit of limit, GET /orders': bounded('/orders', 'orders', 500, async (it) => {
    expect((await read(it, '/orders')).limit).toBe(50);
  }),
  'limit of limit, GET /orders/bulk': bounded('/orders/bulk', 'batches', 200, async (it) => {
    for (let made = 0; made < 51; made += 1) await upload(it, bulkRow(it, { city: '' }));
    const { batches, total } = await read(it, '/orders/bulk');
    expect([batches.length, total]).toEqual([50, 51]);
  }),
  'limit of offset': proof('0 is taken and negatives are refused by every list', async (it) => {
    for (const path of lists) {
      const first = await read(it, path);
      expect(await read(it, `${path}?offset=0`)).toEqual(first);
      expectInvalid(await it.send('GET', `${path}?offset=-1`), 'query', 'offset');
    }
  }),
  'limit of max_age': proof('31 taken, 30 refused; newer_than is never finer than 31 s', async (it) => {
    const { product_id } = await found(it, 'harborgoods');
    for (const path of ['', '/offers']) {
      const target = `/products/${product_id}${path}?retailer=harborgoods`;
      const { timestamp } = await read(it, target);
      expect((await it.send('GET', `${target}&max_age=31`)).status).toBe(200);
      expectInvalid(await it.send('GET', `${target}&max_age=30`), 'query', 'max_age');
      it.pass(20 * second);
      const now = timestamp + 20;
      expect((await read(it, `${target}&newer_than=${now}`)).timestamp).toBe(timestamp);
      it.pass(20 * second);
      expect((await read(it, `${target}&newer_than=${now + 20}`)).timestamp).toBe(timestamp + 40);
    }
  }),
  'limit of idempotency_key': longestField('idempotency_key', 36),
  'limit of gift_message': longestField('gift_message', 240, { is_gift: true }),
  'limit of max_price': proof('0 is taken, -1 refused', async (it) => {
    expect((await it.order('test-success', { max_price: 0 })).status).toBe(201);
    expectInvalid(await it.order('test-success', { max_price: -1 }), 'body', 'max_price');
  }),
  'limit of merchant_order_id': longestFilter('merchant_order_id', 200),
  'limit of metadata_key': longestFilter('metadata_key', 200, '&metadata_value=v'),
  'limit of metadata_value': longestFilter('metadata_value', 500, '&metadata_key=k'),
  'limit of user_email': longestFilter('user_email', 320),
  'limit: API fee': agentOrderFee,
  'limit: agent data call': dataCallCost,
  'limit: sandbox key': proof(
    '7 days without use are taken, more are not; a few mints a day',
    async (it) => {
      it.pass(7 * day);
      expect((await it.send('GET', '/wallet/me')).status).toBe(200);
      for (let minted = 0; minted < 3; minted += 1)
        expect((await it.send('POST', '/sandbox/keys', undefined, null)).status).toBe(201);
      const refused = await it.send('POST', '/sandbox/keys', undefined, null);
      expectRefusal(refused, 429, 'rate_limit_exceeded');
      it.pass(7 * day + second);
      expectRefusal(await it.send('GET', '/wallet/me'), 401, 'token_expired');
      expect((await it.send('POST', '/sandbox/keys', undefined, null)).status).toBe(201);
    },
    { config: { mintLimitPerDay: 3 } },
  ),
  'limit: return label URL': proof('good for 7 days; reading the return makes it anew', async (it) => {
    const { id, label_urls } = await returned(it, 'damaged', 3.5 * second);
    const open = async (url: string) => (await fetch(url)).status;
    it.pass(4 * day);
    await read(it, '/wallet/me');
    it.pass(3 * day - second);
    expect(await open(label_urls[0])).toBe(200);
    it.pass(second);
    expect(await open(label_urls[0])).toBe(403);
    expect(await open((await read(it, `/returns/${id}`)).label_urls[0])).toBe(200);
  }),
  'limit: two-factor secret': proof('64 characters, not one more or less', async (it) => {
    expect((await addAccount(it, { totp_secret: 'S'.repeat(64) })).body.has_totp).toBe(true);
    for (const count of [6, 63, 65]) {
      const refused = await addAccount(it, { email: 'b@example.com', totp_secret: 'S'.repeat(count) });
      expectInvalid(refused, 'body', 'totp_secret');
    }
  }),
  'limit: managed account concurrency': proof('one runs, the others wait their turn', async (it) => {
    const { short_id: account } = (await addAccount(it)).body;
    const ids: string[] = [];
    for (let made = 0; made < 3; made += 1)
      ids.push((await ordered(it, 'test-success', 0, { retailer_credentials_id: account })).id);
    const most = { running: 0, placed: 0 };
    for (let turn = 0; turn < 100 && most.placed < 3; turn += 1) {
      it.pass(second / 4);
      const states = await Promise.all(ids.map(async (id) => (await read(it, `/orders/${id}`)).status));
      most.running = Math.max(most.running, states.filter((status) => status === 'in_progress').length);
      most.placed = states.filter((status) => status === 'order_placed').length;
      expect(states.slice(0, most.placed)).toEqual(Array(most.placed).fill('order_placed'));
    }
    expect(most).toEqual({ running: 1, placed: 3 });
  }),
  'limit: sandbox lifecycle': proof('placed within 4 s, delivered within 10 s', async (it) => {
    for (const seconds of [4, 10]) {
      const { status, tracking_numbers } = await ordered(it, 'test-success', seconds * second);
      expect(status).toBe('order_placed');
      if (seconds === 10) expect(tracking_numbers[0].status).toBe('delivered');
    }
  }),
  'limit: store-domain search': storePage,
  'limit: electronics search': electronicsPage,
};
