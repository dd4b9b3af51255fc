import { expect, test } from 'vitest';
import { dateText } from '../../../src/standing/cadence.ts';
import { countEntry, isEdited } from '../../../src/standing/counting.ts';
import { readEntries, type StandingEntry } from '../../../src/standing/entries.ts';
import { countAfter } from '../../../src/standing/plan.ts';

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
  // The first is one of both schedules.
  expect(isoOf(counted.entry.since)).toBe('2026-12-01T00:00');
  expect(counted.leftOut.map(dateText)).toEqual(['2026-12-02', '2026-12-03', '2026-12-04']);
  const again = countEntry(daily, counted.known, at('2026-12-06T12:00:00Z', '2026-12-06T11:00:00Z'));
  expect([again.entry.since, again.entry.skipped]).toEqual([counted.entry.since, counted.entry.skipped]);
});

test('a file that looks older than what is known of it brings in nothing', () => {
  const { known: later } = countEntry(daily, known, at('2026-12-05T12:00:00Z'));
  const other = entryOf('every: 2d, starts: 2026-12-02, late: 5d, since: 2026-11-20T00:00:00Z');
  const back = countEntry(other, later, at('2026-12-06T12:00:00Z', '2026-11-01T00:00:00Z'));
  expect(isoOf(back.entry.since)).toBe('2026-12-05T12:00');
});

test('a machine that does not know the schedule before goes by the hash in the file', () => {
  const stamped = entryOf(
    `every: 1d, starts: 2026-12-01, late: 5d, since: 2026-11-20T00:00:00Z, since_schedule: "${weekly.scheduleVersion}"`,
  );
  const counted = countEntry(stamped, undefined, at('2026-12-05T12:00:00Z', '2026-12-05T10:00:00Z'));
  expect(isoOf(counted.entry.since)).toBe('2026-12-05T10:00');
});

test('what is remembered and cannot be read brings in nothing', () => {
  const broken = { ...known, terms: { ...known.terms, every: '1x' } };
  expect(isoOf(countEntry(daily, broken, at('2026-12-05T12:00:00Z')).entry.since)).toBe('2026-12-05T12:00');
});

/** An entry as a command writes it. */
const written = (fields: string, since: string): StandingEntry => {
  const { scheduleVersion } = entryOf(fields);
  return entryOf(`${fields}, since: ${since}, since_schedule: "${scheduleVersion}"`);
};

const everyDay = written('every: 1d, starts: 2026-12-01, late: 4d', '2026-12-01T00:00:00Z');
const monthly = written('every: 1mo, starts: 2026-12-21, late: 4d', '2026-12-02T09:00:00Z');

test('a file that is put back brings in no date that was due while another was there', () => {
  const first = countEntry(everyDay, undefined, at('2026-12-01T08:00:00Z')).known;
  const second = countEntry(monthly, first, at('2026-12-02T10:00:00Z'));
  expect([isoOf(second.entry.since), second.editedAt]).toEqual(['2026-12-02T09:00', undefined]);
  const back = countEntry(everyDay, second.known, at('2026-12-04T12:00:00Z', '2026-12-04T11:00:00Z'));
  expect(isoOf(back.entry.since)).toBe('2026-12-04T11:00');
  expect(back.leftOut.map(dateText)).toEqual(['2026-12-01', '2026-12-02', '2026-12-03', '2026-12-04']);
  // Its date of change may be as old as it was.
  const { known: seen } = countEntry(monthly, second.known, at('2026-12-04T09:00:00Z'));
  const moved = countEntry(everyDay, seen, at('2026-12-04T12:00:00Z', '2026-12-01T00:00:00Z'));
  expect(isoOf(moved.entry.since)).toBe('2026-12-04T09:00');
});

test('what another machine wrote later counts as it says, but never from before what is known here', () => {
  const { known: now } = countEntry(everyDay, undefined, at('2026-12-03T08:00:00Z'));
  const later = countEntry(monthly, now, at('2026-12-05T08:00:00Z'));
  expect([isoOf(later.entry.since), later.editedAt]).toEqual(['2026-12-02T09:00', undefined]);
  const earlier = written('every: 1d, starts: 2026-12-01, late: 4d', '2026-11-30T00:00:00Z');
  expect(isoOf(countEntry(earlier, now, at('2026-12-05T08:00:00Z')).entry.since)).toBe('2026-12-01T00:00');
  const without = entryOf('every: 1d, starts: 2026-12-01, late: 4d');
  expect(isoOf(countEntry(without, now, at('2026-12-05T08:00:00Z')).entry.since)).toBe('2026-12-01T00:00');
});

test('what a command of this machine writes counts as it says', () => {
  const { known: now } = countEntry(monthly, undefined, at('2026-12-02T10:00:00Z'));
  const today = written('every: 1w, starts: 2026-12-02, late: 4d', '2026-12-02T00:00:00Z');
  expect(isoOf(countEntry(today, now, at('2026-12-02T11:00:00Z'), true).entry.since)).toBe(
    '2026-12-02T00:00',
  );
});

test('an entry that was removed and is there again buys nothing that was due meanwhile', () => {
  const { known: now } = countEntry(everyDay, undefined, at('2026-12-01T08:00:00Z'));
  const gone = { ...now, goneAt: moment('2026-12-03T08:00:00Z') };
  const back = countEntry(everyDay, gone, at('2026-12-04T12:00:00Z', '2026-12-01T00:00:00Z'));
  expect(isoOf(back.entry.since)).toBe('2026-12-03T08:00');
});

test('a copy with another id counts from when its file was changed', () => {
  const copy = readEntries(
    'standing.yaml',
    `{ version: 1, orders: { tea: { id: 111111111111, every: 1d, starts: 2026-12-01, late: 4d,
       since: 2026-12-01T00:00:00Z, since_schedule: "${everyDay.scheduleVersion}", order: {} } } }`,
  )[0];
  if (!copy) return expect.fail('there is no copy');
  const counted = countEntry(copy, undefined, at('2026-12-04T12:00:00Z', '2026-12-04T11:00:00Z'));
  expect(isoOf(counted.entry.since)).toBe('2026-12-04T11:00');
});

test('a date that both schedules have stays in, and no other that is past', () => {
  const every2 = entryOf('every: 2d, starts: 2026-12-01, late: 4d, since: 2026-12-01T00:00:00Z');
  const { known: now } = countEntry(every2, undefined, at('2026-12-01T08:00:00Z'));
  const every1 = entryOf('every: 1d, starts: 2026-12-01, late: 4d, since: 2026-12-01T00:00:00Z');
  const counted = countEntry(every1, now, at('2026-12-02T08:00:00Z'));
  expect([isoOf(counted.entry.since), counted.entry.skipped.map(dateText)]).toEqual([
    '2026-12-01T00:00',
    ['2026-12-02'],
  ]);
  const again = countEntry(every1, counted.known, at('2026-12-02T12:00:00Z'));
  expect(again.entry.skipped.map(dateText)).toEqual(['2026-12-02']);
});

test('a date whose time of day is moved to before now stays in', () => {
  const night = entryOf('every: 1mo, starts: 2026-12-02, at: "23:30", since: 2026-12-01T00:00:00Z');
  const morning = entryOf('every: 1mo, starts: 2026-12-02, at: "06:00", since: 2026-12-01T00:00:00Z');
  const after = countAfter(night, morning, moment('2026-12-02T20:21:00Z'), { named: false });
  expect([isoOf(after.since), after.left]).toEqual(['2026-12-02T06:00', []]);
});

test('an edit by hand is seen by a run that has nothing to do else, and a file that is as it was is not', () => {
  const memory = { schedule: () => ({ ...known, goneAt: undefined }) };
  expect([isEdited(weekly, memory), isEdited(daily, memory)]).toEqual([false, true]);
  expect(isEdited(weekly, { schedule: () => undefined })).toBe(false);
});
