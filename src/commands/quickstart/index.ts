import { defineRootCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { numberIn, objectsIn, textIn } from '../../contract/json.ts';
import { type ReceivedRow, valueAt } from '../../contract/received.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import type { Order, OrderRecord } from '../../orders/order-record.ts';
import { placeOrder } from '../../orders/place.ts';
import { watchOrders } from '../../orders/watch.ts';
import { defaultPace } from '../../orders/watch-policy.ts';
import { formatMoney } from '../../output/money.ts';
import { plainText } from '../../output/path.ts';
import type { Column, Result } from '../../output/result.ts';
import { shellLine, shellWord } from '../../shell-word.ts';
import { type QuickstartView, quickstartView } from './view.ts';

type Listing = ReceivedRow<'search'>;

const words = 'coffee';
const searchCeilingCents = 3_000;
const orderCeilingCents = 5_000;
const usualWaitMs = 60_000;

const columns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id' },
  { name: 'status', path: 'status', kind: 'status' },
  { name: 'delivery', path: 'tracking_numbers.0.status', kind: 'status' },
  { name: 'total', path: 'job_result.price_components.total', kind: 'money' },
  { name: 'carrier', path: 'tracking_numbers.0.carrier' },
  { name: 'tracking number', path: 'tracking_numbers.0.tracking_number' },
];

export const command = defineRootCommand({
  description:
    'Search, check, order, watch to delivery. Each step shows the command that repeats it. Nothing is bought: only a test key is used.',
  examples: [
    { command: 'errand quickstart', note: 'about ten seconds, no account and no network' },
    { command: 'errand quickstart -o json --query id', note: 'the id of the delivered order, for a script' },
  ],
  operations: ['search', 'retailer.check', 'order.create', 'order.list'],
  exitCodes: { 7: 'the order failed', 8: 'it was not delivered in time' },
  related: ['search', 'order create', 'order watch', 'sandbox serve'],
  async run(context) {
    const view = await quickstartView(context);
    const run: Run = { context, view, steps: [], state: '' };
    try {
      await mint(run);
      const listing = await find(run);
      await check(run, listing);
      const order = await place(run, listing);
      return await follow(run, order);
    } catch (error) {
      return stopped(run, error);
    } finally {
      view.close();
    }
  },
});

/** A step and what it is called. */
const labels = {
  sandbox: 'Sandbox',
  search: 'Search',
  check: 'Check',
  order: 'Order',
  watch: 'Watch',
} as const;
type Step = keyof typeof labels;

interface Run {
  readonly context: Context;
  readonly view: QuickstartView;
  /** Those that were begun. */
  readonly steps: Step[];
  /** How the order stood when it was last seen. */
  state: string;
}

function begin({ view, steps }: Run, step: Step, state = ''): void {
  steps.push(step);
  view.working(labels[step], state);
}

async function mint(run: Run): Promise<void> {
  const { context, view } = run;
  if (!context.isRehearsal()) {
    throw new UsageError('quickstart rehearses with a test key, and this profile has another', {
      next: [{ command: 'errand quickstart --profile local', when: 'to use the embedded sandbox' }],
    });
  }
  begin(run, 'sandbox');
  await context.ready();
  const { body: wallet } = await (await context.client()).call('wallet.get', {});
  const balance = numberIn(wallet, 'spendable_balance') ?? wallet.balance;
  const outcome = { text: `a test key, and a wallet with ${formatMoney(balance)}` };
  view.done(labels.sandbox, outcome, 'errand wallet');
}

async function find(run: Run): Promise<Listing> {
  begin(run, 'search');
  const client = await run.context.client();
  const { body } = await client.call('search', {
    query: { q: words, max_price: searchCeilingCents, sort: 'rating' },
  });
  const listing = objectsIn(body, 'results').find(
    ({ available, url }: Listing) => available === true && typeof url === 'string',
  );
  if (!listing) throw new ErrandError('not_found', `nothing to order was found for "${words}"`);
  const price = numberIn(listing, 'price');
  const outcome = {
    text: plainText(listing.title),
    ...(price !== undefined && { tail: `, ${formatMoney(price, textIn(listing, 'currency_code'))}` }),
  };
  run.view.done(labels.search, outcome, `errand search ${words} --max-price '$30' --sort rating`);
  return listing;
}

async function check(run: Run, listing: Listing): Promise<void> {
  begin(run, 'check');
  const client = await run.context.client();
  const url = String(listing.url);
  const { body } = await client.call('retailer.check', { query: { url, country: 'US' } });
  if (!body.orderable)
    throw new ErrandError('ended_badly', `${url} cannot be ordered: ${plainText(body.unsupported_reason)}`);
  const retailer = textIn(body.retailer, 'display_name') ?? plainText(body.domain);
  run.view.done(
    labels.check,
    { text: `${retailer} takes orders` },
    `errand retailer check ${shellWord(url)}`,
  );
}

async function place(run: Run, listing: Listing): Promise<OrderRecord> {
  const { context, view } = run;
  begin(run, 'order');
  const store = await context.store();
  const saved = store.defaultAddress();
  if (!saved)
    throw new UsageError('no address is saved', {
      next: [{ command: 'errand address add home', when: 'first' }],
    });
  const url = String(listing.url);
  const { checkOrder } = await import('../../orders/input/check.ts');
  const body = await checkOrder(
    {
      products: [{ url }],
      max_price: orderCeilingCents,
      shipping_address: saved.address,
      metadata: { from: 'quickstart' },
    },
    undefined,
  );
  const { order } = await placeOrder(context, body, { isNew: true });
  const command = `errand order create --product ${shellWord(url)} --max-price '$50.00' --ship-to ${shellWord(saved.name)} --watch`;
  view.done(
    labels.order,
    { text: `${String(order.id)}, ceiling ${formatMoney(orderCeilingCents)}` },
    command,
  );
  return order;
}

async function follow(run: Run, order: OrderRecord): Promise<Result> {
  const { context, view } = run;
  const id = String(order.id);
  const again = shellLine`errand order watch ${id}`;
  begin(run, 'watch', 'until delivered');
  let record = order;
  let exitCode = 0;
  const options = {
    until: 'delivered',
    timeoutMs: context.waitMs() ?? usualWaitMs,
    pace: defaultPace,
    allowMissing: false,
  } as const;
  for await (const event of watchOrders(context, [id], options)) {
    if (event.type === 'change') {
      record = event.order;
      run.state = stateOf(record);
      view.working(labels.watch, run.state);
    }
    if (event.type === 'gap')
      view.working(labels.watch, `the service does not respond, still trying: ${event.message}`);
    if (event.type === 'reconnected') view.working(labels.watch, run.state);
    if (event.type === 'summary') exitCode = event.waiting > 0 ? 8 : event.failed > 0 ? 7 : 0;
  }
  if (exitCode === 0) view.done(labels.watch, { text: outcomeOf(record) }, again);
  else if (exitCode === 7) view.ended('failed', labels.watch, outcomeOf(record));
  else view.ended('open', labels.watch, `${stateOf(record)}; the time is up, and the order goes on`);
  const next = exitCode === 8 ? [{ command: again, note: 'goes on watching' }] : nextAfter(id);
  const { stdout } = context.io;
  const { format, fields, query } = context.output;
  const isTold = view.isLive && stdout.isTerminal && format === 'table' && !fields && query === undefined;
  if (isTold) {
    view.next(next);
    return { kind: 'none', exitCode };
  }
  const hints = [`Next: ${next.map(({ command }) => command).join(', ')}`];
  return { kind: 'record', record, columns, exitCode, hints };
}

const nextAfter = (id: string) => [
  { command: 'errand order list', note: 'your orders' },
  { command: shellLine`errand order timeline ${id}`, note: 'how it went' },
  { command: 'errand search tea', note: 'something else' },
  { command: 'errand sandbox serve', note: 'a console in the browser' },
];

/** How an order stands, in a few words. */
function stateOf(order: OrderRecord): string {
  const parcel = valueAt<Order>(order, 'tracking_numbers.0.status');
  const state = typeof parcel === 'string' ? `parcel ${parcel}` : plainText(order.status);
  return state.replaceAll('_', ' ');
}

/** The end of an order: what came, what it cost, and by whom; or why nothing did. */
function outcomeOf(order: OrderRecord): string {
  const total = valueAt<Order>(order, 'job_result.price_components.total');
  const carrier = valueAt<Order>(order, 'tracking_numbers.0.carrier');
  const why = valueAt<Order>(order, 'job_result.error');
  return [
    stateOf(order).replace(/^parcel /, ''),
    ...(typeof why === 'string' ? [why] : []),
    ...(typeof total === 'number' && typeof why !== 'string' ? [formatMoney(total)] : []),
    ...(typeof carrier === 'string' ? [`by ${carrier}`] : []),
  ].join(', ');
}

/**
 * What a run that stopped on the way says: where, and what was done by then. Ctrl-C is no failure, as long as nothing is
 * in doubt.
 */
function stopped({ context, view, steps, state }: Run, error: unknown): Result {
  const step = steps.at(-1);
  const { reason }: { reason: unknown } = context.signal;
  const made = context.unreported();
  if (step === undefined) throw error;
  const isInDoubt = made.some(({ madeId }) => madeId === undefined);
  if (reason instanceof ErrandError && !isInDoubt && context.output.format === 'table') {
    view.ended('open', labels[step], state === '' ? 'stopped here' : state);
    const id = made[0]?.madeId;
    const said = id
      ? `The order goes on: ${shellLine`errand order watch ${id}`}`
      : 'Nothing was ordered. From the start: errand quickstart';
    return { kind: 'none', hints: [said], exitCode: reason.exitCode };
  }
  if (view.isLive) view.ended('failed', labels[step], 'stopped here');
  const before = steps.slice(0, -1).map((name) => labels[name]);
  if (!(error instanceof ErrandError) || reason !== undefined || before.length === 0) throw error;
  const mayBeOrdered = made.length > 0 || error.facts.outcome === 'unknown';
  const done = mayBeOrdered ? [] : [`Done before: ${before.join(', ')}. Nothing was ordered.`];
  throw new ErrandError(error.category, `${labels[step]}: ${error.message}`, {
    ...error.facts,
    cause: error,
    hint: [...(error.facts.hint ? [error.facts.hint] : []), ...done].join(' ') || undefined,
  });
}
