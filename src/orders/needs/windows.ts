import type { Attempt } from '../../journal/attempts.ts';
import { defaultWindowMs, duplicateWindowMs } from '../../run/duplicate-window.ts';
import type { OrderContext } from '../../run/order-context.ts';

const dayMs = 24 * 3600 * 1000;

/**
 * How long an order without a reference counts as a duplicate of another order with the same content, in ms. 0 disables
 * the check.
 */
export interface Windows {
  /** Between two single orders. */
  readonly singleMs: number;
  /** Between two rows of files. */
  readonly rowMs: number;
}

/** Whether orders are live, or rehearsed (with a test key or in an embedded sandbox). */
export type Rehearsal = 'live' | 'test' | 'in_process';

const byDefault: Readonly<Record<Rehearsal, Windows>> = {
  live: { singleMs: defaultWindowMs.live, rowMs: 6 * dayMs },
  // Jobs that rehearse run repeatedly.
  test: { singleMs: defaultWindowMs.test, rowMs: 6 * dayMs },
  // A test may place the same order many times.
  in_process: { singleMs: 0, rowMs: 0 },
};

/** @param settingMs is the user's setting for single orders, in ms. */
export const windowsFor = (rehearsal: Rehearsal, settingMs?: number): Windows => ({
  ...byDefault[rehearsal],
  ...(settingMs !== undefined && { singleMs: settingMs }),
});

/** The windows for the service and key in use. In a rehearsal, a setting of 0 applies to rows too. */
export function windowsOf({
  settings,
  isRehearsal,
}: Pick<OrderContext, 'settings' | 'isRehearsal'>): Windows {
  const singleMs = duplicateWindowMs({ settings, isRehearsal });
  return windowsFor(isRehearsal() ? (singleMs === 0 ? 'in_process' : 'test') : 'live', singleMs);
}

/** How old, in ms, the live order of a reference may be to be returned instead of a new order. */
export const adoptedMs = 30 * dayMs;

/** Whether an order is single or a row of a file. */
export type Unit = 'single' | 'row';

export const unitOf = ({ upload, operation }: Pick<Attempt, 'upload' | 'operation'>): Unit =>
  upload === undefined && operation !== 'bulk.create' ? 'single' : 'row';

/**
 * Whether an attempt is recent enough to be a duplicate. An attempt dated in the future counts as recent. @param now is
 * the service's time.
 */
export function isWithin(attempt: Attempt, unit: Unit, { singleMs, rowMs }: Windows, now: number): boolean {
  const rows = [unit, unitOf(attempt)].filter((one) => one === 'row').length;
  const windowMs = rows === 0 ? singleMs : rows === 2 ? rowMs : Math.max(singleMs, rowMs);
  return windowMs > 0 && now - attempt.madeAt <= windowMs;
}

/** Maximum time, in ms, by which lists of orders lag behind. */
export const listLagMs = 300_000;

/** Hint for a request in doubt whose result the service may not list yet. */
export const waitHint = (leftMs: number): string =>
  `Run this again in ${Math.ceil(leftMs / 60_000)} min: by then the service lists what came of it.`;
