import { numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { ReceivedRow } from '../../api/received.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { placeOrder } from '../../orders/submit/submit.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import type { QuickstartView } from './view.ts';

type Listing = ReceivedRow<'search'>;

const words = 'coffee';
const searchCeilingCents = 3_000;
const orderCeilingCents = 5_000;

export const labels = {
  sandbox: 'Sandbox',
  search: 'Search',
  check: 'Check',
  order: 'Order',
  watch: 'Watch',
} as const;
export type Step = keyof typeof labels;

export interface Run {
  readonly context: Context;
  readonly view: QuickstartView;
  /** Steps started so far. */
  readonly steps: Step[];
  /** Last known state of the order. */
  state: string;
}

export function begin({ view, steps }: Run, step: Step, state = ''): void {
  steps.push(step);
  view.working(labels[step], state);
}

export async function mint(run: Run): Promise<void> {
  const { context, view } = run;
  if (!context.isRehearsal()) {
    throw new UsageError('quickstart needs a test key, and this profile has a different key', {
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

export async function find(run: Run): Promise<Listing> {
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

export async function check(run: Run, listing: Listing): Promise<void> {
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

export async function place(run: Run, listing: Listing): Promise<OrderRecord> {
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
