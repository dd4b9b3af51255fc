import type { Context } from '../../context.ts';
import { own, textIn } from '../../contract/json.ts';
import { ErrandError } from '../../errors.ts';
import type { SpendingOrder } from './facts.ts';
import type { Policy } from './policy.ts';

/** A name of a policy that is a host: it needs nobody who knows retailers. */
const isHost = (name: string): boolean => name.includes('.');

/** Whether a policy's name is one of those that a retailer is known by; a host stands for the hosts under it too. */
export const isRetailer = (name: string, known: readonly string[]): boolean =>
  known.some((one) => one === name || (isHost(name) && one.endsWith(`.${name}`)));

/**
 * The orders with the names of their retailers, as far as the policy needs them: each host that no name of the policy
 * covers is looked up once at the service, for free. One that stays unknown is known by its host alone.
 * @throws ErrandError where the service cannot be asked.
 */
export async function withRetailers(
  context: Context,
  { retailers, limits }: Policy,
  orders: readonly SpendingOrder[],
): Promise<readonly SpendingOrder[]> {
  const names = [...(retailers?.names ?? []), ...limits.flatMap(({ scope }) => scope?.retailer ?? [])];
  if (names.every(isHost)) return orders;
  const known = new Map<string, readonly string[]>();
  for (const { url, host } of orders.flatMap(({ lines }) => lines))
    if (!known.has(host)) known.set(host, [host, ...(await lookUp(context, url))]);
  return orders.map((order) => {
    const lines = order.lines.map((line) => ({ ...line, retailer: known.get(line.host) ?? line.retailer }));
    const all = [...new Set(lines.flatMap(({ retailer }) => retailer))];
    return { ...order, lines, facts: { ...order.facts, retailers: all } };
  });
}

/** The name of the retailer of a URL; none where the service knows none. */
async function lookUp(context: Context, url: string): Promise<string[]> {
  try {
    const client = await context.client();
    const { body } = await client.call('retailer.check', { query: { url } });
    const name = textIn(own(body, 'retailer'), 'retailer');
    return name === undefined ? [] : [name.toLowerCase()];
  } catch (error) {
    // The service refuses the question for what is no product's URL; the order would be refused too.
    if (error instanceof ErrandError && error.facts.outcome === 'rejected') return [];
    throw error;
  }
}
