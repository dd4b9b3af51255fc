import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settledOrderStatuses } from '../../../../../src/api/enums.ts';
import { productUrlProblem } from '../../../../../src/api/product-url.ts';
import {
  advance,
  createOrder,
  forcedKinds,
  forceTransition,
  nextDue,
  testSlugs,
} from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import type {
  LineFacts,
  NewOrder,
  OrderRecord,
  OrderState,
  Step,
} from '../../../../../src/sandbox/orders/lifecycle/types.ts';
import { address, expectContract, newOrder, secondsIn, shopUrl } from './order.ts';

const mode = fc.constantFrom('best_effort' as const, null);
const facts: fc.Arbitrary<LineFacts> = fc.record({
  retailer: fc.constantFrom('one', 'two', 'three'),
  productId: fc.string(),
  title: fc.string(),
  priceCents: fc.nat({ max: 20_000 }),
  currency: fc.constantFrom('USD', 'EUR'),
  available: fc.boolean(),
  giftOption: fc.boolean(),
  shippingCents: fc.nat({ max: 1_000 }),
  quantityCap: fc.nat({ max: 5 }),
  reportsRejections: fc.boolean(),
});
const pageUrl = fc.webUrl().filter((url) => productUrlProblem(url) === undefined);
const line = fc.oneof(
  fc.record({
    url: fc.constantFrom(...testSlugs).map((slug) => `${shopUrl}/${slug}`),
    facts: fc.constant(null),
  }),
  fc.record({ url: pageUrl, facts: fc.option(facts) }),
);
const quantity = fc.oneof(
  fc.integer({ min: 1, max: 5 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
);

const anyOrder: fc.Arbitrary<NewOrder> = fc
  .record({
    lines: fc.array(fc.tuple(line, quantity), { minLength: 1, maxLength: 5 }),
    max_price: fc.oneof(fc.nat({ max: 50_000 }), fc.nat({ max: Number.MAX_SAFE_INTEGER })),
    is_gift: fc.boolean(),
    relaxed: fc.record({ items: mode, quantity: mode }),
    payment: fc.constantFrom('wallet', 'card', 'connect', null),
    margin: fc.constantFrom({ type: 'percent', value: 12.5 }, { type: 'flat', value: 250 }, null),
    country: fc.constantFrom('US', 'DE', 'IT', 'FR'),
    seed: fc.oneof(fc.integer(), fc.string()),
    speed: fc.constantFrom(0.5, 1, 10, 1e6),
  })
  .map(({ lines, max_price, is_gift, relaxed, payment, margin, country, seed, speed }) =>
    newOrder(
      {
        products: lines.map(([{ url }, count]) => ({ url, quantity: count })),
        max_price,
        is_gift,
        fulfillment: relaxed,
        ...(payment === null ? {} : { payment: { mode: payment, margin } }),
        shipping_address: { ...address, country },
      },
      { lines: lines.map(([{ facts }]) => facts), seed, speed },
    ),
  );

/** Round-trips through JSON, as the store does. */
const stored = (state: OrderState): OrderState => JSON.parse(JSON.stringify(state));
const isOver = ({ status }: OrderRecord): boolean =>
  settledOrderStatuses.some((settled) => settled === status);

describe('any order', () => {
  it('has a plan in order of time, all of it after creation', () => {
    fc.assert(
      fc.property(anyOrder, (input) => {
        const times = createOrder(input).plan.map(({ at }) => at);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        expect(times[0]).toBeGreaterThanOrEqual(input.createdAt);
      }),
    );
  });

  it('is the same at a moment however often and whenever it was read before, and through storage', () => {
    const reads = fc.array(fc.nat({ max: 90_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(anyOrder, reads, fc.nat({ max: 90_000 }), (input, earlier, moment) => {
        const now = input.createdAt + moment;
        let state = createOrder(input);
        for (const read of earlier.filter((read) => read <= moment).toSorted((one, other) => one - other)) {
          state = stored(advance(state, input.createdAt + read));
        }
        const { record, plan } = advance(state, now);
        const direct = advance(createOrder(input), now);
        expect({ record, plan }).toEqual({ record: direct.record, plan: direct.plan });
        expect(nextDue(plan) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(now);
      }),
    );
  });

  it('keeps the shape of the contract all its life, and leaves the records it is made from alone', () => {
    fc.assert(
      fc.property(anyOrder, (input) => {
        const state = createOrder(input);
        const before = JSON.stringify(state);
        expectContract(state.record);
        for (const { record } of advance(state, Number.MAX_SAFE_INTEGER).steps) expectContract(record);
        expect(JSON.stringify(state)).toBe(before);
      }),
    );
  });

  it('never costs more than its ceiling, is charged once at most, and never gets back more than it paid', () => {
    fc.assert(
      fc.property(anyOrder, (input) => {
        const effects = advance(createOrder(input), Number.MAX_SAFE_INTEGER).steps.flatMap(
          ({ ledger }) => ledger,
        );
        const of = (reason: string) => effects.filter((effect) => effect.reason === reason);
        expect(of('purchase').length).toBeLessThanOrEqual(1);
        for (const { cents } of effects) expect(cents).toBeLessThanOrEqual(input.order.max_price);
        expect(of('refund').every(({ cents }) => cents === of('purchase')[0]?.cents)).toBe(true);
      }),
    );
  });

  it('stays settled once it is, but for a placed order that the retailer cancels', () => {
    fc.assert(
      fc.property(anyOrder, (input) => {
        const { steps } = advance(createOrder(input), Number.MAX_SAFE_INTEGER);
        const statuses = steps.map(({ record }) => record.status);
        const settled = steps.findIndex(({ record }) => isOver(record));
        if (settled < 0) return;
        const later = new Set(statuses.slice(settled));
        later.delete('cancelled_by_retailer');
        expect([...later]).toEqual([statuses[settled]]);
        if (statuses[settled] === 'order_failed') expect(settled).toBe(steps.length - 1);
      }),
    );
  });

  it('has the same future for the same seed, and another for another', () => {
    fc.assert(
      fc.property(anyOrder, (input) => {
        expect(createOrder(input)).toEqual(createOrder({ ...input }));
        const other = createOrder({ ...input, seed: `${input.seed} other` });
        expect(other.record.items[0]?.id).not.toBe(createOrder(input).record.items[0]?.id);
      }),
    );
  });

  it('keeps its shape and its ceiling whatever is made to happen to it, and when', () => {
    const forces = fc.array(fc.tuple(fc.constantFrom(...forcedKinds), fc.nat({ max: 12_000 })), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(anyOrder, forces, (input, kinds) => {
        let state = createOrder(input);
        const steps: Step[] = [];
        let now = input.createdAt;
        for (const [kind, later] of kinds) {
          now += later;
          const result = forceTransition({ state, kind, now, environment: input });
          const reached = 'refused' in result ? advance(state, now) : result;
          steps.push(...reached.steps);
          state = stored(reached);
        }
        steps.push(...advance(state, Number.MAX_SAFE_INTEGER).steps);
        for (const { record } of steps) expectContract(record);
        const times = steps.map(({ at }) => at);
        expect(times).toEqual(times.toSorted((one, other) => one - other));
        const charges = steps.flatMap(({ ledger }) => ledger).filter(({ reason }) => reason === 'purchase');
        expect(charges.length).toBeLessThanOrEqual(1);
        expect(charges[0]?.cents ?? 0).toBeLessThanOrEqual(input.order.max_price);
      }),
    );
  });

  it('succeeds when it is of products that nobody lists', () => {
    const plain = { shipping_address: address };
    fc.assert(
      fc.property(pageUrl, quantity, fc.nat({ max: 1_000_000 }), (url, count, max_price) => {
        const input = newOrder(
          { ...plain, products: [{ url, quantity: count }], max_price },
          { lines: [null] },
        );
        expect(advance(createOrder(input), secondsIn(10)).record.items[0]?.status).toBe('delivered');
      }),
    );
  });
});
