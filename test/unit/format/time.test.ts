import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { absoluteTime, parseDate, relativeTime, spanText } from '../../../src/format/time.ts';
import { UsageError } from '../../../src/platform/errors.ts';
import { noon } from '../../support/streams.ts';

const day = 86_400_000;
const at = (ms: number): string => new Date(noon + ms).toISOString();

test.each([
  [0, '0 s'],
  [2540, '+2.5 s'],
  [-1000, '-1 s'],
  [3.1 * 3_600_000, '+3.1 h'],
  [Number.NaN, undefined],
])('%s ms after a start is %s', (ms, text) => {
  expect(spanText(ms)).toBe(text);
});

describe('a time as people say it', () => {
  test.each([
    [at(0), 'now'],
    [at(-999), 'now'],
    [at(-3000), '3s ago'],
    [at(-59_999), '59s ago'],
    [at(-60_000), '1m ago'],
    [at(-2 * 3_600_000), '2h ago'],
    [at(5 * 60_000), 'in 5m'],
    [at(-30 * day), '30d ago'],
    [at(-30 * day - 1), '2026-05-16'],
    [at(31 * day), '2026-07-16'],
    ['2026-06-15T12:00:00+02:00', '2h ago'],
    ['2026-06-15T11:59:00', '1m ago'],
    ['2026-02-30T00:00:00Z', '2026-02-30T00:00:00Z'],
    ['soon', 'soon'],
    ['', ''],
  ])('%s is %s', (iso, text) => {
    expect(relativeTime(iso, noon)).toBe(text);
  });

  test('an absolute time is in UTC, to the second', () => {
    expect(absoluteTime('2026-06-15T12:00:00.123+02:00')).toBe('2026-06-15 10:00:00Z');
    expect(absoluteTime('soon')).toBe('soon');
  });
});

describe('a date from a flag', () => {
  test.each([
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-01-01T10:30:00Z', '2026-01-01T10:30:00.000Z'],
    ['2026-01-01T10:30:00', '2026-01-01T10:30:00.000Z'],
    ['2026-01-01T10:30', '2026-01-01T10:30:00.000Z'],
    ['2026-01-01 10:30:00.5Z', '2026-01-01T10:30:00.500Z'],
    ['2026-01-01T00:30:00+02:00', '2025-12-31T22:30:00.000Z'],
    ['today', '2026-06-15T00:00:00.000Z'],
    ['yesterday', '2026-06-14T00:00:00.000Z'],
    ['7d', '2026-06-08T12:00:00.000Z'],
    ['90m', '2026-06-15T10:30:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseDate(text, '--created-after', noon)).toBe(iso);
  });

  test.each([
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-01-32',
    '2026-01-01T24:30:00Z',
    '2026-01-01T10:61:00Z',
    '2026-01-01T10:00:00+99:00',
    '9999-12-31T23:59:59-12:00',
    '0000-01-01T00:00:00+01:00',
  ])('%s, which does not exist, is refused', (text) => {
    expect(() => parseDate(text, '--created-after', noon)).toThrow(`--created-after: there is no ${text}`);
  });

  test.each([
    '',
    'tomorrow-ish',
    '01/02/2026',
    '2026',
    '1767225600',
    '2026-1-1',
    '2026-01-01T',
    '-7d',
    '2026-01-01Z',
  ])('%j is refused', (text) => {
    expect(() => parseDate(text, '--created-after', noon)).toThrow(UsageError);
    expect(() => parseDate(text, '--created-after', noon)).toThrow(/^--created-after/);
  });

  test('every time that JavaScript writes is read back', () => {
    const times = fc.date({
      min: new Date('0001-01-01'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(times, (time) => {
        expect(parseDate(time.toISOString(), '--created-after', noon)).toBe(time.toISOString());
      }),
    );
  });
});
