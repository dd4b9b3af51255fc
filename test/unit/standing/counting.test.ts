import { expect, test } from 'vitest';
import { dateText } from '../../../src/standing/cadence.ts';
import { countEntry } from '../../../src/standing/counting.ts';
import { readEntries, type StandingEntry } from '../../../src/standing/entries.ts';

const moment = (text: string): number => Date.parse(text);

const entryOf = (fields: string): StandingEntry =>
  readEntries(
    'standing.yaml',
    `{ version: 1, orders: { coffee: { id: 0d0f84a09372, ${fields}, order: {} } } }`,
  )[0] ?? expect.fail(fields);

const at = (now: string, changedAt = now) => ({ now: moment(now), changedAt: moment(changedAt) });
const isoOf = (since: number | undefined): string | undefined =>
  since === undefined ? undefined : new Date(since).toISOString().slice(0, 16);

const weekly = entryOf('every: 1w, starts: 2026-12-01, late: 5d, since: 2026-11-20T00:00:00Z');
const daily = entryOf('every: 1d, starts: 2026-12-01, late: 5d, since: 2026-11-20T00:00:00Z');
const { known } = countEntry(weekly, undefined, at('2026-11-20T00:00:00Z'));

test('dates count from what the file says, as long as its schedule is the one that this machine knows', () => {
  const counted = countEntry(weekly, known, at('2026-12-05T12:00:00Z'));
  expect([isoOf(counted.entry.since), counted.editedAt, counted.leftOut]).toEqual([
    '2026-11-20T00:00',
    undefined,
    [],
  ]);
});

test('an edit by hand leaves out what was due before it', () => {
  const counted = countEntry(daily, known, at('2026-12-05T12:00:00Z', '2026-12-04T09:00:00Z'));
  expect(isoOf(counted.entry.since)).toBe('2026-12-04T09:00');
  expect(counted.leftOut.map(dateText)).toEqual(['2026-12-01', '2026-12-02', '2026-12-03', '2026-12-04']);
  const again = countEntry(daily, counted.known, at('2026-12-06T12:00:00Z', '2026-12-06T11:00:00Z'));
  expect(isoOf(again.entry.since)).toBe('2026-12-04T09:00');
});

test('a file that looks older than what is known of it brings in nothing', () => {
  const { known: later } = countEntry(daily, known, at('2026-12-05T12:00:00Z'));
  const back = countEntry(weekly, later, at('2026-12-06T12:00:00Z', '2026-11-01T00:00:00Z'));
  expect(isoOf(back.entry.since)).toBe('2026-12-05T12:00');
});

test('a machine that does not know the schedule before goes by the hash in the file', () => {
  const stamped = entryOf(
    `every: 1d, starts: 2026-12-01, late: 5d, since: 2026-11-20T00:00:00Z, since_schedule: "${weekly.scheduleVersion}"`,
  );
  const counted = countEntry(stamped, undefined, at('2026-12-05T12:00:00Z', '2026-12-05T10:00:00Z'));
  expect(isoOf(counted.entry.since)).toBe('2026-12-05T10:00');
});

test('what is remembered and cannot be read counts as unknown', () => {
  const broken = { ...known, terms: { ...known.terms, every: '1x' } };
  expect(isoOf(countEntry(daily, broken, at('2026-12-05T12:00:00Z')).entry.since)).toBe('2026-11-20T00:00');
});
