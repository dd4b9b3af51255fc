import type { JsonObject } from '../api/json.ts';
import { objectsIn } from '../api/json.ts';
import { formatMoney } from '../format/money.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { hasPolicy } from '../spending/policy-gate.ts';

/**
 * Has somebody agree that an entry spends real money on each of its dates. Where a policy holds, it decides about each
 * order instead.
 * @param when says in words when it is bought.
 * @throws UsageError if nobody can answer and there is no policy; ErrandError interrupted if the answer is not yes.
 */
export async function agreeToSpend(
  context: Context,
  { name, order, when }: { readonly name: string; readonly order: JsonObject; readonly when: string },
): Promise<void> {
  if (await hasPolicy(context)) {
    context.note(`real money: your policy decides about each order of ${name}`);
    return;
  }
  if (!context.interactive.yes)
    throw new UsageError(
      `this spends real money on each date: somebody has to type yes at a terminal, or a policy has to hold; ${context.interactive.why}`,
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
  const typed = await context.askText('Type yes to have this bought with real money on each date:');
  if (typed.trim().toLowerCase() === 'yes') return;
  throw new ErrandError('interrupted', 'nothing was changed', { outcome: 'not_sent' });
}

const addressText = (to: Readonly<Record<string, unknown>>): string =>
  [
    `${to.first_name} ${to.last_name}`,
    to.address_line1,
    [to.city, to.postal_code, to.country].filter(Boolean).join(' '),
  ]
    .filter(Boolean)
    .join(', ');
