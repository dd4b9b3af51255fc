import { parseDate } from '../../format/time.ts';
import { UsageError } from '../../platform/errors.ts';
import { beginOf, datesIn } from '../policy/periods.ts';

/** When the orders of a report were created; ISO 8601 in UTC. */
export interface Span {
  /** The first moment of it. */
  readonly since?: string;
  /** The first moment after it. */
  readonly before?: string;
}

const dayMs = 24 * 3600 * 1000;
const dayShape = /^(\d{4})-(\d\d)-(\d\d)$/;
const monthShape = /^(\d{4})-(\d\d)$/;

/**
 * What `--since` and `--until` say. A day or a month is whole, and that of the zone: `--until 2026-11-30` and
 * `--until 2026-11` both reach to the end of November. A time is a moment. Pure.
 * @param now ms since the epoch. @throws UsageError naming the flag.
 */
export function spanOf(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  timeZone: string,
  now: number,
): Span {
  const first = since === undefined ? undefined : edgesOf(since, '--since', timeZone, now)[0];
  const end = until === undefined ? undefined : edgesOf(until, '--until', timeZone, now)[1];
  if (first !== undefined && end !== undefined && first >= end)
    throw new UsageError(`--until ${until} ends before --since ${since} begins`);
  return {
    ...(first !== undefined && { since: new Date(first).toISOString() }),
    ...(end !== undefined && { before: new Date(end).toISOString() }),
  };
}

/** The first moment of what was named, and the first after it. */
function edgesOf(text: string, flag: string, timeZone: string, now: number): readonly [number, number] {
  const dateAt = datesIn(timeZone);
  const named = dayNamed(text.trim(), now, dateAt);
  const month = monthShape.exec(named);
  if (month) {
    const [year, number] = [Number(month[1]), Number(month[2])];
    if (number < 1 || number > 12) throw new UsageError(`${flag}: there is no ${text}`);
    return [beginOf(Date.UTC(year, number - 1), dateAt), beginOf(Date.UTC(year, number), dateAt)];
  }
  const more = ', or a month (2026-01)';
  const at = Date.parse(parseDate(named, flag, now, more));
  if (!dayShape.test(named)) return [at, at];
  return [beginOf(at, dateAt), beginOf(at + dayMs, dateAt)];
}

function dayNamed(text: string, now: number, dateAt: (moment: number) => string): string {
  if (text === 'today') return dateAt(now);
  if (text !== 'yesterday') return text;
  return new Date(Date.parse(dateAt(now)) - dayMs).toISOString().slice(0, 10);
}
