import { formatMoney } from '../../format/money.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { isAmount } from '../typed-amount.ts';
import type { Verdict } from './finding.ts';
import type { Policy } from './policy.ts';
import { against, findingText, type PolicyRefusal } from './refusal.ts';

/** Most findings that are told one by one. */
const mostTold = 10;

/** What somebody at a terminal has agreed to, against the policy. */
export interface Overridden {
  readonly reason: string;
  /** Whether a verdict says no more than what was shown. */
  covers(verdict: Verdict): boolean;
}

/** @throws ErrandError policy where the policy forbids to overrule it. */
export function checkOverride({ overrides, file }: Policy, refusal: PolicyRefusal): void {
  if (overrides === 'never') throw not(refusal, `${file} says overrides: never`);
}

/**
 * Has whoever sits at the terminal type the amount that the policy does not let through.
 * @throws ErrandError policy where nobody is there, or something else is typed.
 */
export async function confirmOverride(
  context: OrderContext,
  refusal: PolicyRefusal,
  reason: string,
): Promise<Overridden> {
  const { verdict } = refusal;
  if (!context.interactive.yes)
    throw not(refusal, `--override-policy works on a terminal only, and ${context.interactive.why}`);
  const refused = verdict.rows.filter(({ outcome }) => outcome === verdict.outcome);
  const told = refused.length > 0 ? refused : against(verdict);
  for (const finding of told.slice(0, mostTold)) context.note(`policy: ${findingText(finding)}`);
  if (told.length > mostTold) context.note(`policy: … and ${told.length - mostTold} more`);
  context.note('policy: the audit log keeps the reason');
  const amount = formatMoney(verdict.amount_cents);
  const orders = verdict.orders === 1 ? '' : ` on ${verdict.orders} orders`;
  const typed = await context.askText(`Type ${amount} to spend it${orders} against the policy`);
  if (!isAmount(typed, verdict.amount_cents)) throw not(refusal, `not overruled: ${amount} was not typed`);
  const rules = new Set(verdict.rules.filter(({ outcome }) => outcome !== 'allowed').map(({ rule }) => rule));
  return {
    reason,
    covers: (other) =>
      other.amount_cents <= verdict.amount_cents &&
      other.rules.every(
        ({ rule, outcome }) => outcome === 'allowed' || outcome === 'warned' || rules.has(rule),
      ),
  };
}

const not = (refusal: PolicyRefusal, why: string): ErrandError =>
  new ErrandError('policy', `${refusal.message} (${why})`, refusal.facts);
