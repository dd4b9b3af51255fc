import { describe, expect, test } from 'vitest';
import { AmountSpread, farLines } from '../../../src/bulk/check/outliers.ts';

function spreadOf(cents: Iterable<number>): AmountSpread {
  const spread = new AmountSpread();
  let row = 2;
  for (const one of cents) {
    spread.add(row, one);
    row += 1;
  }
  return spread;
}

/** Realistic amounts: log-normally distributed, deterministic. */
function natural(count: number): number[] {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  return Array.from({ length: count }, () => {
    const bell = Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
    return Math.round(5000 * Math.exp(bell * 0.8));
  });
}

describe('an amount that is far from the others', () => {
  test('is named with its row and what is usual', () => {
    expect(farLines(spreadOf([4500, 5200, 450_000, 6000, 4700]))).toEqual([
      'row 4: its ceiling of $4,500.00 is far from the others, which are between $45.00 and $60.00',
    ]);
    expect(farLines(spreadOf([5000, 5000, 5000, 50]))).toEqual([
      'row 5: its ceiling of $0.50 is far from the others, which are $50.00 each',
    ]);
  });

  test('is one of at most three that are named', () => {
    const cents = Array.from({ length: 400 }, (_, index) => (index % 80 === 10 ? 500_000 : 5000 + index));
    expect(farLines(spreadOf(cents))).toEqual([
      '5 rows: ceilings far from the others, which are between $50.00 and $53.99; first row 12 $5,000.00, row 92 $5,000.00, row 172 $5,000.00',
    ]);
    expect(farLines(spreadOf([...Array(200).fill(5000), 40, 700_000]))).toEqual([
      '2 rows: ceilings far from the others, which are $50.00 each; row 202 $0.40, row 203 $7,000.00',
    ]);
  });

  test('is found among a million, in no more memory than among a thousand', () => {
    const spread = spreadOf(natural(1_000_000));
    spread.add(7_000_000, 90_000_000);
    const [line = ''] = farLines(spread);
    expect(line).toContain('row 7000000');
    expect(line).toContain('$900,000.00');
  });
});

describe('nothing is said', () => {
  test.each([
    ['of too few to know what is usual', [100, 5000, 900_000]],
    ['of amounts that are all the same', [5000, 5000, 5000, 5000, 5000]],
    ['of amounts that differ by less than a factor', [1000, 1500, 2000, 2500, 4000]],
    ['of amounts that differ widely anyhow', [100, 900, 5000, 30_000, 200_000, 1_000_000]],
    ['of another kind of usual', [...Array(80).fill(5000), ...Array(20).fill(500_000)]],
    ['of what is no amount', [5000, 5000, 5000, 5000, 0, Number.NaN]],
    ['of amounts as they come', natural(20_000)],
  ])('%s', (_, cents) => {
    expect(farLines(spreadOf(cents))).toEqual([]);
  });
});
