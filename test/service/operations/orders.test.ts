import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../src/api/schemas/check.ts';
import { address, orderBody } from '../../support/order-body.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

describe('orders', () => {
  let service: TestService;
  startedForEach((started) => {
    service = started;
  });

  test('POST /orders returns 201 with a pending order of the contract’s shape', async () => {
    const { status, body } = await service.order('test-success');
    expect(status).toBe(201);
    expect(body.status).toBe('pending');
    expect(checkShape('OrderResponse', body, 'response').issues).toBeUndefined();
  });

  test('a repeated idempotency_key returns already_exists with the id of the existing order', async () => {
    const first = await service.order('test-success', { idempotency_key: 'k1' });
    const again = await service.order('test-success', { idempotency_key: 'k1', max_price: 1 });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      code: 'already_exists',
      details: { resource: 'order', identifier: first.body.id },
    });
    const other = await service.order('test-success', { idempotency_key: 'k1' }, await service.mint());
    expect(other.status).toBe(201);
  });

  test('fifty creates with one key at once make one order', async () => {
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => service.order('test-success', { idempotency_key: 'same' })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(49);
    expect((await service.send('GET', '/orders')).body.total).toBe(1);
  });

  test.each([
    ['test-invalid-address', 400, 'invalid_shipping_address'],
    ['test-url-unreachable', 400, 'url_unreachable'],
    ['test-insufficient-funds', 402, 'insufficient_funds'],
  ])('%s is refused at creation with %i %s', async (slug, status, code) => {
    const response = await service.order(slug);
    expect(response).toMatchObject({ status, body: { code } });
    expect((await service.send('GET', '/orders')).body.total).toBe(0);
  });

  test('insufficient_funds names what is required, what is there, and the ways forward', async () => {
    const { status, body } = await service.order('test-success', { max_price: 100_000 });
    expect(status).toBe(402);
    expect(body.details).toMatchObject({ required: 100_100, available: 100_000 });
    expect(body.details.fund_with.length).toBeGreaterThan(0);
  });

  test('orders placed at once never spend more than the wallet has', async () => {
    const responses = await Promise.all(
      Array.from({ length: 30 }, () => service.order('test-success', { max_price: 9_900 })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(10);
    expect((await service.send('GET', '/wallet/me')).body).toMatchObject({
      balance: 100_000,
      spendable_balance: 0,
    });
    service.pass(60_000);
    const { balance, spendable_balance } = (await service.send('GET', '/wallet/me')).body;
    expect(balance).toBe(100_000 - 10 * (1_999 + 100));
    expect(spendable_balance).toBe(balance);
  });

  test.each([['country FR', { country: 'FR' }, 'unsupported_country']])(
    '%s: refused as the retailer check predicts',
    async (_, change, code) => {
      const response = await service.order('test-success', { shipping_address: { ...address, ...change } });
      expect(response).toMatchObject({ status: 400, body: { code } });
    },
  );

  test('the code of a refusal is the one that the retailer check predicts, for every retailer and country', async () => {
    const { retailers } = (await service.send('GET', '/retailers?limit=200', undefined, null)).body;
    expect(retailers).toHaveLength(14);
    for (const { base_url } of retailers) {
      for (const country of ['US', 'DE']) {
        const url = `${base_url}/p/1`;
        const check = await service.send(
          'GET',
          `/retailers/check?url=${encodeURIComponent(url)}&country=${country}`,
          undefined,
          null,
        );
        const placed = await service.send('POST', '/orders', {
          ...orderBody(url),
          max_price: 10,
          shipping_address: { ...address, country, postal_code: country === 'US' ? '78701' : '10115' },
        });
        expect(placed.status, url).toBe(check.body.orderable ? 201 : 400);
        if (!check.body.orderable) expect(placed.body.code).toBe(check.body.unsupported_reason);
      }
    }
  });

  test.each(['file:///etc/passwd', 'ftp://shop.example/a', 'javascript:alert(1)'])(
    'what no order takes is orderable by no retailer check: %s',
    async (url) => {
      const check = await service.send('GET', `/retailers/check?url=${encodeURIComponent(url)}&country=US`);
      expect(check).toMatchObject({ status: 400, body: { code: 'bad_request' } });
      expect((await service.send('POST', '/orders', orderBody(url))).status).toBe(422);
    },
  );

  test('cancel returns 204 while pending, then order_not_cancellable; nothing is charged', async () => {
    const { body } = await service.order('test-slow');
    expect((await service.send('POST', `/orders/${body.id}/cancel`)).status).toBe(204);
    expect((await service.send('GET', `/orders/${body.id}`)).body.status).toBe('cancelled');
    const again = await service.send('POST', `/orders/${body.id}/cancel`);
    expect(again).toMatchObject({ status: 400, body: { code: 'order_not_cancellable' } });
    expect((await service.send('GET', '/wallet/me')).body).toMatchObject({
      balance: 100_000,
      spendable_balance: 100_000,
    });
  });

  test('a placed order is not cancelled', async () => {
    const { id } = (await service.order('test-success')).body;
    service.pass(10_000);
    const refused = await service.send('POST', `/orders/${id}/cancel`);
    expect(refused).toMatchObject({ status: 400, body: { code: 'order_not_cancellable' } });
    expect((await service.send('GET', `/orders/${id}`)).body.status).toBe('order_placed');
  });

  test('another user’s orders are not found; an id that is no UUID is a 422', async () => {
    const { body } = await service.order('test-success');
    const other = await service.mint();
    for (const path of ['', '/timeline']) {
      expect((await service.send('GET', `/orders/${body.id}${path}`, undefined, other)).status).toBe(404);
    }
    expect((await service.send('POST', `/orders/${body.id}/cancel`, undefined, other)).status).toBe(404);
    const wrong = await service.send('GET', '/orders/123');
    expect(wrong).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'order_id'] }] } });
  });

  test('public tracking needs no key and shows neither name nor phone', async () => {
    const { body } = await service.order('test-success');
    service.pass(60_000);
    const { status, text, body: tracked } = await service.send('GET', `/track/${body.id}`, undefined, null);
    expect(status).toBe(200);
    expect(tracked.shipments[0].status).toBe('delivered');
    expect(text).not.toMatch(/Ada|Byron|5125550100/);
  });

  test.each([
    ['test-success', 'order_placed', 'delivered', null],
    ['test-price-exceeded', 'order_failed', undefined, 'max_price_exceeded'],
    ['test-out-of-stock', 'order_failed', undefined, 'out_of_stock'],
    ['test-invalid-variant', 'order_failed', undefined, 'invalid_variant'],
    ['test-shipping-unavailable', 'order_failed', undefined, 'shipping_unavailable'],
    ['test-pickup', 'order_placed', 'available_for_pickup', null],
    ['test-undeliverable', 'order_placed', 'undeliverable', null],
    ['test-cancelled-by-retailer', 'cancelled_by_retailer', undefined, null],
    ['test-never', 'in_progress', undefined, undefined],
  ])('%s ends as %s', async (slug, status, parcel, errorType) => {
    const { body } = await service.order(slug);
    service.pass(120_000);
    const ended = (await service.send('GET', `/orders/${body.id}`)).body;
    expect(ended.status).toBe(status);
    expect(ended.tracking_numbers[0]?.status).toBe(parcel);
    expect(ended.job_result?.error_type).toBe(errorType);
  });

  test('how often an order is looked at changes nothing of what becomes of it', async () => {
    const often = (await service.order('test-success')).body.id;
    for (let second = 0; second < 15; second += 1) {
      service.pass(1000);
      await service.send('GET', `/orders/${often}`);
    }
    const timeline = (await service.send('GET', `/orders/${often}/timeline`)).body;
    expect(timeline.milestones.map(({ type }: { type: string }) => type)).toEqual([
      'order_created',
      'order_placed',
      'tracking_acquired',
      'shipped',
      'delivered',
    ]);
    const once = (await service.order('test-success')).body.id;
    service.pass(15_000);
    expect((await service.send('GET', `/orders/${once}`)).body.status).toBe('order_placed');
  });

  test('an order that fails costs nothing; one that is placed costs its price and the fee', async () => {
    await service.order('test-out-of-stock');
    await service.order('test-success');
    service.pass(60_000);
    expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000 - 1_999 - 100);
  });
});
