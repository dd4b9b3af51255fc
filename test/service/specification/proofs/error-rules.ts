import { expect } from 'vitest';
import { orderBody } from '../../../support/order-body.ts';
import { withReceiver } from '../hooks.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { errorRules } from '../rows/errors.ts';
import { addAccount, expectRefusal, fire, line, listed, ordered, read, second } from '../scenes.ts';
import { poll, startDevice } from './device.ts';
import { check, refusedUrls } from './retailers.ts';

export const errorRuleProofs: ProofsOf<typeof errorRules> = {
  'error rule 1': proof('a retailer outside the US is refused with another code', async (it) => {
    for (const shop of ['papierlaterne', 'bottegadiva', 'kesselundkanne']) {
      const refused = await it.send('POST', '/orders', orderBody(`https://www.${shop}.example/p/1`));
      expectRefusal(refused, 400, 'unsupported_country');
    }
  }),
  'error rule 2': proof('ordering refuses with the code that the check foretold', async (it) => {
    for (const [url, country, reason] of refusedUrls) {
      expect((await check(it, url, country)).body.unsupported_reason).toBe(reason);
      const body = orderBody(url);
      const shipping_address = { ...body.shipping_address, country };
      expectRefusal(await it.send('POST', '/orders', { ...body, shipping_address }), 400, reason);
    }
  }),
  'error rule 3': proof(
    'max_price and the fee are required, or with an account the fee alone',
    async (it) => {
      const [listing] = (await read(it, '/search?q=coffee&retailer=membersbarn')).results;
      const { order_fee_cents: fee, balance } = await read(it, '/wallet/me');
      const poor = await it.order('test-success', { max_price: balance });
      expect(poor.body.details).toMatchObject({ required: balance + fee, available: balance });
      expect(poor.body.details.fund_with.length).toBeGreaterThan(0);
      const shop = (await read(it, '/search?q=coffee&retailer=harborgoods')).results[0];
      await addAccount(it, { retailer: 'harborgoods' });
      const refused = await it.send('POST', '/orders', { ...orderBody(shop.url), max_price: balance });
      expectRefusal(refused, 402, 'insufficient_funds');
      expect(refused.body.details.fund_with[0].rail).toBe('your_retailer_account');
      const own = (await addAccount(it, { retailer: 'membersbarn', totp_secret: 'S'.repeat(64) })).body
        .short_id;
      const body = { ...orderBody(listing.url), max_price: balance, retailer_credentials_id: own };
      expect((await it.send('POST', '/orders', body)).status).toBe(201);
      expect((await read(it, '/wallet/me')).spendable_balance).toBe(balance - fee);
    },
  ),
  'error rule 4': proof('both that say wait carry the interval; access_denied stops', async (it) => {
    const { device_code, user_code, interval } = await startDevice(it);
    expect(interval).toBe(5);
    const [waiting, fast] = [await poll(it, device_code), await poll(it, device_code)];
    expect([waiting.body.code, waiting.body.details.interval]).toEqual(['authorization_pending', 5]);
    expect([fast.body.code, typeof fast.body.details.interval]).toEqual(['slow_down', 'number']);
    await fire(it, 'device-deny', user_code);
    it.pass(60 * second);
    expect((await poll(it, device_code)).body.code).toBe('access_denied');
  }),
  'error rule 5': proof('the order and the webhook name the same error_type', async (it) => {
    await withReceiver(it, async ({ url, hooks, until }) => {
      await it.send('POST', '/users', { webhook_url: url });
      const { id } = (await it.order('test-shipping-unavailable')).body;
      await until(() => hooks.some(({ event }) => event === 'request_failed'));
      const hook = hooks.find(({ event }) => event === 'request_failed');
      const { job_result } = await read(it, `/orders/${id}`);
      expect([hook?.body.error_type, job_result.error_type]).toEqual(Array(2).fill('shipping_unavailable'));
    });
  }),
  'error rule 6': proof('what is relaxed is conceded; the two limits never are', async (it) => {
    const fulfillment = { gift: 'best_effort', items: 'best_effort', quantity: 'best_effort' };
    const products = [
      line(it, 'test-success'),
      line(it, 'test-out-of-stock'),
      line(it, 'test-quantity-limit', 3),
    ];
    const more = { is_gift: true, fulfillment, max_price: 20_000 };
    const order = await ordered(it, 'test-success', 12 * second, { ...more, products });
    expect(order.status).toBe('order_placed');
    const codes = order.fulfillment.concessions.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(['out_of_stock', 'quantity_limit_exceeded']);
    const limit = await ordered(it, 'test-order-limit', 12 * second, more);
    expect(limit.job_result.error_type).toBe('order_limit_exceeded');
    const dear = await ordered(it, 'test-success', 12 * second, { ...more, max_price: 1 });
    expect(dear.job_result.error_type).toBe('max_price_exceeded');
    for (const failed of [limit, dear]) expect(failed.fulfillment.concessions).toEqual([]);
  }),
  'error rule 7': proof(
    'the lines to blame and the fields, and no line of an order-level failure',
    async (it) => {
      const products = [line(it, 'test-success'), line(it, 'test-out-of-stock')];
      const { items, job_result } = await ordered(it, 'test-success', 12 * second, { products });
      expect(job_result.error_details.line_rejections).toMatchObject([
        { item_id: items[1].id, url: items[1].url, code: 'out_of_stock', message: expect.any(String) },
      ]);
      const dear = (await ordered(it, 'test-success', 12 * second, { max_price: 1 })).job_result
        .error_details;
      expect(dear.line_rejections).toEqual([]);
      expect(dear.field_errors).toMatchObject([{ field: 'max_price', received: 1 }]);
    },
  ),
  'error rule 8': proof('a page that no slug names is delivered', async (it) => {
    for (const url of [it.product('anything-else'), 'https://shop.example.com/item/9']) {
      const { status, body } = await it.send('POST', '/orders', { ...orderBody(url), max_price: 50_000 });
      expect(status).toBe(201);
      it.pass(12 * second);
      const order = await read(it, `/orders/${body.id}`);
      expect([order.status, order.tracking_numbers[0].status]).toEqual(['order_placed', 'delivered']);
    }
  }),
  'error rule 9': proof('names the order there is; a key changed makes a second', async (it) => {
    const metadata = { request: 'r-1' };
    const { id } = (await it.order('test-success', { idempotency_key: 'k', metadata })).body;
    const again = await it.order('test-success', { idempotency_key: 'k', metadata });
    expectRefusal(again, 409, 'already_exists');
    expect(again.body.details.identifier).toBe(id);
    expect(await listed(it, 'metadata_key=request&metadata_value=r-1')).toEqual([id]);
    expect((await it.order('test-success', { idempotency_key: 'k2', metadata })).status).toBe(201);
    expect(await listed(it, 'metadata_key=request&metadata_value=r-1')).toHaveLength(2);
  }),
};
