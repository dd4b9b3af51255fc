import { UsageError } from '../platform/errors.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const steps = [
  [day, 'd'],
  [hour, 'h'],
  [minute, 'm'],
  [second, 's'],
] as const;

/**
 * Formats a time relative to now: `3s ago`, `2h ago`, `in 5m`. If the time is over 30 days away, returns the date
 * instead. An invalid time stays unchanged. @param now is in ms since the epoch.
 */
export function relativeTime(iso: string, now: number): string {
  const at = readTime(iso);
  if (at === undefined) return iso;
  const distance = Math.abs(now - at);
  if (distance > 30 * day) return new Date(at).toISOString().slice(0, 10);
  const step = steps.find(([length]) => distance >= length);
  if (!step) return 'now';
  const amount = `${Math.floor(distance / step[0])}${step[1]}`;
  return at <= now ? `${amount} ago` : `in ${amount}`;
}

/**
 * Formats an offset from the start: `+2.5 s`, `+3.1 h`, `0 s`. Returns undefined if the offset is not finite. @param ms
 * may be negative.
 */
export function spanText(ms: number): string | undefined {
  if (!Number.isFinite(ms)) return undefined;
  if (ms === 0) return '0 s';
  const [length, name] = spans.find(([one]) => Math.abs(ms) >= one) ?? [second, 's'];
  return `${ms < 0 ? '' : '+'}${Math.round((ms / length) * 10) / 10} ${name}`;
}

const spans = [
  [day, 'd'],
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
] as const;

/** Formats a time as `2026-01-02 03:04:05Z`; leaves an invalid time unchanged. */
export function absoluteTime(iso: string): string {
  const at = readTime(iso);
  return at === undefined ? iso : `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

const isoShape =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an ISO 8601 date or time to ms since the epoch. If no zone is given, assumes UTC. Undefined for an invalid
 * date.
 */
function readTime(text: string): number | undefined {
  const found = isoShape.exec(text);
  if (!found) return undefined;
  const [year = 0, month = 0, date = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const midnight = new Date(Date.UTC(year, month - 1, date));
  midnight.setUTCFullYear(year);
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== date) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const offset = zoneOffset(found[8] ?? 'Z');
  if (offset === undefined) return undefined;
  const fraction = Number((found[7] ?? '').padEnd(3, '0').slice(0, 3));
  const at = midnight.getTime() + hours * hour + minutes * minute + seconds * second + fraction - offset;
  // In UTC, the year must also have four digits.
  return at >= earliest && at <= latest ? at : undefined;
}

/** Offset of a time zone (`Z`, `+02:00`) from UTC, in ms. */
function zoneOffset(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * hour + minutes * minute);
}

/**
 * Parses a point in time from a flag. Accepts `2026-01-31` (midnight UTC), a full ISO time (in UTC if no zone is
 * given), `today` or `yesterday` (midnight UTC), and a time ago such as `7d`, `12h` or `30m`. @param more is a further
 * accepted form, for the error message. @returns ISO 8601 in UTC. @throws UsageError naming the flag.
 */
export function parseDate(text: string, flag: string, now: number = Date.now(), ...more: string[]): string {
  const trimmed = text.trim();
  const midnight = Math.floor(now / day) * day;
  if (trimmed === 'today') return new Date(midnight).toISOString();
  if (trimmed === 'yesterday') return new Date(midnight - day).toISOString();
  const at = readAge(trimmed, now) ?? readTime(trimmed);
  if (at !== undefined) return new Date(at).toISOString();
  if (isoShape.test(trimmed)) throw new UsageError(`${flag}: there is no ${trimmed}`);
  throw new UsageError(
    `${flag} takes ${['a date (2026-01-31)', ...more, 'today', 'yesterday', 'an age (7d)'].join(', ')} or a time (2026-01-31T09:00:00Z), not "${text}"`,
  );
}

/** How error messages describe a month. */
export const monthForm = 'a month (2026-01)';

/**
 * Parses the start or the end of a period. Accepts the forms of `parseDate`, and a month (2026-01). If the end is a day
 * or a month, the result is the first moment after it. @throws UsageError naming the flag.
 */
export function parseEdge(text: string, flag: string, now: number, edge: 'first' | 'end'): string {
  const trimmed = text.trim();
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(trimmed) ?? [];
  if (year !== undefined && month !== undefined)
    return new Date(Date.UTC(Number(year), Number(month) - (edge === 'first' ? 1 : 0))).toISOString();
  const at = parseDate(text, flag, now, monthForm);
  const isDay = /^(?:\d{4}-\d\d-\d\d|today|yesterday)$/.test(trimmed);
  return edge === 'end' && isDay ? new Date(Date.parse(at) + day).toISOString() : at;
}

function readAge(text: string, now: number): number | undefined {
  const found = /^(\d{1,5})([dhm])$/.exec(text);
  const step = steps.find(([, unit]) => unit === found?.[2]);
  return found && step ? now - Number(found[1]) * step[0] : undefined;
}

/**
 * Formats a duration in the largest unit in which it is a whole number: `7 days`, `a day`, `36 hours`, `90 minutes`.
 * @param ms is the duration.
 */
export function durationText(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1000],
  ] as const;
  const [name, length] = units.find(([, unit]) => ms >= unit && ms % unit === 0) ?? ['ms', 1];
  const count = ms / length;
  if (name === 'ms') return `${count} ms`;
  return count === 1 ? `${name === 'hour' ? 'an' : 'a'} ${name}` : `${count} ${name}s`;
}

/** Formats a duration in the form that a flag accepts: `90s`, `2h`. */
export function durationFlag(ms: number): string {
  const units = [
    ['d', day],
    ['h', hour],
    ['m', minute],
    ['s', second],
  ] as const;
  const [name, length] = units.find(([, unit]) => ms >= unit && ms % unit === 0) ?? ['ms', 1];
  return `${ms / length}${name}`;
}
