import { describe, expect, it } from 'vitest';
import {
  milestones,
  type TestProduct,
  type TestSlug,
  testProducts,
  testSlugs,
} from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import type { OrderBody } from '../../../../../src/sandbox/orders/lifecycle/types.ts';
import { live, newOrder, seconds, shop } from './order.ts';

interface Ending {
  readonly order?: Partial<OrderBody>;
  readonly status: string;
  readonly error?: string;
  readonly item: string;
  readonly itemError?: string | null;
  readonly tracking?: readonly string[];
  readonly charged: number;
  readonly milestones: readonly string[];
}

const delivered: Ending = {
  status: 'order_placed',
  item: 'delivered',
  tracking: ['delivered'],
  charged: 1_999,
  milestones: ['order_created', 'order_placed', 'tracking_acquired', 'shipped', 'delivered'],
};

const failed = (error: string, itemError: string | null = error): Ending => ({
  status: 'order_failed',
  error,
  item: 'failed',
  itemError,
  charged: 0,
  milestones: ['order_created', 'order_failed'],
});

const scenarios: Readonly<Partial<Record<TestSlug, Ending>>> = {
  'test-success': delivered,
  'test-price-exceeded': failed('max_price_exceeded'),
  'test-out-of-stock': failed('out_of_stock'),
  'test-invalid-variant': failed('invalid_variant'),
  'test-shipping-unavailable': failed('shipping_unavailable'),
  'test-gift-unavailable': { ...failed('gift_option_unavailable'), order: { is_gift: true } },
  'test-quantity-limit': {
    ...failed('quantity_limit_exceeded'),
    order: { products: [shop('test-quantity-limit', 3)] },
  },
  'test-order-limit': failed('order_limit_exceeded', null),
  'test-login-failed': failed('login_failed', null),
  'test-account-locked': failed('account_locked', null),
  'test-cancelled-by-retailer': {
    status: 'cancelled_by_retailer',
    item: 'cancelled',
    charged: 0,
    milestones: ['order_created', 'order_placed', 'cancelled'],
  },
  'test-pickup': {
    ...delivered,
    item: 'available_for_pickup',
    tracking: ['available_for_pickup'],
    milestones: ['order_created', 'order_placed', 'tracking_acquired', 'shipped', 'available_for_pickup'],
  },
  'test-undeliverable': {
    ...delivered,
    item: 'shipped',
    tracking: ['undeliverable'],
    milestones: ['order_created', 'order_placed', 'tracking_acquired', 'shipped', 'undeliverable'],
  },
  'test-two-packages': {
    ...delivered,
    tracking: ['delivered', 'delivered'],
    milestones: [
      'order_created',
      'order_placed',
      'tracking_acquired',
      'tracking_acquired',
      'shipped',
      'shipped',
      'delivered',
      'delivered',
    ],
  },
  'test-slow': delivered,
  // 19.99 EUR at the sandbox's rate, plus the conversion markup.
  'test-other-currency': { ...delivered, charged: 2_223 },
  'test-never': {
    status: 'in_progress',
    item: 'processing',
    charged: 0,
    milestones: ['order_created'],
  },
};

describe('each test product lives the life it rehearses', () => {
  it.each(Object.entries(scenarios))('%s', (slug, ending) => {
    const { record, steps, plan } = live(newOrder({ products: [shop(slug)], ...ending.order }));
    expect(plan).toEqual([]);
    expect(record.status).toBe(ending.status);
    expect(record.job_result?.error_type ?? null).toBe(ending.error ?? null);
    expect(record.items.map(({ status }) => status)).toEqual([ending.item]);
    expect(record.items[0]?.error_type).toBe(ending.itemError ?? null);
    expect(record.tracking_numbers.map(({ status }) => status)).toEqual(ending.tracking ?? []);
    expect(milestones(record).milestones.map(({ type }) => type)).toEqual(ending.milestones);
    const ledger = steps.flatMap((step) => step.ledger);
    const charged = ledger.reduce(
      (sum, { reason, cents }) => sum + (reason === 'purchase' ? cents : -cents),
      0,
    );
    expect(charged).toBe(ending.charged);
    expect(record.attempts).toBe(1);
  });

  it('covers every slug that is not refused at creation', () => {
    const accepted = testSlugs.filter((slug) => {
      const { refusesCreation }: TestProduct = testProducts[slug];
      return refusesCreation === undefined;
    });
    expect(Object.keys(scenarios).toSorted()).toEqual(accepted.toSorted());
  });

  it('fails test-price-exceeded however high the ceiling is', () => {
    const { record } = live(newOrder({ products: [shop('test-price-exceeded')], max_price: 10_000_000 }));
    expect(record.job_result?.error_details?.message).toBe(
      'The total at checkout is 100010.00 USD; max_price allows 100000.00 USD.',
    );
  });

  it('places an ordinary gift of test-gift-unavailable that is no gift, and two of test-quantity-limit', () => {
    expect(live(newOrder({ products: [shop('test-gift-unavailable')] })).record.status).toBe('order_placed');
    expect(live(newOrder({ products: [shop('test-quantity-limit', 2)] })).record.status).toBe('order_placed');
  });
});

describe('the compressed clock', () => {
  it('goes through the default schedule and delivers within ten seconds, whatever the seed', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const { steps } = live(newOrder({ products: [shop('test-two-packages')] }, { seed }));
      const time = (kind: string) => seconds(steps.find((step) => step.kind === kind)?.at ?? 0);
      expect(time('started')).toBe(1);
      expect(time('placed')).toBeGreaterThan(2.3);
      expect(time('placed')).toBeLessThan(2.8);
      expect(time('tracked')).toBeGreaterThan(3.3);
      expect(seconds(steps.at(-1)?.at ?? 0)).toBeLessThan(10);
    }
  });

  it('keeps test-slow pending for a minute', () => {
    const { steps } = live(newOrder({ products: [shop('test-slow')] }));
    expect(steps.map(({ kind, at }) => [kind, Math.round(seconds(at))]).slice(0, 2)).toEqual([
      ['started', 60],
      ['placed', expect.closeTo(61, 1)],
    ]);
  });

  it('divides every delay by the speed, and starts later when the account is busy', () => {
    const usual = live(newOrder()).steps.map(({ at }) => seconds(at));
    const fast = live(newOrder({}, { speed: 10 })).steps.map(({ at }) => seconds(at));
    const queued = live(newOrder({}, { startAt: newOrder().createdAt + 5_000 })).steps.map(({ at }) =>
      seconds(at),
    );
    expect(fast).toEqual(usual.map((s) => expect.closeTo(s / 10, 2)));
    expect(queued).toEqual(usual.map((s) => expect.closeTo(s + 5, 3)));
  });
});

describe('webhook events', () => {
  const eventsOf = (slug: string) =>
    live(newOrder({ products: [shop(slug)] })).steps.map(({ events }) => events);

  it('fire in the order of the states of a delivered order', () => {
    expect(eventsOf('test-success')).toEqual([
      ['status_updated'],
      ['request_succeeded', 'status_updated'],
      ['tracking_obtained', 'tracking_updated'],
      ['tracking_updated'],
      ['tracking_updated'],
      ['tracking_updated'],
      ['tracking_updated'],
    ]);
  });

  it('say that all tracking is obtained only with the last parcel', () => {
    const events = eventsOf('test-two-packages').flat();
    expect(events.filter((event) => event === 'tracking_obtained')).toHaveLength(1);
    expect(events.slice(3, 6)).toEqual(['tracking_updated', 'tracking_obtained', 'tracking_updated']);
  });

  it('report a failure once', () => {
    expect(eventsOf('test-out-of-stock')).toEqual([['status_updated'], ['request_failed', 'status_updated']]);
  });
});
