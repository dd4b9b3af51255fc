import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Day, dayAt, dueAt, occurrences } from './cadence.ts';
import { readEntries, type StandingEntry } from './entries.ts';
import type { EntryFile } from './file.ts';
import type { KnownSchedule, RunMemory } from './memory.ts';
import { couldBeBought, countAfter } from './plan.ts';
import { type ScheduleFields, scheduleFieldsOf } from './schedule-fields.ts';

/** An entry, and the time from which its dates count. */
export interface CountedEntry {
  /** The entry. Its `since` is the time from which dates really count, even if the file states another time. */
  readonly entry: StandingEntry;
  /**
   * When the entry's schedule was edited by hand, in ms since the epoch. Undefined if this machine has not noticed any
   * such edit.
   */
  readonly editedAt: number | undefined;
  /**
   * Dates that were already past due when an edit by hand added them. If the edit had been made in time, they would
   * still be bought now.
   */
  readonly leftOut: readonly Day[];
  /** What this machine has to remember about the schedule. */
  readonly known: KnownSchedule;
}

/** Times in ms since the epoch, by the service's clock. */
interface Times {
  readonly now: number;
  /** When the file was changed last. */
  readonly changedAt: number;
}

/** Converts the modification time of a file to the service's clock. In a sandbox, that clock may have been advanced. */
export function timesOf({ clock }: Pick<Context, 'clock'>, { changedAt }: EntryFile, now: number): Times {
  return { now, changedAt: Math.min(now, changedAt + now - clock.now()) };
}

/**
 * Determines which dates of an entry count. If a command wrote the schedule, the `since` of the file applies. If the
 * schedule is not the one that the command wrote, or if this machine has already seen another schedule replace it,
 * somebody has edited the file by hand. Such an edit adds no date that was already due, unless the previous schedule
 * had that date too. A file cannot revoke what this machine remembers. Pure.
 * @param known is what this machine remembers of the entry.
 * @param isOwn tells whether a command of this machine has just written the file.
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

/** Maximum number of stamps to remember after they were replaced. */
const maxStamps = 50;

const latest = (...moments: readonly (number | undefined)[]): number | undefined => {
  const given = moments.filter((moment) => moment !== undefined);
  return given.length === 0 ? undefined : Math.max(...given);
};

/** Whether an edit changed the entry's first date or its list of dates. */
const isNamed = ({ terms }: KnownSchedule, { starts, dates }: ScheduleFields): boolean =>
  !isDeepStrictEqual([terms.starts, terms.dates], [starts, dates]);

/** The entry with the schedule that this machine remembers. Undefined if the remembered schedule cannot be parsed. */
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

/** Dates that became due in a span of time, were not skipped, and are not too late to buy. */
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

/**
 * Determines which dates of an entry count, and makes this machine remember the result.
 * @param by says who reads the entry.
 */
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

/**
 * The entry, reduced to the dates that count according to this machine's memory. If the entry's schedule is not in
 * memory, or was edited, the entry is returned unchanged. Pure except for reading `memory`.
 */
export function rememberedEntry(entry: StandingEntry, memory: Pick<RunMemory, 'schedule'>): StandingEntry {
  const known = memory.schedule(entry.id);
  if (!known || isEdited(entry, memory)) return entry;
  return { ...entry, since: known.since, skipped: [...entry.skipped, ...known.left] };
}

/**
 * Whether `since` was written for a schedule other than the current one. If so, somebody has edited the schedule by
 * hand.
 */
export const isOfOtherSchedule = ({ sinceSchedule, scheduleVersion }: StandingEntry): boolean =>
  sinceSchedule !== undefined && sinceSchedule !== scheduleVersion;

/**
 * Whether the schedule of an entry was edited. This is so if the schedule differs from the remembered one. If none is
 * remembered, this is so if `since` was written for another schedule.
 */
export function isEdited(entry: StandingEntry, memory: Pick<RunMemory, 'schedule'>): boolean {
  const known = memory.schedule(entry.id);
  if (!known) return isOfOtherSchedule(entry);
  return (
    known.goneAt !== undefined ||
    known.stamp !== stampOf(entry) ||
    !isDeepStrictEqual(known.terms, scheduleFieldsOf(entry))
  );
}

/** Combines what a file states about which dates of an entry count. The result is a text that can be compared. */
const stampOf = ({ since, sinceSchedule }: StandingEntry): string => `${since ?? ''} ${sinceSchedule ?? ''}`;
