import { expect } from 'vitest';
import type { TestService } from '../../../support/service.ts';
import { withReceiver } from '../hooks.ts';
import { type Proof, type ProofsOf, proof } from '../proof.ts';
import type { itemStates, orderStates, trackingStates } from '../rows/states.ts';
import { cancel, expectRefusal, legacy, line, ordered, read, second } from '../scenes.ts';

const becomes = (shows: string, slug: string, ms: number, status: string): Proof =>
  proof(shows, async (it) => {
    expect((await ordered(it, slug, ms)).status).toBe(status);
  });

/** Registers for hooks, orders, and waits for these two events of the order with this status. */
async function hooksOf(it: TestService, slug: string, status: string, outcome: string) {
  let outcomeBody: { id: string; status: string; error_type?: string } | undefined;
  await withReceiver(it, async ({ url, hooks, until }) => {
    await it.send('POST', '/users', { webhook_url: url });
    const { id } = (await it.order(slug)).body;
    const came = (event: string) =>
      hooks.find((hook) => hook.event === event && hook.body.id === id && hook.body.status === status);
    await until(() => came(outcome) !== undefined && came('status_updated') !== undefined);
    outcomeBody = came(outcome)?.body;
  });
  return outcomeBody;
}

export const orderStateProofs: ProofsOf<typeof orderStates> = {
  'order pending': becomes('at once', 'test-success', 0, 'pending'),
  'order in_progress': becomes('after a second', 'test-success', 1_500, 'in_progress'),
  'order order_placed': becomes('and stays so', 'test-success', 3600 * second, 'order_placed'),
  'order order_failed': proof('and stays so, with error_type', async (it) => {
    const { status, job_result } = await ordered(it, 'test-out-of-stock', 3600 * second);
    expect([status, job_result.error_type]).toEqual(['order_failed', 'out_of_stock']);
  }),
  'order cancelled': proof('and stays so', async (it) => {
    const { id } = (await it.order('test-slow')).body;
    await cancel(it, id);
    it.pass(3600 * second);
    expect((await read(it, `/orders/${id}`)).status).toBe('cancelled');
  }),
  'order cancelled_by_retailer': becomes(
    'after it was placed',
    'test-cancelled-by-retailer',
    60 * second,
    'cancelled_by_retailer',
  ),
  'order pending -> cancelled': proof('returns 204, and nothing is charged', async (it) => {
    const before = await read(it, '/wallet/me');
    const { id } = (await it.order('test-slow')).body;
    expect((await cancel(it, id)).status).toBe(204);
    expect((await read(it, `/orders/${id}`)).status).toBe('cancelled');
    expect((await read(it, '/wallet/me')).spendable_balance).toBe(before.spendable_balance);
  }),
  'order not pending -> unchanged': proof('in every other state', async (it) => {
    const cancelled = (await it.order('test-slow')).body.id;
    await cancel(it, cancelled);
    const others = [
      await ordered(it, 'test-never'),
      await ordered(it),
      await ordered(it, 'test-out-of-stock'),
      await ordered(it, 'test-cancelled-by-retailer'),
      await read(it, `/orders/${cancelled}`),
    ];
    for (const order of others) {
      expectRefusal(await cancel(it, order.id), 400, 'order_not_cancellable');
      expect(await read(it, `/orders/${order.id}`)).toEqual(order);
    }
  }),
  'order pending -> order_placed': proof('and both hooks come', async (it) => {
    expect(await hooksOf(it, 'test-success', 'order_placed', 'request_succeeded')).toBeDefined();
  }),
  'order pending -> order_failed': proof('with error_type, and both hooks come', async (it) => {
    const hook = await hooksOf(it, 'test-out-of-stock', 'order_failed', 'request_failed');
    expect(hook?.error_type).toBe('out_of_stock');
    expect((await read(it, `/orders/${hook?.id}`)).job_result.error_type).toBe('out_of_stock');
  }),
  'order order_failed -> a new order request': proof('for a failure that was temporary only', async (it) => {
    const failed = await ordered(it, 'test-out-of-stock');
    const { status, body } = await legacy(it, 'POST', `/v1/orders/${failed.id}/retry`);
    expect([status, (await read(it, `/orders/${failed.id}`)).status]).toEqual([200, 'order_failed']);
    expect((await read(it, `/orders/${body.request_id}`)).items[0].url).toBe(failed.items[0].url);
    for (const slug of ['test-invalid-variant', 'test-success']) {
      const { id } = await ordered(it, slug);
      expectRefusal(await legacy(it, 'POST', `/v1/orders/${id}/retry`), 400, 'bad_request');
    }
  }),
};

const item = (shows: string, slug: string, ms: number, status: string): Proof =>
  proof(shows, async (it) => {
    expect((await ordered(it, slug, ms)).items[0].status).toBe(status);
  });

export const itemStateProofs: ProofsOf<typeof itemStates> = {
  'item any -> skipped': proof('with its code in a concession, and the rest is bought', async (it) => {
    const products = [line(it, 'test-out-of-stock'), line(it, 'test-success')];
    const order = await ordered(it, 'test-success', 12 * second, {
      products,
      fulfillment: { items: 'best_effort' },
    });
    const [skipped, bought] = order.items;
    expect([order.status, skipped.status, bought.status]).toEqual(['order_placed', 'skipped', 'delivered']);
    expect(order.fulfillment.concessions).toMatchObject([
      { concern: 'items', code: 'out_of_stock', item_id: skipped.id },
    ]);
  }),
  'item skipped': proof('and stays so when the rest has arrived', async (it) => {
    const products = [line(it, 'test-out-of-stock'), line(it, 'test-success')];
    const more = { products, fulfillment: { items: 'best_effort' } };
    const { items } = await ordered(it, 'test-success', 3600 * second, more);
    expect(items[0]).toMatchObject({ status: 'skipped', error_type: 'out_of_stock' });
  }),
  'item pending': item('with its order', 'test-success', 0, 'pending'),
  'item processing': item('with its order', 'test-success', 1_500, 'processing'),
  'item ordered': item('placed and not yet on its way', 'test-success', 3_200, 'ordered'),
  'item shipped': item('on its way', 'test-success', 6_500, 'shipped'),
  'item available_for_pickup': item('at a pickup point', 'test-pickup', 12 * second, 'available_for_pickup'),
  'item delivered': item('arrived', 'test-success', 12 * second, 'delivered'),
  'item cancelled': item('with its order', 'test-cancelled-by-retailer', 12 * second, 'cancelled'),
  'item failed': item('to blame for its order', 'test-out-of-stock', 12 * second, 'failed'),
};

const parcel = (slug: string, ms: number, status: string): Proof =>
  proof('in the record, and found by tracking_status', async (it) => {
    const { id, tracking_numbers } = await ordered(it, slug, ms);
    expect(tracking_numbers.map((one: { status: string }) => one.status)).toEqual([status]);
    const { orders } = await read(it, `/orders?tracking_status=${status}`);
    expect(orders.map((order: { id: string }) => order.id)).toEqual([id]);
  });

/** The statuses a parcel passes through, polled every 100 ms. */
async function parcelStates(it: TestService): Promise<string[]> {
  const { id } = await ordered(it, 'test-success', 0);
  const seen = new Set<string>();
  for (let turn = 0; turn < 120; turn += 1) {
    it.pass(second / 10);
    const [one] = (await read(it, `/orders/${id}`)).tracking_numbers;
    if (one) seen.add(one.status);
  }
  return [...seen];
}

export const trackingStateProofs: ProofsOf<typeof trackingStates> = {
  'tracking pending': parcel('test-success', 4_500, 'pending'),
  'tracking in_transit': parcel('test-success', 6_500, 'in_transit'),
  'tracking delivered': parcel('test-success', 12 * second, 'delivered'),
  'tracking available_for_pickup': parcel('test-pickup', 12 * second, 'available_for_pickup'),
  'tracking undeliverable': parcel('test-undeliverable', 12 * second, 'undeliverable'),
  'tracking pending -> in_transit': proof('by itself, and the tracking_updated hook comes', async (it) => {
    expect((await parcelStates(it)).slice(0, 2)).toEqual(['pending', 'in_transit']);
    await withReceiver(it, async ({ url, hooks, until }) => {
      await it.send('POST', '/users', { webhook_url: url });
      await it.order('test-success');
      await until(() =>
        hooks.some(
          (hook) =>
            hook.event === 'tracking_updated' && hook.body.tracking_numbers[0].status === 'in_transit',
        ),
      );
    });
  }),
  'tracking in_transit -> delivered': proof('by itself', async (it) => {
    expect((await parcelStates(it)).slice(1)).toEqual(['in_transit', 'delivered']);
  }),
};
