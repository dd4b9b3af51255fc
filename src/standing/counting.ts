import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Day, dayAt, dueAt, occurrences } from './cadence.ts';
import { readEntries, type StandingEntry } from './entries.ts';
import type { EntryFile } from './file.ts';
import type { KnownSchedule, RunMemory } from './memory.ts';
import { couldBeBought, countAfter } from './plan.ts';
import { type ScheduleFields, scheduleFieldsOf } from './schedule-fields.ts';

/** An entry with the instant from which its dates count. */
export interface CountedEntry {
  /** Its `since` is that instant, whatever the file says. */
  readonly entry: StandingEntry;
  /** When its schedule was edited by hand, as far as this machine can tell, ms since the epoch; undefined if it was not. */
  readonly editedAt: number | undefined;
  /** Dates that the edit brought in too late: they would be bought now if it had been made before them. */
  readonly leftOut: readonly Day[];
  /** What this machine is to remember. */
  readonly known: KnownSchedule;
}

/** Times by the service's clock, ms since the epoch. */
interface Times {
  readonly now: number;
  /** When the file was changed last. */
  readonly changedAt: number;
}

/** When a file was changed, by the clock of the service, which a sandbox may have advanced. */
export function timesOf({ clock }: Pick<Context, 'clock'>, { changedAt }: EntryFile, now: number): Times {
  return { now, changedAt: Math.min(now, changedAt + now - clock.now()) };
}

/**
 * Tells which dates of an entry count. The file says so for the schedule that a command wrote. Where the schedule is
 * another, or is one again that this machine has seen replaced, somebody has edited it by hand: no date comes in then that
 * was due before, but what the schedule before has as well. Nothing that this machine knows is taken back by a file. Pure.
 * @param known is what this machine remembers of the entry. @param isOwn tells that a command of this machine has just
 * written the file.
 */
export function countEntry(
  entry: StandingEntry,
  known: KnownSchedule | undefined,
  times: Times,
  isOwn = false,
): CountedEntry {
  const stamp = stampOf(entry);
  const terms = scheduleFieldsOf(entry);
  const counted = decide();
  const { since, left, editedAt } = counted;
  const isSame = known?.stamp === stamp && known.editedAt === editedAt && known.goneAt === undefined;
  const lateDays = left.filter((day) => couldBeBought({ ...entry, since: undefined }, day, times.now));
  const between = dueBetween(entry, { from: entry.since, to: since, now: times.now });
  return {
    entry: { ...entry, since, skipped: [...new Set([...entry.skipped, ...left])] },
    editedAt,
    leftOut: editedAt === undefined ? [] : [...new Set([...between, ...lateDays])],
    known: {
      ...{ stamp, terms, since, left, editedAt, seenAt: times.now, goneAt: undefined },
      stamps: known ? [...new Set([...known.stamps, known.stamp])].slice(-maxStamps) : [],
      isReported: isSame && known.isReported,
    },
  };

  function decide(): Pick<KnownSchedule, 'since' | 'left' | 'editedAt'> {
    const isWritten = entry.since !== undefined && entry.sinceSchedule === entry.scheduleVersion;
    if (!known) {
      if (isWritten || entry.sinceSchedule === undefined)
        return { since: entry.since, left: [], editedAt: undefined };
      return { since: latest(entry.since, times.changedAt), left: [], editedAt: times.changedAt };
    }
    const { left, editedAt, goneAt } = known;
    const isThere = goneAt === undefined;
    const isSame = isThere && isDeepStrictEqual(known.terms, terms);
    if (isSame && stamp === known.stamp) return { since: known.since, left, editedAt };
    const isNew = isWritten && isThere && stamp !== known.stamp && !known.stamps.includes(stamp);
    if (isNew && isOwn) return { since: entry.since, left: [], editedAt: undefined };
    const since = latest(entry.since, known.since);
    if (isNew) return { since, left: [], editedAt: since === entry.since ? undefined : since };
    if (isSame) return { since, left, editedAt };
    const at = Math.min(times.now, latest(times.changedAt, known.seenAt, goneAt, known.since) ?? times.now);
    const before = isThere ? entryBefore(entry, known) : undefined;
    if (!before) return { since: latest(entry.since, at), left: [], editedAt: at };
    return { ...countAfter(before, entry, at, { named: isNamed(known, terms) }), editedAt: at };
  }
}

/** Maximum number of replaced stamps to remember. */
const maxStamps = 50;

const latest = (...moments: readonly (number | undefined)[]): number | undefined => {
  const given = moments.filter((moment) => moment !== undefined);
  return given.length === 0 ? undefined : Math.max(...given);
};

/** Whether an edit has named a date: its first, or each. */
const isNamed = ({ terms }: KnownSchedule, { starts, dates }: ScheduleFields): boolean =>
  !isDeepStrictEqual([terms.starts, terms.dates], [starts, dates]);

/** The entry with the schedule that this machine remembers; undefined if it cannot be read. */
function entryBefore(entry: StandingEntry, { terms, since, left }: KnownSchedule): StandingEntry | undefined {
  try {
    const text = JSON.stringify({ version: 1, orders: { before: { id: entry.id, ...terms, order: {} } } });
    const [before] = readEntries('standing.json', text);
    return before && { ...before, since, skipped: left };
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}

interface Span {
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly now: number;
}

/** Dates that were due from one moment to another, and that are not too late. */
function dueBetween(
  { schedule, lateMs, skipped }: StandingEntry,
  { from = Number.NEGATIVE_INFINITY, to = 0, now }: Span,
): readonly Day[] {
  const { timeZone } = schedule;
  return occurrences(schedule, dayAt(timeZone, now - lateMs), dayAt(timeZone, now)).filter((day) => {
    const at = dueAt(schedule, day);
    return at >= from && at < to && at <= now && now <= at + lateMs && !skipped.includes(day);
  });
}

interface Seen {
  readonly file: EntryFile;
  readonly memory: RunMemory;
  readonly entry: StandingEntry;
}

/** Counts an entry by what the service and this machine know, and remembers it. @param by tells who looks at it. */
export function countAndRemember(
  context: Context,
  { file, memory, entry }: Seen,
  by: 'run' | 'command' | 'reader' = 'reader',
): CountedEntry {
  const now = context.serviceClock.now();
  const counted = countEntry(entry, memory.schedule(entry.id), timesOf(context, file, now), by === 'command');
  if (context.serviceClock.isHeard && !context.previewsRequests) {
    const isReported = counted.known.isReported || by === 'run';
    memory.setSchedule(entry.id, { ...counted.known, file: file.path, isReported });
    memory.save();
  }
  return counted;
}

/** An entry as this machine counts it, where it has seen its schedule before. Pure but for what `memory` reads. */
export function rememberedEntry(entry: StandingEntry, memory: Pick<RunMemory, 'schedule'>): StandingEntry {
  const known = memory.schedule(entry.id);
  if (!known || isEdited(entry, memory)) return entry;
  return { ...entry, since: known.since, skipped: [...entry.skipped, ...known.left] };
}

/** Whether a command has said of another schedule from when on dates count: this one was edited by hand since. */
export const isOfOtherSchedule = ({ sinceSchedule, scheduleVersion }: StandingEntry): boolean =>
  sinceSchedule !== undefined && sinceSchedule !== scheduleVersion;

/** Whether an entry says otherwise from when on its dates count than this machine knows. */
export function isEdited(entry: StandingEntry, memory: Pick<RunMemory, 'schedule'>): boolean {
  const known = memory.schedule(entry.id);
  if (!known) return isOfOtherSchedule(entry);
  return (
    known.goneAt !== undefined ||
    known.stamp !== stampOf(entry) ||
    !isDeepStrictEqual(known.terms, scheduleFieldsOf(entry))
  );
}

/** What a file says of when the dates of an entry count. */
const stampOf = ({ since, sinceSchedule }: StandingEntry): string => `${since ?? ''} ${sinceSchedule ?? ''}`;
