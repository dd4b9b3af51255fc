import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';

/** Texts a store might truncate, merge or treat as a pattern. */
const strange = ['k\u0000a', 'k\u0000b', 'k\ud800', 'k\ud801', 'k%', 'k_', "k'; --", 'ключ', '🗝️', ' k', 'k'];

describe('texts of every kind', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(async () => {
    await service.stop();
    expect(service.bugs).toEqual([]);
  });

  test('are different keys of different orders where they differ at all', async () => {
    const key = await service.mint();
    const place = (idempotency_key: string) =>
      service.order('test-never', { idempotency_key, max_price: 1 }, key);
    for (const text of strange) expect((await place(text)).status, JSON.stringify(text)).toBe(201);
    for (const text of strange) expect((await place(text)).status, JSON.stringify(text)).toBe(409);
  });

  test('come back in the record as they were sent, and are found exactly', async () => {
    const key = await service.mint();
    for (const text of strange) {
      const metadata = { [text]: text, other: `${text}!` };
      const { body } = await service.order('test-never', { metadata, po_number: text, max_price: 1 }, key);
      const read = (await service.send('GET', `/orders/${body.id}`, undefined, key)).body;
      expect(read).toMatchObject({ metadata, po_number: text });
    }
    // A lone surrogate cannot be encoded in a URL.
    for (const text of strange.filter((it) => !/\p{Surrogate}/u.test(it))) {
      const value = encodeURIComponent(text);
      const target = `/orders?metadata_key=${value}&metadata_value=${value}`;
      const { body } = await service.send('GET', target, undefined, key);
      expect(body.orders.map(({ po_number }: { po_number: string }) => po_number)).toEqual([text]);
    }
  });

  test('filter by what they say: no character stands for others', async () => {
    const key = await service.mint();
    await service.order('test-never', { max_price: 1 }, key);
    for (const part of ['%', '_', '*', '.', 'a%a']) {
      for (const filter of ['order_id', 'search', 'shipping_name', 'user_email', 'merchant_order_id']) {
        const target = `/orders?${filter}=${encodeURIComponent(part)}`;
        expect((await service.send('GET', target, undefined, key)).body.total, target).toBe(0);
      }
    }
  });

  test("a retailer's order number is found however its dashes are typed", async () => {
    const key = await service.mint();
    const { body } = await service.order('test-success', {}, key);
    service.pass(60_000);
    const order = (await service.send('GET', `/orders/${body.id}`, undefined, key)).body;
    const digits = order.merchant_order_ids[0].replaceAll('-', '');
    for (const typed of [order.merchant_order_ids[0], digits, `${digits.slice(0, 5)}-${digits.slice(5)}`]) {
      const found = await service.send('GET', `/orders?merchant_order_id=${typed}`, undefined, key);
      expect(found.body.total, typed).toBe(1);
    }
  });
});
