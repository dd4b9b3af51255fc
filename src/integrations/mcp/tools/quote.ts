import { randomUUID } from 'node:crypto';
import { numberIn, own } from '../../../api/json.ts';
import { limits } from '../../../api/limits.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { OrderCreate } from '../../../api/schemas/order-create.ts';
import type { PlanProduct } from '../../../api/schemas/plan-file.ts';
import { queryProducts } from '../../../bulk/plan/products.ts';
import type { Intent } from '../../../journal/journal-record.ts';
import { addressProblems } from '../../../orders/addresses/options.ts';
import { savedAddress } from '../../../orders/addresses/ship-to.ts';
import { checkOrder } from '../../../orders/input/check.ts';
import { endedText, sentText } from '../../../orders/submit/current-state.ts';
import { intentOf } from '../../../orders/submit/intent.ts';
import { seeTwin } from '../../../orders/submit/preview.ts';
import { repeatedText } from '../../../orders/submit/repeated.ts';
import { ErrandError, UsageError } from '../../../platform/errors.ts';
import type { Context } from '../../../run/context.ts';
import { feeOf } from '../../../spending/policy/facts.ts';
import type { Verdict } from '../../../spending/policy/policy.ts';
import { allowedVerdict, approvedKey } from '../../../spending/policy-gate.ts';
import { addressLine } from '../address-line.ts';
import { z } from '../arguments.ts';
import { checkDayLimit } from '../guard.ts';
import { type Call, defineTool } from '../tool.ts';
import { cents, listOf, optionalCents, optionalText, record, text, verdict } from './shapes.ts';

/** Lifetime of a quote, ms. A quote that awaits approval lives as long as the approval. */
const lifetimeMs = 15 * 60 * 1000;

// Leave these fields out. Agents must not choose the payment or the recipients of events and mails, and the idempotency
// key is generated here.
const {
  idempotency_key: _key,
  payment: _payment,
  webhooks: _webhooks,
  customer_notifications: _notifications,
  shipping_address: address,
  max_price: _ceiling,
  ...fields
} = OrderCreate().shape;

const quoteArguments = z.strictObject({
  ...fields,
  ship_to: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('name of a saved address; without it and shipping_address the default one'),
  shipping_address: address.optional().describe('a whole address, in place of ship_to'),
  max_price: z.int().min(1).describe('the ceiling in cents: the order is never bought for more'),
  new: z
    .boolean()
    .optional()
    .describe(
      'true to order again what was just ordered; without it the same order again is refused. Only where the user asked for another one',
    ),
});

type Given = z.output<typeof quoteArguments>;

export const orderQuote = defineTool({
  name: 'order_quote',
  title: 'Quote an order',
  description: `Looks at an order before it is placed: address, retailer, price, wallet and policy. Orders nothing. Gives a quote, which order_place takes; it can be placed for ${lifetimeMs / 60_000} minutes, once. Amounts are in cents.`,
  effect: 'prepares',
  arguments: quoteArguments,
  output: () => ({
    quote: text('what order_place takes'),
    ceiling_cents: cents('the most that the products may cost'),
    fee_cents: cents('what the service takes for an order'),
    total_cents: cents('ceiling and fee together'),
    expires_at: text('ISO 8601'),
    verdict,
    products: listOf(
      record({
        url: text('of the product'),
        quantity: { type: 'integer' },
        retailer: optionalText('who sells it, where that is known'),
        price_cents: optionalCents('what one costs now; null where that cannot be known'),
      }),
      'what would be ordered',
    ),
    ships_to: text('the address, in one line'),
    ship_to: optionalText('the name of the saved address; null where a whole one was given'),
    spendable_cents: optionalCents('what the wallet has'),
    warnings: listOf({ type: 'string' }, 'what to look at before it is placed'),
  }),
  certain: [
    'quote',
    'ceiling_cents',
    'fee_cents',
    'total_cents',
    'expires_at',
    'verdict',
    'products',
    'ships_to',
    'warnings',
  ],
  async run(call, given) {
    const { context, client, isLive } = call;
    await checkDayLimit(context, isLive);
    await context.ready();
    const { new: isNew = false, ship_to: name, shipping_address: whole, ...order } = given;
    const to = await addressOf(call, name, whole);
    const body = await checkOrder({ ...order, shipping_address: to.address }, undefined);
    const products = await orderable(context, body);
    const fee = await feeOf(context, 'order.create');
    const unkeyed = { key: randomUUID(), keyOrigin: 'made', body: { ...body } } as const;
    const intent = await intentOf(context, 'order.create', unkeyed);
    const found = await allowedVerdict(context, [{ intent }], { asks: false });
    const approved = isNew ? undefined : await approvedKey(context, intent, {});
    const { key, account, baseUrl, profile } = intent;
    const expiresAt = context.clock.now() + lifetimeMs;
    const total = body.max_price + fee;
    const journal = await context.journal();
    const quote = await journal.quotes.save({
      ...{ account, baseUrl, profile, client, isNew, expiresAt, body: { ...body }, cents: total },
      key: approved && !approved.isSent ? approved.key : key,
    });
    const spendable = await spendableCents(context);
    return {
      record: {
        quote,
        ceiling_cents: body.max_price,
        fee_cents: fee,
        total_cents: total,
        expires_at: new Date(expiresAt).toISOString(),
        verdict: found ?? unlimited(total),
        products: products.map(({ product, quantity }) => ({
          url: product.url,
          quantity,
          retailer: product.retailer,
          price_cents: inCents(product),
        })),
        ships_to: addressLine(body.shipping_address),
        ship_to: to.name,
        spendable_cents: spendable,
        warnings: [
          ...(isNew ? [] : await repeats(context, intent)),
          ...warningsOf(products, body.max_price, { spendable, total, found }),
        ],
      },
    };
  },
});

const unlimited = (total: number) => ({ outcome: 'allowed', amount_cents: total, rules: [] });

/** @throws UsageError for an address that is not saved, or that no carrier can deliver to. */
async function addressOf(
  { context }: Call,
  name: string | undefined,
  whole: Given['shipping_address'],
): Promise<{ readonly name: string | null; readonly address: Readonly<Record<string, unknown>> }> {
  if (name !== undefined && whole !== undefined)
    throw new UsageError('ship_to and shipping_address exclude each other; give one');
  const saved = whole ? { name: null, address: whole } : await savedAddress(context, name);
  const [wrong] = addressProblems(saved.address);
  if (wrong) throw new UsageError(`shipping_address.${wrong.field}: ${wrong.message}`);
  return saved;
}

/**
 * Warns if the same order was placed recently, because placing this quote would then be refused. The agent may also
 * have ordered it again by mistake.
 */
async function repeats(context: Context, intent: Intent): Promise<string[]> {
  const warnings: string[] = [];
  const found = await seeTwin(context, intent, 'repeats', (record, now) => {
    warnings.push(`${endedText(record, now)}; order_place orders it again`);
  });
  if (!found) return warnings;
  const { twin, now, unread } = found;
  const { order_id: id, created_at: since } = twin.record;
  if (id === null)
    warnings.push(
      `the same order is on its way or in doubt since ${since}; order_place settles that one and orders no second`,
    );
  else if (unread)
    warnings.push(
      `${sentText(twin.record)}, and what became of it cannot be read; order_place orders nothing until it can`,
    );
  else
    warnings.push(
      `${repeatedText(twin.record, now)}. Only where the user asked for another one, quote it again with new: true`,
    );
  return warnings;
}

interface Line {
  readonly product: PlanProduct;
  readonly quantity: number;
}

/** Looks up each product. @throws ErrandError if an order for one of them would be refused. */
async function orderable(
  context: Context,
  { products, shipping_address: to }: Shape<'OrderCreate'>,
): Promise<Line[]> {
  const countries = new Set([to.country.toUpperCase()]);
  const urls = [...new Set(products.map(({ url }) => url))];
  const found = await queryProducts(
    context,
    urls.map((url) => ({ url, countries })),
    { prices: true },
  );
  const lines = products.flatMap(({ url, quantity }) => {
    const product = found.get(url);
    return product ? [{ product, quantity: quantity ?? limits.quantity.min }] : [];
  });
  const refused = lines.find(({ product }) => product.orderable === false)?.product;
  if (!refused) return lines;
  throw new ErrandError(
    'conflict',
    `${refused.url} cannot be ordered: ${refused.unsupported_reason ?? 'the retailer is not supported'}`,
    {
      code: 'not_orderable',
      outcome: 'not_sent',
      retryable: false,
      hint: 'retailer_check says more; search lists what can be ordered.',
    },
  );
}

const inCents = ({ price, currency }: PlanProduct): number | null => (currency === 'USD' ? price : null);

async function spendableCents(context: Context): Promise<number | null> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const cents = numberIn(body, 'spendable_balance');
  return own(body, 'billed_by_invoice') === true || !Number.isSafeInteger(cents) ? null : (cents ?? null);
}

function warningsOf(
  lines: readonly Line[],
  ceiling: number,
  { spendable, total, found }: { spendable: number | null; total: number; found: Verdict | undefined },
): string[] {
  const prices = lines.map(({ product, quantity }) => {
    const price = inCents(product);
    return price === null ? undefined : price * quantity;
  });
  const known = prices.filter((price) => price !== undefined);
  const sum = known.reduce((all, price) => all + price, 0);
  return [
    ...(known.length < prices.length
      ? ['the price of a product is not known; the ceiling holds all the same']
      : []),
    ...(sum > ceiling
      ? [`the products cost ${sum} cents now, more than the ceiling of ${ceiling}: the order would fail`]
      : []),
    ...(spendable !== null && spendable < total
      ? [`the wallet has ${spendable} cents, and the order may take ${total}`]
      : []),
    ...(found?.outcome === 'needs_approval'
      ? ['a person must approve it: order_place asks for that and names the command']
      : []),
    ...(found?.rules ?? []).filter(({ outcome }) => outcome === 'warned').map(({ message }) => message),
  ];
}
