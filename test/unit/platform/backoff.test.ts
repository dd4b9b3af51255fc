import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs, requestBackoff } from '../../../src/platform/async.ts';

test('a wait doubles from attempt to attempt, up to the longest', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 100].map((attempt) => backoffMs(attempt, () => 1, requestBackoff));
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test.each([
  [undefined, 0, 250],
  [1, 0, 250],
  [0.5, 125, 250],
  [0, 250, 250],
])('with a jitter of %s the first wait lies between %i and %i ms', (jitter, least, most) => {
  const options = { ...requestBackoff, ...(jitter !== undefined && { jitter }) };
  expect(backoffMs(1, () => 0, options)).toBe(least);
  expect(backoffMs(1, () => 1, options)).toBe(most);
});

test('a wait is never shorter than what the other side asked for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.nat(100_000),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, minMs, chance) => {
        const wait = backoffMs(attempt, () => chance, { ...requestBackoff, minMs });
        expect(wait).toBeGreaterThanOrEqual(minMs);
        expect(wait).toBeLessThanOrEqual(Math.max(minMs, requestBackoff.maxMs));
      },
    ),
  );
});
