import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { loadPolicy } from '../policy/load.ts';
import { zoneNamed } from '../policy/policy.ts';

export interface ReportZone {
  /** IANA name. */
  readonly timeZone: string;
  /** Note for people, such as `time zone: UTC (change it with --time-zone)`. */
  readonly note: string;
}

/**
 * The time zone in which a report counts days and months. `--time-zone` comes first, then the policy, then the
 * preference `time-zone`. Without all of these, a report on a terminal uses this machine's time zone, and any other
 * report uses UTC.
 * @throws UsageError if the time zone is not valid.
 */
export async function reportZone(context: Context, given: string | undefined): Promise<ReportZone> {
  if (given !== undefined) {
    const timeZone = zoneNamed(given);
    if (timeZone === undefined)
      throw new UsageError(`--time-zone takes a zone such as America/Chicago, not "${given}"`);
    return { timeZone, note: `time zone: ${timeZone}` };
  }
  const policy = await loadPolicy(context).catch((error: unknown) => {
    // Ignore an unusable policy, because a report spends nothing.
    if (!(error instanceof ErrandError)) throw error;
    context.note(`${error.message}; its time zone is not known`);
    return undefined;
  });
  if (policy)
    return { timeZone: policy.timeZone, note: noteOf(policy.timeZone, `from the policy ${policy.file}`) };
  const { preferences } = (await context.store()).stored;
  const preferred = preferences['time-zone'];
  if (typeof preferred === 'string')
    return { timeZone: preferred, note: noteOf(preferred, 'from `errand config`') };
  // A person expects days as on a clock on the wall. A script must get the same rows on every machine.
  const own = isOnScreen(context) ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined;
  const timeZone = zoneNamed(own ?? 'UTC') ?? 'UTC';
  return { timeZone, note: noteOf(timeZone, 'change it with --time-zone') };
}

const noteOf = (timeZone: string, from: string): string => `time zone: ${timeZone} (${from})`;
