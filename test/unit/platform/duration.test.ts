import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../src/platform/duration.ts';
import { UsageError } from '../../../src/platform/errors.ts';

const day = 86_400_000;

describe('a length of time', () => {
  test.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['2d', 2 * day],
    ['500ms', 500],
    ['1m500ms', 60_500],
    ['1d2h3m4s5ms', day + 7_384_005],
    ['0s', 0],
    ['24d', 24 * day],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text, '--timeout')).toBe(ms);
  });

  test('a bare number is refused, naming the unit it lacks', () => {
    expect(() => parseDuration('30', '--timeout')).toThrow(
      new UsageError('--timeout 30 names no unit: write 30s, 30m or 30ms'),
    );
  });

  test.each([
    '',
    ' ',
    '-5s',
    '1.5h',
    '5 m',
    '30m1h',
    '1h1h',
    's',
    'soon',
    '25d',
    '999999999d',
    '9'.repeat(1000),
    '1s '.repeat(999),
  ])('%j is refused, naming the flag', (text) => {
    expect(() => parseDuration(text, '--timeout')).toThrow(UsageError);
    expect(() => parseDuration(text, '--timeout')).toThrow(/^--timeout/);
  });
});
