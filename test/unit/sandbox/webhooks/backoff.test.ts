import { expect, test } from 'vitest';
import { retryDelay } from '../../../../src/sandbox/webhooks/outbox.ts';

const delays = (speed: number): number[] => {
  const found: number[] = [];
  for (let attempts = 1; ; attempts += 1) {
    const delay = retryDelay(attempts, speed);
    if (delay === null) return found;
    found.push(delay);
  }
};

test('each wait is twice as long as the one before, up to ten minutes, and all of them together are a day', () => {
  const found = delays(1);
  expect(found.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect(Math.max(...found)).toBe(600_000);
  const hours = found.reduce((sum, delay) => sum + delay, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(23);
  expect(hours).toBeLessThanOrEqual(24);
});

test('speed compresses the day and leaves the number of attempts', () => {
  expect(delays(100)).toHaveLength(delays(1).length);
  expect(retryDelay(3, 100)).toBe(40);
});
