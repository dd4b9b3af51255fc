import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { loadPolicy } from '../policy/load.ts';
import { zoneNamed } from '../policy/policy.ts';

export interface ReportZone {
  /** IANA name. */
  readonly timeZone: string;
  /** Note for people, such as `time zone: UTC (change it with --time-zone)`. */
  readonly note: string;
}

/**
 * The time zone in which a report counts days and months. It comes from `--time-zone`. Without that flag it comes from
 * the policy, and without a policy it is UTC.
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
  const timeZone = policy?.timeZone ?? 'UTC';
  const from = policy ? `from the policy ${policy.file}` : 'change it with --time-zone';
  return { timeZone, note: `time zone: ${timeZone} (${from})` };
}
