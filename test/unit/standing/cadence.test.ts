import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cadenceText,
  dateText,
  dayAt,
  dayOf,
  dueAt,
  nextDates,
  occurrences,
  parseCadence,
  type Schedule,
} from '../../../src/standing/cadence.ts';

const day = (text: string): number => dayOf(text) ?? expect.fail(`no date: ${text}`);

const schedule = (every: string, starts: string, more: Partial<Schedule> = {}): Schedule => ({
  recurs: { starts: day(starts), cadence: parseCadence(every) ?? expect.fail(every) },
  ...{ dates: [], ends: undefined, count: undefined, atMinute: 0, timeZone: 'UTC' },
  ...more,
});

const texts = (days: readonly number[]): string[] => days.map(dateText);
const due = (text: string, atMinute: number, timeZone: string): string =>
  new Date(dueAt({ ...schedule('1d', '2026-01-01'), atMinute, timeZone }, day(text))).toISOString();

describe('a date', () => {
  test.each(['2026-02-30', '2026-13-01', '2026-1-1', '20261201', '', '2026-12-01T00:00'])(
    '%s is none',
    (text) => {
      expect(dayOf(text)).toBeUndefined();
    },
  );

  test('is written as it is read', () => {
    fc.assert(fc.property(fc.integer({ min: -10_000, max: 60_000 }), (one) => dayOf(dateText(one)) === one));
  });
});

describe('a cadence', () => {
  test.each(['1d', '10d', '2w', '1mo', '12mo'])('%s is written as it is read', (text) => {
    const cadence = parseCadence(text);
    expect(cadence && cadenceText(cadence)).toBe(text);
  });

  test.each(['0d', '1y', 'w', '-1d', '1.5w', '400d', '61mo', '1m', '2W', ''])('%s is none', (text) => {
    expect(parseCadence(text)).toBeUndefined();
  });
});

describe('the dates', () => {
  test('of two weeks are 14 days apart, whatever the months', () => {
    expect(texts(nextDates(schedule('2w', '2026-12-01'), day('2026-12-01'), 4))).toEqual([
      ...['2026-12-01', '2026-12-15', '2026-12-29', '2027-01-12'],
    ]);
  });

  test('of months that begin on the 31st are the last days of shorter ones, and the 31st again', () => {
    expect(texts(nextDates(schedule('1mo', '2027-12-31'), day('2027-12-31'), 5))).toEqual([
      ...['2027-12-31', '2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30'],
    ]);
  });

  test('end with the last date, or with the count', () => {
    const all = [day('2026-01-01'), day('2030-01-01')] as const;
    expect(texts(occurrences(schedule('1mo', '2026-01-15', { ends: day('2026-03-15') }), ...all))).toEqual([
      ...['2026-01-15', '2026-02-15', '2026-03-15'],
    ]);
    expect(occurrences(schedule('1d', '2026-01-15', { count: 26 }), ...all)).toHaveLength(26);
  });

  test('of a list are those of the list', () => {
    const listed = {
      ...schedule('1d', '2026-01-01'),
      recurs: undefined,
      dates: ['2026-03-01', '2026-07-01'].map(day),
    };
    expect(texts(nextDates(listed, day('2026-03-02'), 5))).toEqual(['2026-07-01']);
  });

  const anySchedule = fc
    .record({
      every: fc.constantFrom('1d', '3d', '1w', '2w', '1mo', '2mo', '12mo'),
      starts: fc.integer({ min: 20_000, max: 22_000 }),
      count: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
      ends: fc.option(fc.integer({ min: 22_000, max: 23_000 }), { nil: undefined }),
    })
    .map(({ every, starts, ...more }) => schedule(every, dateText(starts), more));

  test('are the same, however the time that is looked at is cut', () => {
    fc.assert(
      fc.property(
        anySchedule,
        fc.array(fc.integer({ min: 19_900, max: 23_500 }), { minLength: 1, maxLength: 6 }),
        (one, cuts) => {
          const edges = [19_900, ...cuts.toSorted((a, b) => a - b), 23_500];
          const whole = occurrences(one, 19_900, 23_500);
          const parts = edges
            .slice(1)
            .flatMap((end, index) => occurrences(one, (edges[index] ?? 0) + (index > 0 ? 1 : 0), end));
          expect(parts).toEqual(whole);
          expect(new Set(whole).size).toBe(whole.length);
        },
      ),
    );
  });
});

describe('when a date is due', () => {
  test.each([
    // A clock that is put forward: 02:30 does not exist, and 03:00 is the next that does.
    ['2027-03-28', 150, 'Europe/Berlin', '2027-03-28T01:00:00.000Z'],
    ['2027-03-27', 150, 'Europe/Berlin', '2027-03-27T01:30:00.000Z'],
    // A clock that is put back: of the two the first.
    ['2026-10-25', 150, 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25', 180, 'Europe/Berlin', '2026-10-25T02:00:00.000Z'],
    ['2027-03-14', 150, 'America/New_York', '2027-03-14T07:00:00.000Z'],
    // A midnight that does not exist.
    ['2024-04-26', 0, 'Africa/Cairo', '2024-04-25T22:00:00.000Z'],
    // A date that a zone has skipped.
    ['2011-12-30', 600, 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
    // Half an hour of daylight saving.
    ['2026-10-04', 135, 'Australia/Lord_Howe', '2026-10-03T15:30:00.000Z'],
    ['2026-12-01', 0, 'Pacific/Kiritimati', '2026-11-30T10:00:00.000Z'],
    ['2026-12-01', 1439, 'Pacific/Niue', '2026-12-02T10:59:00.000Z'],
  ])('%s at minute %i in %s is %s', (date, minute, zone, at) => {
    expect(due(date, minute, zone)).toBe(at);
  });

  const zones = fc.constantFrom(
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'UTC',
  );

  test('later dates are due later, and on their own date but for a time that does not exist', () => {
    fc.assert(
      fc.property(
        zones,
        fc.integer({ min: 0, max: 1439 }),
        fc.integer({ min: 20_000, max: 24_000 }),
        (timeZone, atMinute, one) => {
          const terms = { ...schedule('1d', '2026-01-01'), atMinute, timeZone };
          const at = dueAt(terms, one);
          expect(dueAt(terms, one + 1)).toBeGreaterThan(at);
          expect(dayAt(timeZone, at)).toBe(one);
        },
      ),
    );
  });
});
