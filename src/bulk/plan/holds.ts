import type { Context } from '../../context.ts';
import type { ErrandError } from '../../errors.ts';
import { planLifeMs } from './life.ts';
import type { ReadPlan } from './read.ts';
import { planRefused } from './refusal.ts';

/** How much the clocks of two machines may differ, ms. */
const clocksDifferMs = 3600 * 1000;

interface Stale {
  readonly code: string;
  readonly what: string;
  readonly hint: string;
}

/** Why a plan cannot be applied here and now, whatever its rows; undefined where it can. */
export async function staleness(context: Context, { plan }: ReadPlan): Promise<Stale | undefined> {
  const now = context.clock.now();
  const made = Date.parse(plan.created_at);
  const { baseUrl, profile } = context.settings;
  const again = 'Plan again: rows that were ordered keep their keys, and are not ordered twice.';
  if (now >= Math.min(Date.parse(plan.expires_at), made + planLifeMs))
    return {
      code: 'plan_expired',
      what: `has expired: it was made at ${plan.created_at}, and a plan holds for 24 hours`,
      hint: again,
    };
  if (made > now + clocksDifferMs)
    return {
      code: 'plan_expired',
      what: `was made at ${plan.created_at}, which is in the future here`,
      hint: 'Set the clock of this machine, or plan again.',
    };
  if (plan.service !== baseUrl.value)
    return {
      code: 'plan_elsewhere',
      what: `was made for another service: ${plan.service}, and this is ${baseUrl.value}`,
      hint: `It was made with the profile ${plan.profile}: --profile or --base-url names it.`,
    };
  const { account, keyMasked } = await context.sender();
  if (plan.account !== account)
    return {
      code: 'plan_elsewhere',
      what: `was made for another account: with the key ${plan.key} of the profile ${plan.profile}, and this is ${keyMasked} of ${profile.value}`,
      hint: 'Use the key that it was made with, or plan again with this one.',
    };
  return undefined;
}

/** @throws ErrandError policy, naming the rows that are not placed. */
export async function checkHolds(context: Context, read: ReadPlan, rows: readonly number[]): Promise<void> {
  const stale = await staleness(context, read);
  if (stale) throw refusedFor(context, read, rows, stale);
}

const refusedFor = (
  context: Context,
  { path, plan }: ReadPlan,
  rows: readonly number[],
  stale: Stale,
): ErrandError => planRefused(context, { path, rows, file: plan.file.name, ...stale });
