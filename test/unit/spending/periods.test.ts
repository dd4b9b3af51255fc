import { describe, expect, test } from 'vitest';
import { periodsAt } from '../../../src/spending/policy/policy.ts';

const at = (iso: string): number => Date.parse(iso);
const spans = (iso: string, zone: string) => {
  const { day, month } = periodsAt(at(iso), zone);
  const text = (ms: number): string => new Date(ms).toISOString();
  return {
    day: [day.name, text(day.begin), text(day.end)],
    month: [month.name, text(month.begin), text(month.end)],
  };
};

describe('a day and a month of a time zone', () => {
  test('in UTC they are those of the calendar', () => {
    expect(spans('2026-12-31T23:59:59.999Z', 'UTC')).toEqual({
      day: ['2026-12-31', '2026-12-31T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
      month: ['2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    });
  });

  test('elsewhere they begin at midnight there', () => {
    expect(spans('2026-02-01T05:59:59.999Z', 'America/Chicago')).toEqual({
      day: ['2026-01-31', '2026-01-31T06:00:00.000Z', '2026-02-01T06:00:00.000Z'],
      month: ['2026-01', '2026-01-01T06:00:00.000Z', '2026-02-01T06:00:00.000Z'],
    });
    expect(spans('2026-02-01T06:00:00.000Z', 'America/Chicago').day[0]).toBe('2026-02-01');
  });

  test.each([
    ['a day of 23 hours', '2026-03-08T12:00:00Z', 'America/Chicago', '2026-03-08T06:00:00.000Z', 23],
    ['a day of 25 hours', '2026-11-01T12:00:00Z', 'America/Chicago', '2026-11-01T05:00:00.000Z', 25],
    [
      'a day whose midnight there is not',
      '2026-09-06T12:00:00Z',
      'America/Santiago',
      '2026-09-06T04:00:00.000Z',
      23,
    ],
    [
      'a day that ends at midnight twice',
      '2026-04-04T20:00:00Z',
      'America/Santiago',
      '2026-04-04T03:00:00.000Z',
      25,
    ],
    ['a zone of half an hour', '2026-06-01T12:00:00Z', 'Asia/Kolkata', '2026-05-31T18:30:00.000Z', 24],
    ['the zone furthest ahead', '2026-06-01T09:00:00Z', 'Pacific/Kiritimati', '2026-05-31T10:00:00.000Z', 24],
  ])('%s', (_, iso, zone, begin, hours) => {
    const { day } = periodsAt(at(iso), zone);
    expect(new Date(day.begin).toISOString()).toBe(begin);
    expect((day.end - day.begin) / 3_600_000).toBe(hours);
    expect(at(iso)).toBeGreaterThanOrEqual(day.begin);
    expect(at(iso)).toBeLessThan(day.end);
  });

  test('a day that a zone has skipped is never one of its days', () => {
    const { day } = periodsAt(at('2011-12-30T09:59:59Z'), 'Pacific/Apia');
    expect([day.name, new Date(day.end).toISOString()]).toEqual(['2011-12-29', '2011-12-30T10:00:00.000Z']);
    expect(periodsAt(day.end, 'Pacific/Apia').day.name).toBe('2011-12-31');
  });
});
