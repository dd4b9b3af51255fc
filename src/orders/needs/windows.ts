import type { Attempt } from '../../journal/attempts.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** For how long an order without a reference is taken for the same as one like it, ms. 0 turns it off. */
export interface Windows {
  /** Between two single orders. */
  readonly singleMs: number;
  /** Between two rows of files. */
  readonly rowMs: number;
}

/** Where orders are rehearsed, and how. */
export type Rehearsal = 'live' | 'test' | 'in_process';

const byDefault: Readonly<Record<Rehearsal, Windows>> = {
  live: { singleMs: 12 * hourMs, rowMs: 6 * dayMs },
  // Jobs that rehearse run again and again.
  test: { singleMs: 10 * minuteMs, rowMs: 6 * dayMs },
  // A test may place one order fifty times.
  in_process: { singleMs: 0, rowMs: 0 },
};

/** @param settingMs of the user, for single orders. */
export const windowsFor = (rehearsal: Rehearsal, settingMs?: number): Windows => ({
  ...byDefault[rehearsal],
  ...(settingMs !== undefined && { singleMs: settingMs }),
});

/** How long an order that a reference names may be shown in place of a new one without a word, ms. */
export const adoptedMs = 30 * dayMs;

/** Whether one of the two is a row of a file. */
export type Unit = 'single' | 'row';

export const unitOf = ({ upload, operation }: Pick<Attempt, 'upload' | 'operation'>): Unit =>
  upload === undefined && operation !== 'bulk.create' ? 'single' : 'row';

/** Whether an attempt is recent enough to be what is ordered now. What is from the future is. @param now by the service's clock. */
export function isWithin(attempt: Attempt, unit: Unit, { singleMs, rowMs }: Windows, now: number): boolean {
  const rows = [unit, unitOf(attempt)].filter((one) => one === 'row').length;
  const windowMs = rows === 0 ? singleMs : rows === 2 ? rowMs : Math.max(singleMs, rowMs);
  return windowMs > 0 && now - attempt.madeAt <= windowMs;
}
