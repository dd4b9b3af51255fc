import { own, textIn } from '../../api/json.ts';
import { pages } from '../../http/paging.ts';
import { ErrandError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { SpendingOrder } from './facts.ts';
import type { Policy, Rule } from './policy.ts';
import { plainUrl } from './url-forms.ts';

/** A name of a policy that is a host: it needs nobody who knows retailers. */
const isHost = (name: string): boolean => name.includes('.');

/** Whether a policy's name is one of those that a retailer is known by; a host stands for the hosts under it too. */
export const isRetailer = (name: string, known: readonly string[]): boolean =>
  known.some((one) => one === name || (isHost(name) && one.endsWith(`.${name}`)));

/** A host as a retailer is known by it. One without a dot looks like a name, which only the service gives. */
export const hostAsName = (host: string): string => (isHost(host) ? host : `//${host}`);

/**
 * The orders with the names of their retailers, as far as the policy needs them: each host that no name of the policy
 * covers is looked up once at the service, for free. One that stays unknown is known by its host alone.
 * @throws ErrandError where the service cannot be asked.
 */
export async function withRetailers(
  context: OrderContext,
  policy: Policy,
  orders: readonly SpendingOrder[],
): Promise<readonly SpendingOrder[]> {
  const names = namesIn(policy).filter(({ name }) => !isHost(name));
  if (names.length === 0) return orders;
  await checkNames(context, policy, names);
  const known = new Map<string, readonly string[]>();
  for (const { url, host } of orders.flatMap(({ lines }) => lines))
    if (!known.has(host)) known.set(host, [hostAsName(host), ...(await lookUp(context, plainUrl(url)))]);
  return orders.map((order) => {
    const lines = order.lines.map((line) => ({ ...line, retailer: known.get(line.host) ?? line.retailer }));
    const all = [...new Set(lines.flatMap(({ retailer }) => retailer))];
    return { ...order, lines, facts: { ...order.facts, retailers: all } };
  });
}

interface Named extends Rule {
  readonly name: string;
}

const namesIn = ({ retailers, limits }: Policy): Named[] => [
  ...(retailers?.names.map((name) => ({ ...retailers, name })) ?? []),
  ...limits.flatMap((limit) => (limit.scope?.retailer ? [{ ...limit, name: limit.scope.retailer }] : [])),
];

/** A name that nobody has would deny and limit nothing. @throws ErrandError policy naming its line. */
async function checkNames(context: OrderContext, { file }: Policy, names: readonly Named[]): Promise<void> {
  const known = await knownRetailers(context);
  const wrong = names.find(({ name }) => !known.has(name));
  if (!wrong) return;
  const near = nearestWord(wrong.name, [...known]);
  const what = `${file}, line ${wrong.line}: the service knows no retailer "${wrong.name}"`;
  throw new ErrandError(
    'policy',
    `the policy cannot be used: ${what}${near ? `; did you mean ${near}?` : ''}`,
    {
      code: 'policy_unusable',
      outcome: 'not_sent',
      retryable: false,
      details: { file, line: wrong.line },
      hint: 'No order is sent until each retailer that the policy names is one. A host works too, such as www.example.com.',
      next: [{ command: 'errand retailer list --include all', when: 'to see the names' }],
    },
  );
}

const retailers = new WeakMap<OrderContext, Promise<ReadonlySet<string>>>();

/** Read once a run; those too that the service has only seen. */
function knownRetailers(context: OrderContext): Promise<ReadonlySet<string>> {
  const known = retailers.get(context) ?? readRetailers(context);
  retailers.set(context, known);
  return known;
}

async function readRetailers(context: OrderContext): Promise<ReadonlySet<string>> {
  const client = await context.client();
  const query = { include: ['all'], limit: 500 };
  const found = new Set<string>();
  for await (const { rows } of pages(client, 'retailer.list', { query }, { all: true }))
    for (const row of rows) found.add((textIn(row, 'retailer') ?? '').toLowerCase());
  return found;
}

/** The name of the retailer of a URL; none where the service knows none. */
async function lookUp(context: OrderContext, url: string): Promise<string[]> {
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
