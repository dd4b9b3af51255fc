import { UsageError } from './errors.ts';

/** Longest delay of a timer, in whole days. */
const maxTimerDays = 24;

const durationShape = /^(?=\d)(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?(?:(\d{1,9})ms)?$/;

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * Parses `30s`, `5m`, `1h30m`, `2d` or `500ms` to ms. By default, the maximum is 24 days, which is the limit of a
 * timer.
 * @throws UsageError naming the flag. For a bare number, the error asks for a unit.
 */
export function parseDuration(text: string, flag: string, maxDays = maxTimerDays): number {
  const trimmed = text.trim();
  const found = durationShape.exec(trimmed);
  if (!found) {
    if (/^\d+$/.test(trimmed))
      throw new UsageError(
        `${flag} ${trimmed} names no unit: write ${trimmed}s, ${trimmed}m or ${trimmed}ms`,
      );
    throw new UsageError(
      `${flag} takes a length of time, such as 30s, 5m, 1h30m, 2d or 500ms, not "${text}"`,
    );
  }
  const units = [day, hour, minute, second, 1];
  const total = units.reduce((sum, unit, index) => sum + unit * Number(found[index + 1] ?? 0), 0);
  if (total > maxDays * day) throw new UsageError(`${flag} ${trimmed} is too long; the most is ${maxDays}d`);
  return total;
}
