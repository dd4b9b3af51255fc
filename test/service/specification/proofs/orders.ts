import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { orderEndpoints } from '../rows/endpoints.ts';
import { cancel, expectInvalid, expectRefusal, listed, nobody, ordered, read, second } from '../scenes.ts';

export const orderEndpointProofs: ProofsOf<typeof orderEndpoints> = {
  'POST /orders': proof('queues an order, 201, or refuses it at creation', async (it) => {
    const { status, body } = await it.order('test-success', { idempotency_key: 'k' });
    expect([status, body.status]).toEqual([201, 'pending']);
    expect(checkShape('OrderResponse', body, 'response').issues).toBeUndefined();
    expectRefusal(await it.order('test-success', { idempotency_key: 'k' }), 409, 'already_exists');
    expectRefusal(await it.order('test-invalid-address'), 400, 'invalid_shipping_address');
    expectRefusal(await it.order('test-url-unreachable'), 400, 'url_unreachable');
    expectRefusal(await it.order('test-insufficient-funds'), 402, 'insufficient_funds');
    expect((await read(it, '/orders')).total).toBe(1);
  }),
  'GET /orders': proof('lists the orders, newest first, with the total', async (it) => {
    const older = await ordered(it);
    const newer = await ordered(it);
    const body = await read(it, '/orders');
    expect(body.orders.map(({ id }: { id: string }) => id)).toEqual([newer.id, older.id]);
    expect(body.total).toBe(2);
    expect(checkShape('OrderListResponse', body, 'response').issues).toBeUndefined();
  }),
  'GET /orders/export': proof('exports every order that the filters let through as CSV', async (it) => {
    for (let made = 0; made < 60; made += 1) await it.order('test-never', { max_price: 10 });
    const failed = await ordered(it, 'test-out-of-stock');
    const whole = await it.send('GET', '/orders/export');
    expect(whole.headers.get('content-type')).toContain('text/csv');
    expect(whole.text.trim().split('\r\n')).toHaveLength(1 + 61);
    for (const query of [
      'status_filter=order_failed',
      'shipping_name=nobody',
      'has_tracking=true',
      'tracking_status=delivered',
      `order_id=${failed.id}`,
      `search=${failed.id}`,
      'merchant_order_id=1',
      'return_status=open',
      `created_after=${failed.created_at}&created_before=${failed.updated_at}`,
      'metadata_key=k&metadata_value=v',
      'user_email=nobody',
    ]) {
      const [, ...lines] = (await it.send('GET', `/orders/export?${query}`)).text.trim().split('\r\n');
      const ids = lines.map((line) => line.split(',')[0]);
      expect(ids, query).toEqual(await listed(it, `limit=500&${query}`));
    }
    expect((await it.send('GET', '/orders/export?limit=1&offset=1')).text).toBe(whole.text);
  }),
  'GET /orders/test-products': proof('lists every documented slug', async (it) => {
    const { products } = await read(it, '/orders/test-products');
    const refused = products.filter(
      (product: { is_synchronous_error: boolean }) => product.is_synchronous_error,
    );
    const urls = (of: { url: string }[]) => of.map(({ url }) => url);
    expect(urls(products)).toEqual(
      expect.arrayContaining(
        ['test-success', 'test-price-exceeded', 'test-out-of-stock', 'test-invalid-variant'].map((slug) =>
          it.product(slug),
        ),
      ),
    );
    // The sandbox's own test products, for codes the specification's do not cover, come after these.
    expect(urls(refused).slice(0, 3)).toEqual(
      ['test-invalid-address', 'test-url-unreachable', 'test-insufficient-funds'].map((slug) =>
        it.product(slug),
      ),
    );
    expect(
      urls(refused)
        .slice(3)
        .filter((url) => !url.startsWith(it.product('test-refused-'))),
    ).toEqual([]);
  }),
  'GET /orders/{order_id}': proof('reads one order, and takes a UUID only', async (it) => {
    const { id } = (await it.order('test-success')).body;
    const body = await read(it, `/orders/${id}`);
    expect(body.id).toBe(id);
    expect(checkShape('OrderResponse', body, 'response').issues).toBeUndefined();
    expectRefusal(await it.send('GET', `/orders/${nobody}`), 404, 'not_found');
    expectInvalid(await it.send('GET', '/orders/1'), 'path', 'order_id');
  }),
  'GET /orders/{order_id}/timeline': proof('gives the milestones in order', async (it) => {
    const { id } = await ordered(it, 'test-success', 60 * second);
    const timeline = await read(it, `/orders/${id}/timeline`);
    expect(timeline.milestones.map(({ type }: { type: string }) => type)).toEqual([
      'order_created',
      'order_placed',
      'tracking_acquired',
      'shipped',
      'delivered',
    ]);
    expect(checkShape('OrderTimelineResponse', timeline, 'response').issues).toBeUndefined();
    expectInvalid(await it.send('GET', '/orders/1/timeline'), 'path', 'order_id');
  }),
  'POST /orders/{order_id}/cancel': proof('cancels a pending order, 204 and no body', async (it) => {
    const { id } = (await it.order('test-slow')).body;
    const { status, text } = await cancel(it, id);
    expect([status, text]).toEqual([204, '']);
    expectRefusal(await cancel(it, nobody), 404, 'not_found');
    expectInvalid(await cancel(it, '1'), 'path', 'order_id');
  }),
};
