/** A calendar date as the number of days since 1970-01-01. */
export type Day = number;

const dayMs = 24 * 3600 * 1000;
const minuteMs = 60_000;

/** Parses a date such as `2026-12-01`; undefined if there is no such date. */
export function dayOf(text: string): Day | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return dateText(ms / dayMs) === text ? ms / dayMs : undefined;
}

/** A date as text: `2026-12-01`. */
export const dateText = (day: Day): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** How often something recurs. Weeks are converted to days. */
export interface Cadence {
  readonly unit: 'day' | 'month';
  readonly every: number;
}

const units = { d: ['day', 1], w: ['day', 7], mo: ['month', 1] } as const;
const maxDays = 366;
const maxMonths = 60;

/** Parses `1d`, `2w` or `1mo`; undefined if it is anything else, or longer than 366 days or 60 months. */
export function parseCadence(text: string): Cadence | undefined {
  const [, count = '', name = ''] = /^([1-9]\d{0,2})(d|w|mo)$/.exec(text.trim()) ?? [];
  const [unit, days] = units[name as keyof typeof units] ?? [];
  if (unit === undefined || days === undefined) return undefined;
  const every = Number(count) * days;
  return every > (unit === 'day' ? maxDays : maxMonths) ? undefined : { unit, every };
}

/** A cadence as it is typed: `2w`, `10d`, `1mo`. */
export const cadenceText = ({ unit, every }: Cadence): string =>
  unit === 'month' ? `${every}mo` : every % 7 === 0 ? `${every / 7}w` : `${every}d`;

/** When something recurs. */
export interface Schedule {
  /** First date and cadence; undefined if the dates are listed. */
  readonly recurs: { readonly starts: Day; readonly cadence: Cadence } | undefined;
  /** Dates in ascending order; empty if the schedule recurs. */
  readonly dates: readonly Day[];
  /** Last date on which the schedule may occur. */
  readonly ends: Day | undefined;
  /** Total number of dates, counted from the first date. */
  readonly count: number | undefined;
  /** Local time of day, minutes. */
  readonly atMinute: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** Dates of a schedule between two dates, both inclusive. Pure. */
export function occurrences({ recurs, dates, ends, count }: Schedule, from: Day, to: Day): readonly Day[] {
  const last = Math.min(to, ends ?? to);
  if (!recurs) return dates.slice(0, count ?? dates.length).filter((day) => day >= from && day <= last);
  const { starts, cadence } = recurs;
  const found: Day[] = [];
  for (
    let index = indexBefore(starts, cadence, from);
    index < (count ?? Number.POSITIVE_INFINITY);
    index += 1
  ) {
    const day = dateAt(starts, cadence, index);
    if (day > last) break;
    if (day >= from) found.push(day);
  }
  return found;
}

/** Index of an occurrence that is on or before `from`. If there is none, 0. */
function indexBefore(starts: Day, { unit, every }: Cadence, from: Day): number {
  const days = unit === 'day' ? every : every * 31;
  return Math.max(0, Math.floor((from - starts) / days) - 1);
}

/**
 * Date of the occurrence with a given index. If the schedule starts on the 31st, the last day is used in a shorter
 * month.
 */
function dateAt(starts: Day, { unit, every }: Cadence, index: number): Day {
  if (unit === 'day') return starts + index * every;
  const first = new Date(starts * dayMs);
  const month = first.getUTCMonth() + index * every;
  const lastOfMonth = new Date(Date.UTC(first.getUTCFullYear(), month + 1, 0)).getUTCDate();
  return Date.UTC(first.getUTCFullYear(), month, Math.min(first.getUTCDate(), lastOfMonth)) / dayMs;
}

/** Maximum number of days between consecutive dates of a schedule; 1 if its dates are listed. */
export const stepDays = ({ recurs }: Schedule): number =>
  recurs === undefined ? 1 : recurs.cadence.unit === 'day' ? recurs.cadence.every : recurs.cadence.every * 31;

/**
 * Maximum distance, in days, at which an order can replace the order for another date after the dates have moved. This
 * is half of the cadence, or 0 if the dates are listed.
 */
export const halfStep = ({ recurs }: Schedule): number =>
  recurs === undefined
    ? 0
    : recurs.cadence.unit === 'day'
      ? recurs.cadence.every / 2
      : recurs.cadence.every * 15;

/** The first `count` dates on or after `from`. Pure. */
export function nextDates(schedule: Schedule, from: Day, count: number): readonly Day[] {
  const reach = schedule.recurs ? stepDays(schedule) * (count + 1) : Number.MAX_SAFE_INTEGER;
  const first = Math.max(from, schedule.recurs?.starts ?? from);
  return occurrences(schedule, first, first + reach).slice(0, count);
}

/**
 * When an order for a date is due, in ms since the epoch. If the time zone skips the local time, this is the first
 * moment after the gap. If the local time occurs twice, this is the first occurrence. Pure.
 */
export function dueAt({ atMinute, timeZone }: Schedule, day: Day): number {
  const wall = day * dayMs + atMinute * minuteMs;
  if (timeZone === 'UTC') return wall;
  const offset = offsetsIn(timeZone);
  // Search within these 28 hours. No offset from UTC exceeds 14 hours, and the clocks change at most once in this time.
  const [before, after] = [offset(wall - 15 * 60 * minuteMs), offset(wall + 13 * 60 * minuteMs)];
  const moments = [wall - before, wall - after].filter((moment) => moment + offset(moment) === wall);
  if (moments.length > 0) return Math.min(...moments);
  return changeBetween(offset, wall - after, wall - before);
}

/** Finds the first moment at which the offset of a time zone differs from the offset at `early`. */
function changeBetween(offset: (moment: number) => number, early: number, late: number): number {
  const first = offset(early);
  let [low, high] = [early, late];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offset(middle) === first) low = middle;
    else high = middle;
  }
  return high;
}

/** The local date at a moment. */
export const dayAt = (timeZone: string, moment: number): Day =>
  Math.floor((moment + offsetsIn(timeZone)(moment)) / dayMs);

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a function that computes the offset, in ms, of a time zone from UTC at a given moment. */
function offsetsIn(timeZone: string): (moment: number) => number {
  if (timeZone === 'UTC') return () => 0;
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, calendar: 'iso8601', numberingSystem: 'latn', hourCycle: 'h23' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    formats.set(timeZone, format);
  }
  const known = format;
  return (moment) => {
    const parts = new Map(known.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const date = Date.UTC(part('year'), part('month') - 1, part('day'));
    const time = part('hour') * 3600 + part('minute') * 60 + part('second');
    return date + time * 1000 - Math.floor(moment / 1000) * 1000;
  };
}
