import { durationFlag } from '../format/time.ts';
import { cadenceText, dateText } from './cadence.ts';
import type { StandingEntry } from './entries.ts';

/** The schedule of an entry in the notation of its file, without unset fields. */
export interface ScheduleFields {
  readonly every?: string;
  readonly starts?: string;
  readonly dates?: readonly string[];
  readonly at: string;
  readonly time_zone: string;
  readonly late: string;
  readonly ends?: string;
  readonly count?: number;
}

/** The schedule of an entry in the notation of its file. Pure. */
export function scheduleFieldsOf({
  schedule,
  lateMs,
}: Pick<StandingEntry, 'schedule' | 'lateMs'>): ScheduleFields {
  const { recurs, dates, ends, count, atMinute, timeZone } = schedule;
  return {
    ...(recurs
      ? { every: cadenceText(recurs.cadence), starts: dateText(recurs.starts) }
      : { dates: dates.map(dateText) }),
    ...{ at: timeText(atMinute), time_zone: timeZone, late: durationFlag(lateMs) },
    ...(ends !== undefined && { ends: dateText(ends) }),
    ...(count !== undefined && { count }),
  };
}

/** A time of day as text: `07:30`. */
export const timeText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/** A moment as text: `2026-12-01T06:30Z`. */
export const isoMinute = (moment: number): string => `${new Date(moment).toISOString().slice(0, 16)}Z`;
