import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Day, dateText, dayOf, parseCadence } from '../../../src/standing/cadence.ts';
import type { StandingEntry } from '../../../src/standing/entries.ts';
import type { DateOrder } from '../../../src/standing/orders.ts';
import { referenceFor } from '../../../src/standing/orders.ts';
import { foreignOrder, idleUntil, listSince, planDates } from '../../../src/standing/plan.ts';

const dayMs = 86_400_000;
const day = (text: string): Day => dayOf(text) ?? expect.fail(text);
const moment = (text: string): number => Date.parse(text);

function entryOf(every: string, starts: string, more: Partial<StandingEntry> = {}): StandingEntry {
  const cadence = parseCadence(every) ?? expect.fail(every);
  return {
    ...{ name: 'coffee', id: '0d0f84a09372', lateMs: 2 * dayMs, skipped: [], isPaused: false },
    ...{
      since: undefined,
      sinceSchedule: undefined,
      scheduleVersion: 'bbbbbbbbbbbb',
      agreement: undefined,
      former: [],
      order: {},
      version: 'aaaaaaaaaaaa',
      position: 'standing.yaml, line 3',
    },
    schedule: {
      recurs: { starts: day(starts), cadence },
      ...{ dates: [], ends: undefined, count: undefined, atMinute: 0, timeZone: 'UTC' },
    },
    ...more,
  };
}

const orderOf = (date: string, state: DateOrder['state'], more: Partial<DateOrder> = {}): DateOrder => ({
  ...{ id: `order of ${date}`, day: day(date), state, version: 'aaaaaaaaaaaa', order: {} },
  madeAt: day(date) * dayMs,
  ...more,
});

const verdicts = (
  entry: StandingEntry,
  now: string,
  orders: readonly DateOrder[] = [],
  closed?: string,
): string[] =>
  planDates(entry, {
    now: moment(now),
    orders,
    closed: closed === undefined ? undefined : day(closed),
  }).map(({ day: one, verdict }) => `${dateText(one)} ${verdict}`);

describe('a date', () => {
  const coffee = entryOf('2w', '2026-12-01');

  test('is bought once it is due, for as long as it may be late', () => {
    expect(verdicts(coffee, '2026-11-30T23:59:59Z')).toEqual([]);
    expect(verdicts(coffee, '2026-12-01T00:00:00Z')).toEqual(['2026-12-01 place']);
    expect(verdicts(coffee, '2026-12-03T00:00:00Z')).toEqual(['2026-12-01 place']);
    expect(verdicts(coffee, '2026-12-03T00:00:01Z')).toEqual(['2026-12-01 closing']);
    expect(verdicts(coffee, '2026-12-03T00:05:01Z')).toEqual(['2026-12-01 missed']);
  });

  test('that was bought, withdrawn or skipped is not bought again', () => {
    const now = '2026-12-02T00:00:00Z';
    expect(verdicts(coffee, now, [orderOf('2026-12-01', 'placed')])).toEqual(['2026-12-01 bought']);
    expect(verdicts(coffee, now, [orderOf('2026-12-01', 'cancelled')])).toEqual(['2026-12-01 withdrawn']);
    expect(verdicts(coffee, now, [orderOf('2026-12-01', 'returned')])).toEqual(['2026-12-01 withdrawn']);
    expect(verdicts({ ...coffee, skipped: [day('2026-12-01')] }, now)).toEqual(['2026-12-01 skipped']);
  });

  test('that failed is tried again a little later, or at once when the entry has changed', () => {
    const failed = [orderOf('2026-12-01', 'failed')];
    expect(verdicts(coffee, '2026-12-01T05:00:00Z', failed)).toEqual(['2026-12-01 waiting']);
    expect(verdicts(coffee, '2026-12-01T06:00:00Z', failed)).toEqual(['2026-12-01 place']);
    const changed = { ...coffee, version: 'bbbbbbbbbbbb' };
    expect(verdicts(changed, '2026-12-01T05:00:00Z', failed)).toEqual(['2026-12-01 place']);
    expect(verdicts(coffee, '2026-12-03T05:00:00Z', failed)).toEqual(['2026-12-01 failed']);
    const both = [...failed, orderOf('2026-12-01', 'placed')];
    expect(verdicts(coffee, '2026-12-01T08:00:00Z', both)).toEqual(['2026-12-01 bought']);
  });

  test('from before it was added is none', () => {
    const added = { ...coffee, since: moment('2026-12-02T10:00:00Z') };
    expect(verdicts(added, '2026-12-02T11:00:00Z')).toEqual([]);
  });

  test('that failed is tried again before it is too late, however short that is', () => {
    const short = { ...coffee, lateMs: 3_600_000 };
    const failed = [orderOf('2026-12-01', 'failed')];
    expect(verdicts(short, '2026-12-01T00:14:00Z', failed)).toEqual(['2026-12-01 waiting']);
    expect(verdicts(short, '2026-12-01T00:15:00Z', failed)).toEqual(['2026-12-01 place']);
    expect(verdicts(short, '2026-12-01T05:00:00Z', [], '2026-12-01')).toEqual([]);
  });

  test('is reported once as missed', () => {
    const added = { ...coffee, since: moment('2026-11-01T10:00:00Z') };
    expect(verdicts(added, '2026-12-20T00:00:00Z', [], '2026-11-30')).toEqual([
      ...['2026-12-01 missed', '2026-12-15 missed'],
    ]);
    expect(verdicts(added, '2026-12-20T00:00:00Z', [], '2026-12-15')).toEqual([]);
  });
});

describe('a date that was in doubt', () => {
  const entry = entryOf('1w', '2026-12-01', { since: moment('2026-11-01T00:00:00Z') });
  const facts = { now: moment('2026-12-20T00:00:00Z'), orders: [], closed: day('2026-12-15') };

  test('is reported, although those after it were', () => {
    expect(planDates(entry, facts)).toEqual([]);
    expect(planDates(entry, { ...facts, reopened: [day('2026-12-08')] })).toMatchObject([
      { day: day('2026-12-08'), verdict: 'missed' },
    ]);
  });

  test('has the dates close to it wait', () => {
    const doubt = orderOf('2026-12-01', 'intended', { version: undefined });
    const moved = entryOf('1w', '2026-12-02');
    expect(verdicts(moved, '2026-12-02T00:00:00Z', [doubt])).toEqual(['2026-12-02 unsettled']);
    expect(verdicts(entry, '2026-12-01T00:00:00Z', [doubt])).toEqual(['2026-12-01 place']);
  });
});

describe('dates that have moved', () => {
  const bought = [orderOf('2026-12-01', 'placed')];

  test('leave out one that is close to a date that was bought', () => {
    expect(verdicts(entryOf('2w', '2026-12-02'), '2026-12-02T00:00:00Z', bought)).toEqual([
      '2026-12-02 covered',
    ]);
    expect(verdicts(entryOf('2w', '2026-12-08'), '2026-12-08T00:00:00Z', bought)).toEqual([
      '2026-12-08 place',
    ]);
    expect(verdicts(entryOf('1mo', '2026-12-15'), '2026-12-15T00:00:00Z', bought)).toEqual([
      '2026-12-15 covered',
    ]);
  });

  test('do not leave out one because of an order that failed or was taken back', () => {
    const cancelled = [orderOf('2026-12-01', 'cancelled')];
    expect(verdicts(entryOf('2w', '2026-12-02'), '2026-12-02T00:00:00Z', cancelled)).toEqual([
      '2026-12-02 place',
    ]);
  });

  test('have the same numbers, whatever the cadence and the start', () => {
    const { text } = referenceFor(entryOf('2w', '2026-12-01'), day('2026-12-15'));
    expect(text).toBe('standing/0d0f84a09372/20261215');
    expect(referenceFor(entryOf('1d', '2026-01-01'), day('2026-12-15')).text).toBe(text);
  });

  test('never have a date bought twice, nor two dates closer than half of a cadence', () => {
    const edits = fc.array(
      fc.record({
        every: fc.constantFrom('3d', '1w', '2w'),
        starts: fc.integer({ min: 20_420, max: 20_480 }),
        hours: fc.integer({ min: 1, max: 200 }),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(edits, (steps) => {
        const orders: DateOrder[] = [];
        let now = 20_430 * dayMs;
        for (const { every, starts, hours } of steps) {
          now += hours * 3_600_000;
          const entry = entryOf(every, dateText(starts));
          for (const { day: one, verdict } of planDates(entry, { now, orders, closed: undefined })) {
            if (verdict !== 'place') continue;
            const half = (entry.schedule.recurs?.cadence.every ?? 0) / 2;
            for (const other of orders) expect(Math.abs(other.day - one)).toBeGreaterThanOrEqual(half);
            orders.push(orderOf(dateText(one), 'placed'));
          }
        }
        expect(new Set(orders.map((order) => order.day)).size).toBe(orders.length);
      }),
    );
  });
});

describe('another version', () => {
  const own = entryOf('2w', '2026-12-01', { former: ['cccccccccccc'] });
  const placed = (version: string | undefined) => [orderOf('2026-12-01', 'placed', { version })];

  test('is foreign, unless this machine or the file knows it', () => {
    expect(foreignOrder(own, placed('bbbbbbbbbbbb'), [])).toBeDefined();
    expect(foreignOrder(own, placed('bbbbbbbbbbbb'), ['bbbbbbbbbbbb'])).toBeUndefined();
    expect(foreignOrder(own, placed('cccccccccccc'), [])).toBeUndefined();
    expect(foreignOrder(own, placed('aaaaaaaaaaaa'), [])).toBeUndefined();
    expect(foreignOrder(own, placed(undefined), [])).toBeUndefined();
  });

  test('is an older one where it ordered before a version that is known', () => {
    const then = orderOf('2026-12-01', 'placed', { version: 'bbbbbbbbbbbb' });
    const later = orderOf('2026-12-15', 'placed', { version: 'cccccccccccc' });
    expect(foreignOrder(own, [then, later], [])).toBeUndefined();
    expect(foreignOrder(own, [{ ...later, day: then.day - 14 }, then], [])).toBe(then);
  });
});

describe('a machine is idle', () => {
  const coffee = entryOf('2w', '2026-12-01');

  test('until two days and an hour before a date, by its own clock', () => {
    expect(idleUntil(coffee, moment('2026-11-20T00:00:00Z'), undefined)).toBe(moment('2026-11-28T23:00:00Z'));
    expect(idleUntil(coffee, moment('2026-11-29T00:00:00Z'), undefined)).toBeUndefined();
  });

  test('after a date only once that is over', () => {
    expect(idleUntil(coffee, moment('2026-12-04T00:00:00Z'), undefined)).toBeUndefined();
    expect(idleUntil(coffee, moment('2026-12-04T00:00:00Z'), day('2026-12-01'))).toBe(
      moment('2026-12-12T23:00:00Z'),
    );
  });

  test('where it is paused, or has ended', () => {
    expect(
      idleUntil({ ...coffee, isPaused: true }, moment('2026-12-01T00:00:00Z'), undefined),
    ).toBeGreaterThan(0);
    const { schedule } = coffee;
    const ended = { ...coffee, schedule: { ...schedule, ends: day('2026-12-01') } };
    expect(idleUntil(ended, moment('2027-06-01T00:00:00Z'), undefined)).toBeGreaterThan(
      moment('2027-06-02T00:00:00Z'),
    );
  });

  test('never while a date is due by the true time, with a clock that is two days off either way', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('1d', '3d', '1w', '2w', '1mo'),
        fc.integer({ min: 0, max: 24 * 90 }),
        fc.integer({ min: -48, max: 48 }),
        (every, hours, skew) => {
          const entry = entryOf(every, '2026-12-01', { lateMs: dayMs });
          const now = moment('2026-12-01T00:00:00Z') + hours * 3_600_000;
          const isDue = planDates(entry, { now, orders: [], closed: undefined }).some(
            ({ verdict }) => verdict === 'place',
          );
          if (isDue) expect(idleUntil(entry, now + skew * 3_600_000, undefined)).toBeUndefined();
        },
      ),
    );
  });
});

test('orders of a month are read for an entry of every day, since another machine may have it every month', () => {
  const now = moment('2026-12-20T00:00:00Z');
  const since = listSince(entryOf('1d', '2026-12-01'), { now, closed: day('2026-12-19') });
  expect(since).toBeLessThanOrEqual(now - 31 * dayMs);
});
