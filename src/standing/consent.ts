import type { JsonObject } from '../api/json.ts';
import { objectsIn } from '../api/json.ts';
import { formatMoney } from '../format/money.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { loadPolicy } from '../spending/policy/load.ts';
import type { LimitKind } from '../spending/policy/policy.ts';

/**
 * Whether the policy limits what every order may spend, or requires a person's approval above some amount. Without such
 * a rule, a policy does not count as consent.
 * @throws ErrandError if the policy cannot be used.
 */
export async function isLimited(context: Context): Promise<boolean> {
  const policy = await loadPolicy(context);
  if (!policy) return false;
  const { approveAbove, limits } = policy;
  return approveAbove !== undefined || limits.some(({ scope, kind }) => !scope && isAmount.has(kind));
}

const isAmount: ReadonlySet<LimitKind> = new Set(['per_order', 'per_day', 'per_month']);

/**
 * Obtains a person's consent that an entry spends real money on each of its dates. If the policy limits spending,
 * nobody is asked, because the policy then decides about each order.
 * @param when describes the schedule in words.
 * @returns the value for the entry's field `live`.
 * @throws UsageError if nobody can answer and no policy limits spending; ErrandError interrupted if the answer is not
 * yes.
 */
export async function agreeToSpend(
  context: Context,
  { name, order, when }: { readonly name: string; readonly order: JsonObject; readonly when: string },
): Promise<true | 'policy'> {
  if (await isLimited(context)) {
    context.note(`real money: your policy decides about each order of ${name}`);
    return 'policy';
  }
  if (!context.interactive.yes)
    throw new UsageError(
      `this spends real money on each date: somebody has to type yes at a terminal, or a policy has to hold that limits it; ${context.interactive.why}`,
      { next: [{ command: 'errand policy init', when: 'to say what may be spent' }] },
    );
  const { max_price: ceiling, shipping_address: to } = order;
  const lines = [
    ...objectsIn(order, 'products').map(({ quantity = 1, url }) => `  ${quantity} x ${url}`),
    `  ceiling  ${typeof ceiling === 'number' ? formatMoney(ceiling) : ceiling} and the service's fee, each time`,
    `  ship to  ${addressText(Object(to))}`,
    `  when     ${when}`,
  ];
  for (const line of lines) context.note(line);
  const typed = await context.askText('Type yes to have this bought with real money on each date');
  if (typed.trim().toLowerCase() === 'yes') return true;
  throw new ErrandError('interrupted', 'nothing was changed', { outcome: 'not_sent' });
}

const addressText = (to: Readonly<Record<string, unknown>>): string =>
  [
    `${to.first_name} ${to.last_name}`,
    to.address_line1,
    [to.city, to.state, to.postal_code, to.country].filter(Boolean).join(' '),
  ]
    .filter(Boolean)
    .join(', ');
