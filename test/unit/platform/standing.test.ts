import { describe, expect, test } from 'vitest';
import { progressText, type WatchLabels, watchingText } from '../../../src/platform/watch-progress.ts';

const orders: WatchLabels = { one: 'order', several: 'orders', badly: 'failed' };
const returns: WatchLabels = {
  one: 'return',
  several: 'returns',
  badly: 'denied',
  verbs: ['was denied', 'were denied'],
};

describe('how far a watch came', () => {
  test.each([
    [1, 0, 0, 'the order goes on'],
    [2, 0, 0, 'none of 2 orders had ended, both go on'],
    [5, 0, 0, 'none of 5 orders had ended, all of them go on'],
    [5, 2, 0, '2 of 5 orders had ended, the others go on'],
    [5, 4, 0, '4 of 5 orders had ended, the other one goes on'],
    [6, 4, 2, '4 of 6 orders had ended, ✖ 2 of them failed, the others go on'],
    [6, 1, 1, '1 of 6 orders had ended, ✖ it failed, the others go on'],
    [6, 5, 5, '5 of 6 orders had ended, ✖ all of them failed, the other one goes on'],
    [2000, 1500, 1, '1,500 of 2,000 orders had ended, ✖ 1 of them failed, the others go on'],
    [3, 3, 1, '3 of 3 orders had ended, ✖ 1 of them failed'],
    [1, 1, 1, '✖ the order failed'],
  ])('of %i, %i ended, %i failed: %s', (total, ended, failed, text) => {
    expect(progressText({ total, ended, failed }, orders)).toBe(text);
  });

  test('says what happened to each kind in its own word', () => {
    expect(progressText({ total: 4, ended: 3, failed: 1 }, returns)).toBe(
      '3 of 4 returns had ended, ✖ 1 of them was denied, the other one goes on',
    );
    expect(progressText({ total: 9, ended: 3, failed: 2 }, returns)).toContain('✖ 2 of them were denied');
  });
});

describe('the line below a live table', () => {
  test.each([
    [100, 'watching 8 orders: 5 of 8 ended, ✖ 1 failed, 12 s'],
    [48, '5 of 8 ended, ✖ 1 failed, 12 s'],
    [38, '5 of 8 ended, ✖ 1 failed, 12 s'],
    [26, '✖ 1 failed, 5 of 8 ended'],
  ])('in %i columns keeps what failed', (room, text) => {
    expect(watchingText({ total: 8, ended: 5, failed: 1 }, orders, 12_000, room)).toBe(text);
    expect(text.length).toBeLessThanOrEqual(room);
  });

  test('counts nothing where there is but one', () => {
    expect(watchingText({ total: 1, ended: 0, failed: 0 }, returns, 1_400, 80)).toBe(
      'watching 1 return, 1 s',
    );
  });
});
