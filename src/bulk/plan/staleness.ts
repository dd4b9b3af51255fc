import { journalCommand } from '../../journal/journal-command.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { type Again, planAgain, whereOf } from './again.ts';
import { type DecidedPlan, numbersIn, sentRows } from './decided.ts';
import { planLifeMs } from './file.ts';
import { planRefused, type ReadPlan } from './read.ts';

/** Tolerated difference between the clocks of machines, in ms. */
const clocksDifferMs = 3600 * 1000;

interface Stale {
  readonly code: 'plan_expired' | 'plan_elsewhere';
  readonly what: string;
}

/** Why a plan as a whole cannot be applied here and now; undefined if it can. */
export async function staleness(context: Context, { plan }: ReadPlan): Promise<Stale | undefined> {
  const now = context.clock.now();
  const made = Date.parse(plan.created_at);
  const { baseUrl, profile } = context.settings;
  if (plan.service !== baseUrl.value)
    return {
      code: 'plan_elsewhere',
      what: `was made for another service: ${plan.service}, and this is ${baseUrl.value}`,
    };
  const { account, keyMasked } = await context.sender();
  if (plan.account !== account)
    return {
      code: 'plan_elsewhere',
      what: `was made for another account: with the key ${plan.key} of the profile ${plan.profile}, and this is ${keyMasked} of ${profile.value}`,
    };
  if (now >= Math.min(Date.parse(plan.expires_at), made + planLifeMs))
    return {
      code: 'plan_expired',
      what: `has expired: it was made at ${plan.created_at}, and a plan holds for 24 hours`,
    };
  if (made > now + clocksDifferMs)
    return {
      code: 'plan_expired',
      what: `was made at ${plan.created_at}, which is in the future here; set the clock of this machine, or plan again`,
    };
  return undefined;
}

/**
 * Checks that the plan is still valid here. Rows that were sent before stay valid however old the plan is. @throws
 * ErrandError (policy) naming the rows that the invalid plan would otherwise place.
 */
export async function checkHolds(context: Context, read: ReadPlan, work: DecidedPlan): Promise<void> {
  const stale = await staleness(context, read);
  if (!stale) return;
  const rows = numbersIn(work.rest);
  if (stale.code === 'plan_expired' && rows.length + work.inDoubt.length === 0) return;
  throw planRefused({
    ...{ path: read.path, rows, sent: sentRows(work), ...stale },
    ...(await wayOn(context, read, work, stale)),
  });
}

async function wayOn(
  context: Context,
  read: ReadPlan,
  { inDoubt }: DecidedPlan,
  { code }: Stale,
): Promise<Again> {
  if (code === 'plan_elsewhere') {
    const where = await whereOf(context, read.plan);
    return {
      hint: 'Use the key that it was made with: under another account each row would be a new order.',
      ...(where !== undefined && {
        next: [{ command: `errand bulk apply ${shellWord(read.path)}${where}`, when: 'to apply it there' }],
      }),
    };
  }
  const again = await planAgain(context, read);
  const settle = inDoubt.map(({ key }) => ({
    command: journalCommand('resume', key, whereFlags(context)),
    when: 'first: it is in doubt',
  }));
  return { ...again, next: [...settle, ...(again.next ?? [])] };
}
