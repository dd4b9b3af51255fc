import { type Day, dayAt, dueAt, halfStep, occurrences, type Schedule, stepDays } from './cadence.ts';
import type { StandingEntry } from './entries.ts';
import type { DateOrder } from './orders.ts';

const dayMs = 24 * 3600 * 1000;

/**
 * Assumed maximum error of this machine's clock, in ms. If the error is larger, a run may overlook a due date, which a
 * later run then finds.
 */
export const maxClockErrorMs = 49 * 3600 * 1000;

/** How long, in ms, a new order may be missing from the lists of the service. */
const maxLagMs = 300_000;

/** Maximum number of past dates that one run reports. */
const maxReported = 400;

/** The verdict on a date, which says what has to be done about it. */
export type Verdict =
  /** The date is due and was not bought yet, so an order is placed. */
  | 'place'
  /** The order for the date has failed recently, so another order is placed later. */
  | 'waiting'
  /** The date has a live order. */
  | 'bought'
  /** The order for the date was cancelled or returned. */
  | 'withdrawn'
  /** All orders for the date have failed, and it is too late for another one. */
  | 'failed'
  /** Nobody bought it in time. */
  | 'missed'
  /** It is too late for an order. However, another machine may have placed one that the service does not list yet. */
  | 'closing'
  /** The schedule has moved, and an order for a date close to this date was placed. */
  | 'covered'
  /** The outcome of a request for a date close to this date is still unknown, so the date has to wait. */
  | 'unsettled'
  /** The file says to skip the date. */
  | 'skipped'
  /** Not due yet. */
  | 'upcoming';

export interface PlannedDate {
  readonly day: Day;
  /** When the date is due, in ms since the epoch. */
  readonly dueAt: number;
  readonly verdict: Verdict;
  /** The order that decided it. */
  readonly order: DateOrder | undefined;
  /** Whether it is too late to buy this date, so that its verdict is final. */
  readonly isOver: boolean;
}

/** Facts for planning the dates of an entry. Times are ms since the epoch. */
export interface Facts {
  /** By the service's clock. */
  readonly now: number;
  /** Orders that the service lists, created at or after `listSince`. */
  readonly orders: readonly DateOrder[];
  /** All dates up to this date are over and were reported. Undefined if this machine does not know of such a date. */
  readonly closed: Day | undefined;
  /** Dates that were in doubt. They are reported again, even if a run has already reported them as over. */
  readonly reopened?: readonly Day[];
  /** Plans the dates up to this time, which defaults to `now`. */
  readonly until?: number | undefined;
}

/** First date that a run has to consider. A machine without memory starts one date earlier. Pure. */
export function firstDay(
  { schedule, since, lateMs }: StandingEntry,
  { now, closed, reopened = [] }: Omit<Facts, 'orders'>,
): Day {
  const { timeZone } = schedule;
  const late = dayAt(timeZone, now - lateMs);
  const added = since === undefined ? undefined : dayAt(timeZone, since);
  const fromMemory = closed === undefined ? undefined : closed + 1;
  const fallback = added === undefined ? late : late - stepDays(schedule);
  const first = Math.max(
    Math.min(late, fromMemory ?? fallback),
    added ?? Number.NEGATIVE_INFINITY,
    late - maxReported,
  );
  return Math.min(first, ...reopened);
}

/**
 * Minimum number of past days of which orders are read. If two machines have different cadences for an entry, such as
 * daily and monthly, each machine has to notice the other's orders.
 */
const seenDays = 31;

/**
 * Time from which the service's orders matter, in ms since the epoch. The time is at least one cadence before
 * `firstDay`, because an order for a date close by can replace the order for a date. It is also at least a month before
 * `firstDay`, because orders reveal which version of the entry other machines have. Pure.
 */
export const listSince = (entry: StandingEntry, facts: Omit<Facts, 'orders'>): number =>
  (firstDay(entry, facts) - Math.max(stepDays(entry.schedule), seenDays) - 3) * dayMs;

/** Decides what to do about each date of an entry, in ascending order. Pure. */
export function planDates(entry: StandingEntry, facts: Facts): readonly PlannedDate[] {
  const { schedule } = entry;
  const { now, until = now } = facts;
  const last = dayAt(schedule.timeZone, Math.max(until, now)) + 1;
  return occurrences(schedule, firstDay(entry, facts), last).flatMap((day): PlannedDate[] => {
    const at = dueAt(schedule, day);
    if (at < sinceOf(entry) || (at > now && at > until)) return [];
    const planned = planDate(entry, facts, day, at);
    return isReported(planned, facts) ? [] : [planned];
  });
}

const sinceOf = ({ since }: Pick<StandingEntry, 'since'>): number => since ?? Number.NEGATIVE_INFINITY;

/** Whether this machine has already reported a date as missed or failed. */
const isReported = ({ day, verdict }: PlannedDate, { closed, reopened = [] }: Facts): boolean =>
  (verdict === 'missed' || verdict === 'failed') &&
  closed !== undefined &&
  day <= closed &&
  !reopened.includes(day);

/**
 * Time from which the dates of a new schedule count, in ms since the epoch. This is the current time. If today is named
 * by `starts` or `dates` and was due earlier, it is today's due time. Pure.
 */
export function sinceFor(schedule: Schedule, now: number): number {
  const today = dayAt(schedule.timeZone, now);
  const isNamed = schedule.recurs ? schedule.recurs.starts === today : schedule.dates.includes(today);
  return isNamed ? Math.min(now, dueAt(schedule, today)) : now;
}

/** The time from which dates count, and later dates that nevertheless do not count. */
export interface Counting {
  /** Ms since the epoch. */
  readonly since: number;
  readonly left: readonly Day[];
}

/**
 * Decides which dates of a changed schedule count. All future dates count. A past date counts only if the previous
 * schedule also had it and it is not too late for that date. Pure.
 * @param named tells whether the change itself names dates.
 */
export function countAfter(
  before: StandingEntry,
  after: StandingEntry,
  now: number,
  { named }: { readonly named: boolean },
): Counting {
  const { schedule, lateMs } = after;
  const { timeZone } = schedule;
  const base = named ? sinceFor(schedule, now) : now;
  const reach = Math.max(lateMs, before.lateMs);
  const past = occurrences(schedule, dayAt(timeZone, now - reach), dayAt(timeZone, now))
    .map((day) => ({ day, at: dueAt(schedule, day) }))
    .filter(({ at }) => at < base);
  const stays = ({ day }: { readonly day: Day }): boolean => isOpen(before, day, now);
  const since = past.find(stays)?.at ?? base;
  return { since, left: past.filter((one) => one.at >= since && !stays(one)).map(({ day }) => day) };
}

/** Whether an entry has a certain date, and it is not too late to buy it. The date may be in the past or the future. */
function isOpen(entry: StandingEntry, day: Day, now: number): boolean {
  if (entry.skipped.includes(day) || occurrences(entry.schedule, day, day).length === 0) return false;
  const at = dueAt(entry.schedule, day);
  return at >= sinceOf(entry) && now <= at + entry.lateMs;
}

/** Whether a date is due and it is not too late to buy it. Existing orders do not matter. Pure. */
export function couldBeBought(entry: StandingEntry, day: Day, now: number): boolean {
  if (occurrences(entry.schedule, day, day).length === 0) return false;
  const at = dueAt(entry.schedule, day);
  return at >= sinceOf(entry) && at <= now && now <= at + entry.lateMs;
}

/**
 * Whether an order for another date makes the order for this date unnecessary. The order must be live, or possibly
 * live. Pure.
 */
export const covers = (
  { schedule }: Pick<StandingEntry, 'schedule'>,
  { day, state }: Pick<DateOrder, 'day' | 'state'>,
  other: Day,
): boolean =>
  day !== other && (state === 'placed' || state === 'intended') && Math.abs(day - other) < halfStep(schedule);

function planDate(entry: StandingEntry, { now, orders }: Facts, day: Day, at: number): PlannedDate {
  const isTooLate = now > at + entry.lateMs;
  const isOver = now > at + entry.lateMs + maxLagMs;
  const own = orders.filter((order) => order.day === day && order.state !== 'intended');
  const live = own.find(({ state }) => state === 'placed');
  const withdrawn = own.find(({ state }) => state === 'cancelled' || state === 'returned');
  const near = orders.filter((order) => covers(entry, order, day));
  const covering = near.find(({ state }) => state === 'placed');
  const decided = (verdict: Verdict, order?: DateOrder): PlannedDate => ({
    ...{ day, dueAt: at, verdict, order, isOver },
  });
  if (live) return decided('bought', live);
  if (entry.skipped.includes(day)) return decided('skipped');
  if (withdrawn) return decided('withdrawn', withdrawn);
  if (covering) return decided('covered', covering);
  if (at > now) return decided('upcoming');
  const [last] = own.toSorted((a, b) => b.madeAt - a.madeAt);
  if (isTooLate && !isOver) return decided('closing', last);
  if (isOver) return last ? decided('failed', last) : decided('missed');
  if (near[0]) return decided('unsettled', near[0]);
  const isTooSoon = last?.version === entry.version && now < last.madeAt + retryAfterMs(entry);
  return decided(isTooSoon ? 'waiting' : 'place', last);
}

/**
 * How long, in ms, to wait after a failed order before the next order for the same date is placed. There is no wait if
 * the entry was changed after the failed order.
 */
export const retryAfterMs = ({ lateMs }: Pick<StandingEntry, 'lateMs'>): number =>
  Math.max(lateMs / 8, Math.min(3600 * 1000, lateMs / 4));

/**
 * Finds an order that was placed from a different file. The version of such an order is neither the entry's current
 * version nor an earlier version. Orders for dates before the last order of a known version are ignored, because this
 * machine may have forgotten their versions. Pure.
 * @param known lists the versions with which this machine has run.
 */
export function foreignOrder(
  { version, former }: StandingEntry,
  orders: readonly DateOrder[],
  known: readonly string[],
): DateOrder | undefined {
  const own = new Set([version, ...former, ...known]);
  const isOwn = (order: DateOrder): boolean => order.version !== undefined && own.has(order.version);
  const lastOwn = Math.max(Number.NEGATIVE_INFINITY, ...orders.filter(isOwn).map(({ day }) => day));
  return orders.find((order) => order.version !== undefined && !isOwn(order) && order.day > lastOwn);
}

/**
 * Time before which no date of an entry can be due, in ms since the epoch. Undefined if a date may be due now. Pure.
 * @param now is this machine's time, which may be wrong by `maxClockErrorMs`.
 */
export function idleUntil(
  { schedule, lateMs, skipped, isPaused, since }: StandingEntry,
  now: number,
  closed: Day | undefined,
): number | undefined {
  if (isPaused) return Number.MAX_SAFE_INTEGER;
  const { timeZone } = schedule;
  const added = since === undefined ? undefined : dayAt(timeZone, since);
  const first = Math.max(
    closed === undefined ? dayAt(timeZone, now - lateMs - maxClockErrorMs) - 1 : closed + 1,
    added ?? Number.NEGATIVE_INFINITY,
    dayAt(timeZone, now) - maxReported,
  );
  const reach = Math.max(first, dayAt(timeZone, now)) + maxIdleDays;
  const next = occurrences(schedule, first, reach).find(
    (day) => !skipped.includes(day) && dueAt(schedule, day) >= sinceOf({ since }),
  );
  const until = next === undefined ? (reach - 3) * dayMs : dueAt(schedule, next) - maxClockErrorMs;
  return until > now ? until : undefined;
}

/** How many days ahead to search for the next date. */
const maxIdleDays = 2000;
