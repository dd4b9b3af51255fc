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
import type { Column } from '../../output/result.ts';
import { shellLine, shellWord } from '../../shell-word.ts';

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
    await mint(context);
    const listing = await find(context);
    await check(context, listing);
    const order = await place(context, listing);
    return { kind: 'record', ...(await follow(context, order)), columns, hints: farewell };
  },
});

const farewell = [
  'Next: errand order list, errand order timeline ID, errand search tea, errand sandbox serve',
];

async function mint(context: Context): Promise<void> {
  if (!context.isRehearsal()) {
    throw new UsageError('quickstart rehearses with a test key, and this profile has another', {
      next: [{ command: 'errand quickstart --profile local', when: 'to use the embedded sandbox' }],
    });
  }
  await context.ready();
  const { body: wallet } = await (await context.client()).call('wallet.get', {});
  const balance = numberIn(wallet, 'spendable_balance') ?? wallet.balance;
  step(context, 'A sandbox key and a wallet', 'errand wallet', formatMoney(balance));
}

async function find(context: Context): Promise<Listing> {
  const client = await context.client();
  const { body } = await client.call('search', {
    query: { q: words, max_price: searchCeilingCents, sort: 'rating' },
  });
  const listing = objectsIn(body, 'results').find(
    ({ available, url }: Listing) => available === true && typeof url === 'string',
  );
  if (!listing) throw new ErrandError('not_found', `nothing to order was found for "${words}"`);
  const price = numberIn(listing, 'price');
  const shown = [
    plainText(listing.title),
    ...(price === undefined ? [] : [formatMoney(price, textIn(listing, 'currency_code'))]),
  ].join(', ');
  step(context, 'Search', `errand search ${words} --max-price '$30' --sort rating`, shown);
  return listing;
}

async function check(context: Context, listing: Listing): Promise<void> {
  const client = await context.client();
  const url = String(listing.url);
  const { body } = await client.call('retailer.check', { query: { url, country: 'US' } });
  if (!body.orderable)
    throw new ErrandError('ended_badly', `${url} cannot be ordered: ${plainText(body.unsupported_reason)}`);
  step(
    context,
    'Check the retailer',
    `errand retailer check ${shellWord(url)}`,
    `${textIn(body.retailer, 'display_name') ?? plainText(body.domain)}: orderable`,
  );
}

async function place(context: Context, listing: Listing): Promise<OrderRecord> {
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
  const command = `errand order create --product ${shellWord(url)} --max-price '$50.00' --ship-to ${saved.name} --watch`;
  step(context, 'Order', command, `${String(order.id)}, ceiling ${formatMoney(orderCeilingCents)}`);
  return order;
}

async function follow(context: Context, order: OrderRecord) {
  const id = String(order.id);
  step(context, 'Watch', shellLine`errand order watch ${id}`, 'until delivered');
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
      const parcel = valueAt<Order>(record, 'tracking_numbers.0.status');
      context.note(`     ${String(record.status)}${typeof parcel === 'string' ? `, parcel ${parcel}` : ''}`);
    }
    if (event.type === 'gap')
      context.note(`     the service does not respond, still trying: ${event.message}`);
    if (event.type === 'summary') exitCode = event.waiting > 0 ? 8 : event.failed > 0 ? 7 : 0;
  }
  return { record, exitCode };
}

function step(context: Context, what: string, command: string, outcome: string): void {
  context.note(`${what}: ${outcome}`);
  context.note(`     $ ${command}`);
}
