import { orderInputOptions } from '../orders/input/assemble.ts';
import type { Options } from '../run/option.ts';

/** Options of `add` and `edit` for the schedule of an entry. */
export const scheduleOptions = {
  every: { kind: 'text', placeholder: 'cadence', description: 'how often: 1d, 2w, 1mo', group: 'Schedule' },
  starts: {
    kind: 'text',
    placeholder: 'date',
    description: 'first date, such as 2026-12-01 (default: tomorrow)',
    group: 'Schedule',
  },
  dates: {
    kind: 'list',
    placeholder: 'dates',
    description: 'the dates, in place of --every',
    group: 'Schedule',
  },
  at: {
    kind: 'text',
    placeholder: 'time',
    description: 'local time of day (default 00:00)',
    group: 'Schedule',
  },
  timeZone: {
    kind: 'text',
    placeholder: 'zone',
    description: 'such as Europe/Berlin (default UTC)',
    group: 'Schedule',
  },
  ends: { kind: 'text', placeholder: 'date', description: 'last date', group: 'Schedule' },
  count: {
    kind: 'integer',
    min: 1,
    max: 9999,
    description: 'number of dates, from --starts',
    group: 'Schedule',
  },
  late: {
    kind: 'text',
    placeholder: 'duration',
    description: 'how late a date is still bought, such as 2d (default 1d)',
    group: 'Schedule',
  },
} as const satisfies Options;

/**
 * Options of `add` and `edit` for the order of an entry. There is no option for the idempotency key, because the key
 * follows from the entry and the date.
 */
export const { idempotencyKey: _, ...entryOrderOptions } = orderInputOptions;

type Given = {
  readonly [K in keyof typeof scheduleOptions]?: string | number | readonly string[] | undefined;
};

/** Converts options to the fields of an entry, in the notation of the file. */
export function scheduleFields({ timeZone, ...given }: Given): Readonly<Record<string, unknown>> {
  const fields = Object.keys(scheduleOptions).flatMap((key) => {
    const value = key === 'timeZone' ? timeZone : given[key as keyof typeof given];
    return value === undefined ? [] : [[key === 'timeZone' ? 'time_zone' : key, value] as const];
  });
  return Object.fromEntries(fields);
}
