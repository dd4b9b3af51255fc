import { orderOfRow, rowReader } from '../../api/bulk-row.ts';
import { isObject, listIn, numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { operations } from '../../api/operations/index.ts';
import { sha256 } from '../../format/canonical.ts';
import { canonicalNeed, contentIn } from '../../format/canonical-need.ts';
import { pages } from '../../http/paging.ts';
import type { Intent, JournalRecord } from '../../journal/journal-record.ts';
import type { OrderToReserve } from '../../journal/reservation-row.ts';
import { isHost, type ReservedFacts } from '../../journal/summed-limit.ts';
import { ErrandError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { type EarlierFacts, earlierFacts } from './earlier-facts.ts';
import type { Policy, Rule } from './policy.ts';
import { hostOf, plainUrl } from './policy.ts';

/** An order as the policy sees it, before the order is sent. */
export interface SpendingOrder extends OrderToReserve {
  readonly lines: readonly OrderLine[];
  /** Two capital letters. */
  readonly country: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** The order's row number, if the order comes from a table. */
  readonly row: number | undefined;
  /** Facts that can be compared with older reservations. Set only if the policy has a rule about duplicates. */
  readonly earlier: EarlierFacts | undefined;
}

export interface OrderLine {
  readonly url: string;
  readonly quantity: number;
  readonly host: string;
  /** Names that identify the retailer: the host and, if the policy names retailers, also the retailer's name. */
  readonly retailer: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

interface Terms {
  readonly feeCents: number;
  readonly isRehearsal: boolean;
  /** Whether the policy has a rule about duplicates. */
  readonly findsDuplicates?: boolean;
  /** Row numbers of a batch, as they are in a spreadsheet. */
  readonly numbers?: readonly number[] | undefined;
}

/** The orders that result from an intent. A batch has one order per row. Any other intent has a single order. Pure. */
export function ordersOf(intent: Intent, { numbers, ...terms }: Terms): SpendingOrder[] {
  if (intent.operation !== 'bulk.create')
    return [orderOf(intent, intent.key, maxPayment(intent, terms.feeCents), intent.body, terms, undefined)];
  return [...rowsIn(intent)].map(({ key, body, price }, index) => {
    // A price that errand cannot parse may still be valid for the service. Therefore assume that the price exceeds
    // every limit.
    const cents = price === null ? Number.MAX_SAFE_INTEGER : price + terms.feeCents;
    return orderOf(intent, key, cents, body, terms, numbers?.[index] ?? index + 1);
  });
}

/** The maximum cost of each order of a record, in cents, without the fee. Pure. */
export function ceilingsOf({ key, base_url: baseUrl, account, operation, body }: JournalRecord) {
  const ceilings =
    operation === 'bulk.create'
      ? [...rowsIn({ key, body })].map(({ key: row, price }) => ({ key: row, cents: price ?? 0 }))
      : [{ key, cents: numberIn(body, 'max_price') ?? 0 }];
  return ceilings.map((one) => ({ ...one, baseUrl, account, intent: key, feeCents: 0 }));
}

/**
 * The rows of a batch as orders. Each has its idempotency key and its ceiling in cents. The ceiling is null if it
 * cannot be parsed. Pure.
 */
export function* rowsIn({ body, key: batch }: Pick<Intent, 'body' | 'key'>): Generator<{
  readonly key: string;
  readonly body: Fields;
  readonly price: number | null;
}> {
  const read = rowReader();
  for (const [index, cells] of objectsIn(body, 'rows').entries()) {
    const { plan, values, row } = read(textCells(cells));
    const key = row.cell('idempotency_key') || `${batch} ${index}`;
    yield { key, body: { ...orderOfRow(plan, values, row) }, price: row.maxPrice };
  }
}

function orderOf(
  { baseUrl, account, key: intent }: Intent,
  key: string,
  cents: number,
  body: Fields,
  { feeCents, isRehearsal, findsDuplicates }: Omit<Terms, 'numbers'>,
  row: number | undefined,
): SpendingOrder {
  const lines = objectsIn(body, 'products').map((line): OrderLine => {
    const url = textIn(line, 'url') ?? '';
    const host = hostOf(url);
    return { url, host, quantity: numberIn(line, 'quantity') ?? 1, retailer: [hostAsName(host)] };
  });
  const metadata = plainMetadata(own(body, 'metadata'));
  const address = own(body, 'shipping_address');
  return {
    ...{ key, baseUrl, account, intent, cents, feeCents, isRehearsal, lines, metadata, row },
    country: (textIn(address, 'country') ?? '').trim().toUpperCase(),
    earlier: findsDuplicates ? earlierFacts(body) : undefined,
    facts: {
      retailers: [...new Set(lines.flatMap(({ retailer }) => retailer))],
      metadata: Object.entries(metadata).map(metadataHash),
      ...needFacts(body),
    },
  };
}

function needFacts(body: Fields): Pick<ReservedFacts, 'products' | 'recipient'> {
  const content = contentIn(body, 'products');
  if (!content) return { products: [], recipient: '' };
  const { products, recipient } = canonicalNeed(content);
  return { products: products.map(hash), recipient: hash(recipient) };
}

/**
 * The maximum cost of an order. This is the contract's ceiling plus fee, or the amount paid up front if that is more.
 */
function maxPayment({ body, payment }: Intent, feeCents: number): number {
  const ceiling = numberIn(body, 'max_price') ?? Number.MAX_SAFE_INTEGER - feeCents;
  const isUsd = payment?.currency.toLowerCase() === 'usd' && /^\d{1,15}$/.test(payment.amount);
  return Math.max(ceiling + feeCents, isUsd ? Number(payment.amount) : 0);
}

/** The top-level values of the metadata as texts, so that they can be compared with a policy. */
const plainMetadata = (metadata: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isObject(metadata) ? metadata : {}).flatMap(([key, value]) =>
      ['string', 'number', 'boolean'].includes(typeof value) ? [[key, String(value)]] : [],
    ),
  );

export const metadataHash = ([key, value]: readonly [string, string]): string =>
  hash(JSON.stringify([key, value]));

const hash = (text: string): string => sha256(text).slice(0, 16);

/** Idempotency keys of the rows of a journaled batch, keyed by row index. */
export function rowKeysOf(body: Fields): string[] {
  const read = rowReader();
  return listIn(body, 'rows').map((cells) => read(textCells(Object(cells))).row.cell('idempotency_key'));
}

const textCells = (cells: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, String(cell ?? '')]));

/**
 * A host, in the form in which the names of a retailer contain it. A host without a dot gets a prefix, because it would
 * otherwise look like a name from the service.
 */
export const hostAsName = (host: string): string => (isHost(host) ? host : `//${host}`);

/**
 * Adds the names of retailers to the orders, if the policy contains names of retailers. Each host is looked up once at
 * the service, free of charge. If the service does not know a retailer, the host alone identifies it.
 * @throws ErrandError if the service cannot be reached.
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
    if (!known.has(host))
      known.set(host, [hostAsName(host), ...(await resolveNames(context, plainUrl(url)))]);
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

/**
 * Checks that each retailer name in the policy exists. A rule with an unknown name would have no effect. @throws
 * ErrandError policy naming the line.
 */
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

/** Names of all retailers that the service knows, even if it has only seen them. They are read once per run. */
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

/** The name of the retailer that sells at a URL; empty if the service knows none. */
async function resolveNames(context: OrderContext, url: string): Promise<string[]> {
  try {
    const client = await context.client();
    const { body } = await client.call('retailer.check', { query: { url } });
    const name = textIn(own(body, 'retailer'), 'retailer');
    return name === undefined ? [] : [name.toLowerCase()];
  } catch (error) {
    // The service rejects a URL that does not belong to a product. It would also refuse an order for such a URL, so
    // ignore the error here.
    if (error instanceof ErrandError && error.facts.outcome === 'rejected') return [];
    throw error;
  }
}

const fees = new WeakMap<OrderContext, Promise<number>>();

/**
 * The service fee per order, in cents. For orders paid by challenge, the contract sets the fee. For all other orders,
 * it is read from the wallet once per run.
 * @throws ErrandError if the service does not report the fee.
 */
export function feeOf(context: OrderContext, operation: string): Promise<number> {
  if (operation === 'agent.order.create')
    return Promise.resolve(operations['agent.order.create'].challengeCents);
  const known = fees.get(context) ?? readFee(context);
  fees.set(context, known);
  return known;
}

async function readFee(context: OrderContext): Promise<number> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const fee = own(body, 'order_fee_cents');
  if (typeof fee === 'number' && Number.isSafeInteger(fee) && fee >= 0) return fee;
  throw new ErrandError('policy', 'the service does not say its fee for an order, which the policy counts', {
    code: 'policy_unusable',
    outcome: 'not_sent',
    retryable: false,
    hint: 'Nothing was ordered. Is the base URL right? `errand auth status` shows which one is used.',
  });
}
