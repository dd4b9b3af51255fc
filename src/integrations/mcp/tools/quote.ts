import { randomUUID } from 'node:crypto';
import { numberIn, own } from '../../../api/json.ts';
import { limits } from '../../../api/limits.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { OrderCreate } from '../../../api/schemas/order-create.ts';
import type { PlanProduct } from '../../../api/schemas/plan-file.ts';
import { queryProducts } from '../../../bulk/plan/products.ts';
import type { Reference } from '../../../journal/attempts.ts';
import type { Quote } from '../../../journal/quotes.ts';
import { addressProblems } from '../../../orders/addresses/options.ts';
import { savedAddress } from '../../../orders/addresses/ship-to.ts';
import { checkOrder } from '../../../orders/input/check.ts';
import { checkMetadata } from '../../../orders/needs/options.ts';
import {
  type DecidedQuote,
  decideQuote,
  isSettledByPlacing,
  type QuoteBlock,
  unshownOrder,
} from '../../../orders/needs/quoted-need.ts';
import {
  attemptKey,
  metadataOf,
  namespaceProblem,
  referenceKey,
  referenceOf,
  referenceProblem,
} from '../../../orders/needs/reference.ts';
import { afterText } from '../../../orders/needs/refused.ts';
import { intentOf } from '../../../orders/submit/intent.ts';
import { quoteBlock, quotedOrder, quoteLifetimeMs } from '../../../orders/submit/quoted.ts';
import { ErrandError, UsageError } from '../../../platform/errors.ts';
import type { Context } from '../../../run/context.ts';
import { feeOf } from '../../../spending/policy/facts.ts';
import type { Verdict } from '../../../spending/policy/policy.ts';
import { allowedVerdict, approvedKey } from '../../../spending/policy-gate.ts';
import { addressLine } from '../address-line.ts';
import { maxTextLength, z } from '../arguments.ts';
import { checkDayLimit } from '../guard.ts';
import { type Call, defineTool } from '../tool.ts';
import {
  cents,
  existingOrder,
  listOf,
  optionalCents,
  optionalText,
  record,
  text,
  verdict,
} from './shapes.ts';

// Leave these fields out. The idempotency key is generated here. The other fields would let an agent choose the
// payment, or who receives events and mails.
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
      'true for another order of what was ordered already (existing); without it that is refused. Only where the user asked for another one',
    ),
  again: z
    .boolean()
    .optional()
    .describe('true to order again what was cancelled or returned. Only where the user asked for it'),
  reference: z
    .string()
    .max(maxTextLength)
    .optional()
    .describe(
      "the user's own name for this order, such as a requisition: it is ordered once, from whichever machine",
    ),
  namespace: z
    .string()
    .max(maxTextLength)
    .optional()
    .describe('with reference: who numbers it, so that two shops with an order 1001 do not meet'),
});

type Given = z.output<typeof quoteArguments>;

export const orderQuote = defineTool({
  name: 'order_quote',
  title: 'Quote an order',
  description: `Looks at an order before it is placed: earlier orders of the same, address, retailer, price, wallet and policy. Orders nothing. Gives a quote, which order_place takes; it can be placed for ${quoteLifetimeMs / 60_000} minutes, once. Amounts are in cents.`,
  effect: 'prepares',
  arguments: quoteArguments,
  output: () => ({
    quote: text('what order_place takes'),
    ceiling_cents: cents('the most that the products may cost'),
    fee_cents: cents('what the service takes for an order'),
    total_cents: cents('ceiling and fee together'),
    expires_at: text('ISO 8601'),
    verdict,
    existing: listOf(existingOrder, 'earlier orders of the same, or of the same reference, as they are now'),
    blocked: optionalText('why order_place refuses this quote; null where it does not'),
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
    'existing',
    'products',
    'ships_to',
    'warnings',
  ],
  untrusted: ['existing'],
  async run(call, given) {
    const { context, client, isLive } = call;
    await checkDayLimit(context, isLive);
    await context.ready();
    const { new: isNew = false, again = false, ship_to: name, shipping_address: whole, ...rest } = given;
    checkMetadata(rest, 'give it as reference');
    const { reference, order } = referenced(rest);
    const to = await addressOf(call, name, whole);
    const body = await checkOrder({ ...order, shipping_address: to.address }, undefined);
    const products = await orderable(context, body);
    const fee = await feeOf(context, 'order.create');
    const stated = { body: { ...body }, reference, again, isNew, client };
    const found = await earlierOrders(context, stated);
    const made = { key: reference ? found.key : randomUUID(), keyOrigin: 'made', body: { ...body } } as const;
    const intent = await intentOf(context, 'order.create', made);
    // If placing the quote orders nothing new, it needs no money. Either the money of an earlier order is already
    // reserved, or the quote is refused.
    const allowed = found.isOrdered
      ? undefined
      : await allowedVerdict(context, [{ intent }], { asks: false });
    const approved = isNew || reference ? undefined : await approvedKey(context, intent, {});
    const { key, account, baseUrl, profile, mac } = intent;
    const expiresAt = context.clock.now() + quoteLifetimeMs;
    const total = body.max_price + fee;
    const journal = await context.journal();
    const quote = await journal.quotes.save(
      {
        ...{ ...stated, account, baseUrl, profile, expiresAt, cents: total },
        pricesCents: body.products.map(({ url }) => priceIn(products, url)),
        key: approved && !approved.isSent ? approved.key : key,
      },
      mac,
    );
    const spendable = await spendableCents(context);
    return {
      record: {
        quote,
        ceiling_cents: body.max_price,
        fee_cents: fee,
        total_cents: total,
        expires_at: new Date(expiresAt).toISOString(),
        verdict: allowed ?? unlimited(total),
        existing: found.existing,
        blocked: found.blocked,
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
          ...found.warnings,
          ...warningsOf(products, body.max_price, { spendable, total, found: allowed }),
        ],
      },
    };
  },
});

const unlimited = (total: number) => ({ outcome: 'allowed', amount_cents: total, rules: [] });

/** @throws UsageError for an address that is not saved, or to which no carrier can deliver. */
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
 * Separates the reference from the fields of the order, and writes it to the order's metadata. The service finds the
 * order by this metadata.
 * @throws UsageError if the reference is invalid.
 */
function referenced<T extends Pick<Given, 'reference' | 'namespace' | 'metadata'>>({
  reference: text,
  namespace = '',
  ...order
}: T): { readonly reference: Reference | undefined; readonly order: Omit<T, 'reference' | 'namespace'> } {
  if (text === undefined) {
    if (namespace !== '') throw new UsageError('namespace needs reference');
    return { reference: undefined, order };
  }
  const problem = referenceProblem(text);
  if (problem !== undefined) throw new UsageError(`reference ${problem}`);
  const ofNamespace = namespaceProblem(namespace);
  if (ofNamespace !== undefined) throw new UsageError(`namespace ${ofNamespace}`);
  const reference = referenceOf(text, namespace);
  return {
    reference,
    order: { ...order, metadata: { ...order.metadata, [referenceKey]: metadataOf(reference) } },
  };
}

type Stated = Pick<Quote, 'body' | 'reference' | 'again' | 'isNew' | 'client'>;

/** Facts about earlier orders for a quote. `key` is the idempotency key of the next attempt at a reference. */
interface Earlier {
  readonly key: string;
  /** Whether placing the quote orders nothing new. */
  readonly isOrdered: boolean;
  readonly existing: QuoteBlock['existing'];
  readonly blocked: string | null;
  readonly warnings: readonly string[];
}

async function earlierOrders(context: Context, stated: Stated): Promise<Earlier> {
  const { isNew } = stated;
  const order = quotedOrder(stated);
  const first = await decideQuote(context, order, { isNew: false });
  const block = await blockIn(context, stated, first);
  const decided = isNew && block ? await decideQuote(context, order, { isNew, before: first }) : first;
  const { decision, seen, request } = decided;
  const { existing = [], text } = block ?? {};
  const unshown = isNew ? undefined : await unshownOrder(context, order);
  if (unshown) {
    const { id } = unshown.placed.order;
    const warning = `this order was placed by a call that was interrupted: ${id}; order_place shows that one`;
    return { key: randomUUID(), isOrdered: true, existing, blocked: null, warnings: [warning] };
  }
  if (decision.do === 'send') {
    const { reference } = order;
    return {
      key: reference ? attemptKey(reference, decision.number) : randomUUID(),
      isOrdered: false,
      existing,
      blocked: null,
      warnings: [
        ...(text === undefined ? [] : [`${text}; this quote orders another one`]),
        ...(decision.after ? [afterText(decision.number, decision.after, seen, request.now)] : []),
      ],
    };
  }
  const key = randomUUID();
  if (!isNew && (await isSettledByPlacing(context, order, decided)))
    return {
      key,
      isOrdered: true,
      existing,
      blocked: null,
      warnings: [`${text}; order_place settles that one`],
    };
  const isSame = 'why' in decision && block?.why === decision.why;
  const refused = isSame ? block : await quoteBlock(context, stated, { decision, seen });
  return {
    key,
    isOrdered: true,
    existing: isSame ? existing : [...existing, ...refused.existing],
    blocked: refused.text,
    warnings: [`${refused.text}; order_place refuses this quote. ${refused.hint}`],
  };
}

const blockIn = async (
  context: Context,
  stated: Stated,
  { decision, seen }: DecidedQuote,
): Promise<QuoteBlock | undefined> =>
  decision.do === 'send' ? undefined : quoteBlock(context, stated, { decision, seen });

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

/** Price of one piece, in cents. Null if the price is not known. */
function priceIn(lines: readonly Line[], url: string): number | null {
  const line = lines.find(({ product }) => product.url === url);
  return line ? inCents(line.product) : null;
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
