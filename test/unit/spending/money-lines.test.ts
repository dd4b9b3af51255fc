import { expect, onTestFinished, test } from 'vitest';
import { type MoneyLine, sumsOf } from '../../../src/spending/money-lines.ts';

const line = (what: MoneyLine['what'], cents: number, more: Partial<MoneyLine> = {}): MoneyLine => ({
  ...{ what, cents, currency: 'USD', payer: 'wallet', basis: 'observed', note: '' },
  ...more,
});

/** Counts the elements yielded by array iteration until the test ends. */
function counted(): () => number {
  const iterate = Array.prototype[Symbol.iterator];
  let given = 0;
  Array.prototype[Symbol.iterator] = function* (this: unknown[]) {
    for (let at = 0; at < this.length; at += 1) {
      given += 1;
      yield this[at];
    }
    return undefined;
  };
  onTestFinished(() => {
    Array.prototype[Symbol.iterator] = iterate;
  });
  return () => given;
}

test('lines are added up for each payer and currency, what comes back as positive', () => {
  const lines = [
    line('hold', 700),
    line('charge', 500),
    line('fee', 100),
    line('refund', -200),
    line('credit', -50),
    line('charge', 30, { payer: 'card' }),
    line('charge', 5, { currency: 'EUR' }),
    line('refund', 0, { currency: 'EUR' }),
  ];
  const none = { held: 0, charged: 0, fee: 0, refunded: 0, credited: 0 };
  expect(sumsOf(lines)).toEqual([
    {
      payer: 'wallet',
      currency: 'USD',
      held: 700,
      charged: 500,
      fee: 100,
      refunded: 200,
      credited: 50,
      net: 350,
    },
    { payer: 'card', currency: 'USD', ...none, charged: 30, net: 30 },
    { payer: 'wallet', currency: 'EUR', ...none, charged: 5, net: 5 },
  ]);
  expect(sumsOf([])).toEqual([]);
});

test('adding up costs in proportion to the lines', () => {
  const lines = Array.from({ length: 5000 }, (_, at) => line('charge', at));
  const given = counted();
  const [sum] = sumsOf(lines);
  const work = given();
  expect(sum?.charged).toBe((5000 * 4999) / 2);
  expect(work).toBeLessThanOrEqual(10 * lines.length);
});
