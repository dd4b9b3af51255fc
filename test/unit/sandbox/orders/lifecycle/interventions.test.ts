import { describe, expect, it } from 'vitest';
import {
  advance,
  cancelPending,
  createOrder,
  forcedKinds,
  forceTransition,
  nextDue,
} from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import type { Advanced, ForcedKind, NewOrder } from '../../../../../src/sandbox/orders/lifecycle/types.ts';
import { expectContract, newOrder, seconds, secondsIn, shop } from './order.ts';

function force(input: NewOrder, kind: ForcedKind, at: number, rest: object = {}) {
  const result = forceTransition({
    state: createOrder(input),
    kind,
    now: secondsIn(at),
    environment: input,
    ...rest,
  });
  if ('refused' in result) return result;
  for (const { record } of result.steps) expectContract(record);
  return result;
}

function done(result: ReturnType<typeof force>): Advanced {
  if ('refused' in result) throw new Error(result.refused);
  return result;
}

const toEnd = (reached: Advanced) => advance(reached, Number.MAX_SAFE_INTEGER);

describe('a cancel', () => {
  it('takes back a pending order and releases the card', () => {
    const input = newOrder({ payment: { mode: 'card' } });
    const result = cancelPending(createOrder(input), secondsIn(0.5));
    if ('refused' in result) throw new Error(result.refused);
    expectContract(result.record);
    expect(result.record).toMatchObject({ status: 'cancelled', attempts: 0, job_result: null });
    expect(result.record.items[0]).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'Cancelled by the caller.',
    });
    expect(result.record.payment?.state).toBe('released');
    expect(result.steps.map(({ events, ledger }) => [events, ledger])).toEqual([[['status_updated'], []]]);
    expect(nextDue(result.plan)).toBeNull();
  });

  it.each([1, 3, 20])('is refused once the order was taken up (%i s)', (at) => {
    expect(cancelPending(createOrder(newOrder()), secondsIn(at))).toHaveProperty('refused');
  });

  it('is refused a second time', () => {
    const state = createOrder(newOrder());
    const result = cancelPending(state, secondsIn(0.5));
    if ('refused' in result) throw new Error(result.refused);
    expect(cancelPending(result, secondsIn(0.6))).toEqual({
      refused: 'The order is cancelled; only a pending order can be cancelled.',
    });
  });
});

describe('a forced event', () => {
  it.each([0, 0.5, 1.5])('places an open order now and lets the rest follow at its distance (%d s)', (at) => {
    const placed = done(force(newOrder(), 'placed', at));
    expect(placed.record.status).toBe('order_placed');
    expect(placed.record.attempts).toBe(1);
    const end = toEnd(placed);
    expect(end.record.items[0]?.status).toBe('delivered');
    expect(seconds(end.steps.at(-1)?.at ?? 0)).toBeCloseTo(at + 6.5, 1);
  });

  it.each(['test-never', 'test-out-of-stock', 'test-slow'])(
    'places %s as if nothing stood against it',
    (slug) => {
      const placed = done(force(newOrder({ products: [shop(slug)] }), 'placed', 2));
      expect(placed.steps.at(-1)?.ledger).toEqual([{ reason: 'purchase', payer: 'wallet', cents: 1_999 }]);
      expect(toEnd(placed).record.items[0]?.status).toBe('delivered');
    },
  );

  it('never places an order over its ceiling', () => {
    expect(force(newOrder({ products: [shop('test-price-exceeded')] }), 'placed', 1)).toEqual({
      refused: 'The order is in_progress: its price is over max_price.',
    });
  });

  it('fails an open order with the error asked for, for good', () => {
    const failed = done(force(newOrder(), 'failed', 0.5, { errorType: 'out_of_stock' }));
    expect(failed.record).toMatchObject({
      status: 'order_failed',
      job_result: { error_type: 'out_of_stock' },
    });
    expect(failed.record.items[0]?.error_type).toBe('out_of_stock');
    expect(failed.steps.map(({ kind }) => kind)).toEqual(['started', 'failed']);
    expect(failed.plan).toEqual([]);
    const blameless = done(force(newOrder(), 'failed', 1.5, { errorType: 'retailer_unavailable' }));
    expect(blameless.record.items[0]).toMatchObject({ status: 'failed', error_type: null });
  });

  it('ships every parcel now', () => {
    const shipped = done(force(newOrder({ products: [shop('test-two-packages')] }), 'shipped', 3));
    expect(shipped.record.tracking_numbers.map(({ status }) => status)).toEqual(['in_transit', 'in_transit']);
    expect(shipped.record.items[0]?.status).toBe('shipped');
    expect(toEnd(shipped).record.items[0]?.status).toBe('delivered');
  });

  it.each([
    ['delivered', 'delivered'],
    ['available_for_pickup', 'available_for_pickup'],
    ['undeliverable', 'shipped'],
  ] as const)('ends the journeys as %s, from any state before their end', (kind, item) => {
    for (const at of [0, 2, 3, 4, 6, 8]) {
      const ended = done(force(newOrder({ products: [shop('test-two-packages')] }), kind, at));
      expect(ended.record.tracking_numbers.map(({ status }) => status)).toEqual([kind, kind]);
      expect(ended.record.items[0]?.status).toBe(item);
      expect(ended.record.updated_at).toBe(new Date(secondsIn(at)).toISOString());
      expect(ended.plan).toEqual([]);
    }
  });

  it('delivers what waits for pickup', () => {
    const input = newOrder({ products: [shop('test-pickup')] });
    const fetched = done(force(input, 'delivered', 60));
    expect(fetched.record.items[0]?.status).toBe('delivered');
    expect(fetched.record.tracking_numbers[0]).toMatchObject({ status: 'delivered' });
    expect(fetched.record.tracking_numbers[0]?.delivery_proof_url).not.toBeNull();
    expect(fetched.record.tracking_numbers[0]?.checkpoints?.[0]?.message).toMatch(/^Delivered/);
  });

  it('lets the retailer cancel what was placed and has not left, with the money back', () => {
    const cancelled = done(force(newOrder(), 'cancelled_by_retailer', 4));
    expect(cancelled.record.status).toBe('cancelled_by_retailer');
    expect(cancelled.steps.at(-1)?.ledger).toEqual([{ reason: 'refund', payer: 'wallet', cents: 3_000 }]);
    expect(cancelled.plan).toEqual([]);
    expect(force(newOrder(), 'cancelled_by_retailer', 1)).toHaveProperty('refused');
    expect(force(newOrder(), 'cancelled_by_retailer', 6)).toHaveProperty('refused');
  });

  it.each(forcedKinds)('%s is refused on an order that is over', (kind) => {
    for (const slug of [
      'test-success',
      'test-out-of-stock',
      'test-cancelled-by-retailer',
      'test-undeliverable',
    ]) {
      expect(force(newOrder({ products: [shop(slug)] }), kind, 60)).toHaveProperty('refused');
    }
  });

  it.each(['shipped', 'delivered'] as const)('%s is refused on an order that will not be placed', (kind) => {
    for (const slug of ['test-never', 'test-out-of-stock', 'test-cancelled-by-retailer']) {
      expect(force(newOrder({ products: [shop(slug)] }), kind, 2)).toHaveProperty('refused');
    }
  });
});
