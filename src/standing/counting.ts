import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { type Day, dayAt, dueAt, occurrences } from './cadence.ts';
import { readEntries, type StandingEntry } from './entries.ts';
import type { EntryFile } from './file.ts';
import type { KnownSchedule, RunMemory } from './memory.ts';
import { sinceAfter, sinceFor } from './plan.ts';
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
 * Tells from when on the dates of an entry count. The file says so for the schedule that a command wrote. Where somebody
 * has edited the schedule by hand since, nothing that was due before the file was changed comes in, but what could be
 * bought before the edit as well. Pure. @param known is what this machine remembers of the entry.
 */
export function countEntry(
  entry: StandingEntry,
  known: KnownSchedule | undefined,
  { now, changedAt }: Times,
): CountedEntry {
  const stamp = stampOf(entry);
  const terms = scheduleFieldsOf(entry);
  const countedFrom = (since: number | undefined, editedAt?: number): CountedEntry => ({
    entry: { ...entry, since },
    editedAt,
    leftOut: editedAt === undefined ? [] : dueBetween(entry, { from: entry.since, to: since, now }),
    known: { stamp, terms, since, editedAt },
  });
  if (known?.stamp === stamp) {
    if (isDeepStrictEqual(known.terms, terms)) return countedFrom(known.since, known.editedAt);
    const before = entryBefore(entry, known);
    const editedAt = Math.max(changedAt, known.since ?? 0);
    if (before)
      return countedFrom(sinceAfter(before, entry, editedAt, { named: isNamed(known, terms) }), editedAt);
  }
  const isOfOther = entry.sinceSchedule !== undefined && entry.sinceSchedule !== entry.scheduleVersion;
  if (!isOfOther) return countedFrom(entry.since);
  return countedFrom(Math.max(entry.since ?? 0, sinceFor(entry.schedule, changedAt)), changedAt);
}

/** Whether an edit has named a date: its first, or each. */
const isNamed = ({ terms }: KnownSchedule, { starts, dates }: ScheduleFields): boolean =>
  !isDeepStrictEqual([terms.starts, terms.dates], [starts, dates]);

/** The entry with the schedule that this machine remembers; undefined if it cannot be read. */
function entryBefore(entry: StandingEntry, { terms, since }: KnownSchedule): StandingEntry | undefined {
  try {
    const text = JSON.stringify({ version: 1, orders: { before: { id: entry.id, ...terms, order: {} } } });
    const [before] = readEntries('standing.json', text);
    return before && { ...before, since };
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

/** Counts an entry by what the service and this machine know, and remembers it. */
export function countAndRemember(
  context: Context,
  {
    file,
    memory,
    entry,
  }: { readonly file: EntryFile; readonly memory: RunMemory; readonly entry: StandingEntry },
): CountedEntry {
  const now = context.serviceClock.now();
  const counted = countEntry(entry, memory.schedule(entry.id), timesOf(context, file, now));
  if (context.serviceClock.isHeard && !context.previewsRequests) {
    memory.setSchedule(entry.id, counted.known);
    memory.save();
  }
  return counted;
}

/** An entry as this machine counts it, where it has seen its schedule before. Pure but for what `memory` reads. */
export function rememberedEntry(entry: StandingEntry, memory: Pick<RunMemory, 'schedule'>): StandingEntry {
  const known = memory.schedule(entry.id);
  const isSame = known?.stamp === stampOf(entry) && isDeepStrictEqual(known.terms, scheduleFieldsOf(entry));
  return isSame ? { ...entry, since: known.since } : entry;
}

/** What a file says of when the dates of an entry count. */
const stampOf = ({ since, sinceSchedule }: StandingEntry): string => `${since ?? ''} ${sinceSchedule ?? ''}`;
