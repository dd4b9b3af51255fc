import type { Output } from '../../api/outputs/index.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { type Policy, periodsAt, scopeText } from './policy.ts';
import { settleUnsettled } from './settle.ts';
import { usedIn } from './verdict.ts';

/** What a limit of a day or month has left. Amounts in cents. */
export type ShownUsage = Output<'PolicyUsage'>;

/** What the limits of a day or month have left. @throws StorageError where the journal cannot be read. */
export async function shownUsage(
  context: OrderContext,
  policy: Policy,
  { refresh, isRehearsal }: { readonly refresh: boolean; readonly isRehearsal: boolean },
): Promise<ShownUsage[]> {
  const periods = periodsAt(context.clock.now(), policy.timeZone);
  const since = Math.min(periods.month.begin, periods.day.begin);
  const isBegun = journalExists(context.settings);
  if (refresh && isBegun) await settleUnsettled(context, since);
  const all = isBegun ? (await context.journal()).reservations.since(since) : [];
  const standing = all.filter((one) => one.isRehearsal === isRehearsal);
  const open = standing.filter(({ state }) => state === 'held');
  return policy.limits.flatMap(({ rule, kind, most, scope }) => {
    if (kind !== 'per_day' && kind !== 'per_month') return [];
    const period = kind === 'per_day' ? periods.day : periods.month;
    const used = usedIn(standing, scope, period);
    return {
      rule,
      applies_to: scopeText(scope) ?? null,
      period: period.name,
      resets_at: new Date(period.end).toISOString(),
      limit_cents: most,
      used_cents: used,
      open_cents: usedIn(open, scope, period),
      left_cents: Math.max(0, most - used),
      used_share: most === 0 ? 1 : Math.round((used / most) * 1000) / 1000,
    };
  });
}
