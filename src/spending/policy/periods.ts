/** A day or a month in a time zone. */
export interface Period {
  /** `2026-11-22` or `2026-11`, as it is called there. */
  readonly name: string;
  /** Ms since the epoch; the first moment of it. */
  readonly begin: number;
  /** The first moment after it. */
  readonly end: number;
}

export interface Periods {
  readonly day: Period;
  readonly month: Period;
}

const hourMs = 3600 * 1000;
const dayMs = 24 * hourMs;
/** No zone is further from UTC, and no day is longer by more, ms. */
const zoneMs = 15 * hourMs;

/** The day and the month of a moment in a zone, also where its clock is changed then. Pure. @param now ms since the epoch. */
export function periodsAt(now: number, timeZone: string): Periods {
  const dateAt = datesIn(timeZone);
  const [year = 0, month = 0, date = 0] = dateAt(now).split('-').map(Number);
  const period = (name: string, first: number, next: number): Period => ({
    name,
    begin: beginOf(first, dateAt),
    end: beginOf(next, dateAt),
  });
  const day = Date.UTC(year, month - 1, date);
  return {
    day: period(nameOf(day), day, day + dayMs),
    month: period(nameOf(day).slice(0, 7), Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)),
  };
}

const nameOf = (midnight: number): string => new Date(midnight).toISOString().slice(0, 10);

/**
 * When a date of the calendar begins in a zone, ms since the epoch; one that the zone has skipped begins with the next.
 * @param midnight of the date in UTC. @param dateAt of `datesIn`.
 */
export function beginOf(midnight: number, dateAt: (moment: number) => string): number {
  const name = nameOf(midnight);
  let [before, after] = [midnight - zoneMs - dayMs, midnight + zoneMs + dayMs];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dateAt(middle) >= name) after = middle;
    else before = middle;
  }
  return after;
}

/** From a moment to the date in a zone, `2026-11-22`. */
export function datesIn(timeZone: string): (moment: number) => string {
  if (timeZone === 'UTC') return (moment) => new Date(moment).toISOString().slice(0, 10);
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (moment) => {
    const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}-${parts.day}`;
  };
}

/** A time zone as it is spelt in the database of zones; undefined for one that is not known. */
export function zoneNamed(name: string): string | undefined {
  if (/^(?:utc|etc\/utc|gmt|etc\/gmt)$/i.test(name)) return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
