import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chargedCents } from '../../../../src/sandbox/orders/lifecycle/payment.ts';
import { creditFor } from '../../../../src/sandbox/returns/credit.ts';
import { listed, live, newOrder } from '../orders/lifecycle/order.ts';

const line = fc.record({
  priceCents: fc.integer({ min: 1, max: 500 }),
  quantity: fc.integer({ min: 1, max: 3 }),
});
const taken = fc.record({
  which: fc.nat(2),
  quantity: fc.integer({ min: 1, max: 3 }),
  isDenied: fc.boolean(),
});

/** A placed order with these lines and a shipping cost that makes shares uneven. */
function placed(lines: readonly { priceCents: number; quantity: number }[], shippingCents: number) {
  const url = 'https://general-store.example/mug';
  const { record } = live(
    newOrder(
      { products: lines.map(({ quantity }) => ({ url, quantity })), max_price: 1_000_000 },
      { lines: lines.map(({ priceCents }) => ({ ...listed, priceCents, shippingCents })) },
    ),
  );
  const price = record.job_result?.price_components;
  if (!price) throw new Error('the order was not placed');
  return { record, charge: chargedCents(price) };
}

test('the credits of all units are the whole charge, in whatever order they are returned, denied and returned again', () => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 3 }),
      fc.nat(999),
      fc.array(taken, { maxLength: 6 }),
      (lines, shipping, steps) => {
        const { record, charge } = placed(lines, shipping);
        const kept: { order_item_id: string; quantity: number }[][] = [];
        let sum = 0;
        const take = (items: { order_item_id: string; quantity: number }[]) => {
          const credit = creditFor(record, items, kept);
          kept.push(items);
          return credit;
        };
        const left = (id: string, bought: number) =>
          kept
            .flat()
            .reduce((units, unit) => units - (unit.order_item_id === id ? unit.quantity : 0), bought);
        // Two returns are open at a time, and the first may be denied after the second's credit is computed.
        for (const { which, quantity, isDenied } of steps) {
          const item = record.items[which % record.items.length];
          if (!item || left(item.id, item.quantity) < quantity) continue;
          const credit = take([{ order_item_id: item.id, quantity }]);
          const other = record.items.find(
            ({ id, quantity: bought }) => id !== item.id && left(id, bought) > 0,
          );
          if (other) sum += take([{ order_item_id: other.id, quantity: 1 }]);
          if (isDenied)
            kept.splice(
              kept.findIndex(([unit]) => unit?.order_item_id === item.id && unit.quantity === quantity),
              1,
            );
          else sum += credit;
        }
        for (const { id, quantity } of record.items) {
          const rest = left(id, quantity);
          if (rest > 0) sum += take([{ order_item_id: id, quantity: rest }]);
        }
        expect(sum).toBe(charge);
      },
    ),
  );
});
