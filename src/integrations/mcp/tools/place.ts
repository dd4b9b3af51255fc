import { objectsIn, own, textIn } from '../../../api/json.ts';
import { checkUsable, type Quote } from '../../../journal/quotes.ts';
import {
  decideQuote,
  isSettledByPlacing,
  type QuoteBlock,
  refusedQuote,
  unshownOrder,
} from '../../../orders/needs/quoted-need.ts';
import { metadataOf } from '../../../orders/needs/reference.ts';
import type { Placed } from '../../../orders/submit/intent.ts';
import {
  type Agreed,
  checkOwn,
  isPlacing,
  placeQuoted,
  quoteBlock,
  quotedBody,
  quotedIntent,
  quotedOrder,
} from '../../../orders/submit/quoted.ts';
import { ErrandError, StorageError } from '../../../platform/errors.ts';
import { safeText } from '../../../platform/redact/safe-text.ts';
import type { Context } from '../../../run/context.ts';
import { feeOf } from '../../../spending/policy/facts.ts';
import { PolicyDenial } from '../../../spending/policy/refusal.ts';
import { allowedVerdict } from '../../../spending/policy-gate.ts';
import { addressLine } from '../address-line.ts';
import { z } from '../arguments.ts';
import { checkDayLimit } from '../guard.ts';
import { type Call, defineTool, type Question } from '../tool.ts';
import { flag, shown } from './shapes.ts';

export const orderPlace = defineTool({
  name: 'order_place',
  title: 'Place a quoted order',
  description:
    'Places the order of a quote, exactly as it was quoted. Spends money. One quote is one order: where an answer was lost, or is in doubt, place the same quote again. An order that exists already is not placed again: the answer names it, and what to do. Where a person must approve, show the user the command that the answer names, and place the same quote again afterwards.',
  effect: 'spends',
  isIdempotent: true,
  arguments: z.strictObject({ quote: z.string().min(1).max(200).describe('as order_quote gave it') }),
  output: () => ({
    order: shown('OrderResponse'),
    existed: flag('it had been placed before; nothing was ordered twice'),
  }),
  certain: ['order', 'existed'],
  untrusted: ['order'],
  async run(call, { quote: handle }) {
    const { context } = call;
    const quote = (await context.journal()).quotes.find(handle, await context.sender());
    if (!quote) throw unknownQuote();
    try {
      const before = await joined(quote);
      if (before) return { record: recordOf(before) };
      for (;;) {
        const checked = await checkBeforePlacing(call, quote);
        if ('question' in checked) return checked;
        if (call.cancelled.aborted)
          throw new ErrandError('interrupted', 'the call was cancelled; nothing was sent', {
            outcome: 'not_sent',
          });
        const placed = await once(quote, () => placeQuoted(context, quote, checked));
        // If there is no result, the request that was in doubt has ended without an order. Check again before placing a
        // new order.
        if (placed) return { record: recordOf(placed) };
      }
    } catch (error) {
      throw await explained(context, quote, error);
    }
  },
});

/** Quotes that this process is placing. A concurrent call for the same quote returns the same order. */
const placing = new Map<string, Promise<Placed | undefined>>();

const joined = ({ id }: Quote): Promise<Placed | undefined> | undefined =>
  placing.get(id)?.then((placed) => placed && { ...placed, existed: true });

function once(quote: Quote, work: () => Promise<Placed | undefined>): Promise<Placed | undefined> {
  // Another call may have started to place this quote while the checks were running.
  const before = joined(quote);
  if (before) return before;
  const made = work().finally(() => placing.delete(quote.id));
  placing.set(quote.id, made);
  return made;
}

const recordOf = ({ order, existed }: Placed) => ({ order, existed });

/**
 * Checks a quote for which no order is in progress: against earlier orders, against the policy and, if the client can
 * ask, with its user.
 * @returns the question for the user, or what was agreed to.
 * @throws ErrandError if the order may not be sent.
 */
async function checkBeforePlacing(
  call: Call,
  quote: Quote,
): Promise<Agreed | { readonly question: Question }> {
  const { context, isLive, canAsk } = call;
  const intent = await quotedIntent(context, quote);
  checkOwn(quote, intent);
  const record = (await context.journal()).find(quote.key, quote.baseUrl);
  if (isPlacing(quote, record)) return onlySettles;
  checkUsable(quote, record, context.clock.now());
  await checkDayLimit(context, isLive);
  const earlier = await earlierOrders(call, quote);
  if (earlier === 'settles') return onlySettles;
  const verdict = await allowedVerdict(context, [{ intent }], { asks: true });
  if (earlier && isLive && !canAsk && verdict?.approval?.state !== 'approved') throw unasked(earlier);
  const agreed = { toSend: true, toAnother: earlier !== undefined };
  if (!canAsk) return agreed;
  const question = await questionOf(context, quote, earlier);
  const answer = call.answer(question);
  if (answer === 'yes') return agreed;
  if (answer === undefined) return { question };
  throw new ErrandError('interrupted', 'the user did not agree; nothing was sent', {
    code: 'declined',
    outcome: 'not_sent',
    retryable: false,
  });
}

const onlySettles: Agreed = { toSend: false, toAnother: false };

/**
 * Finds the earlier orders to which the quote would add another order. Undefined if there are none. Returns `settles`
 * if placing the quote would only settle or show one of them.
 * @throws ErrandError conflict if earlier orders rule out another order.
 */
async function earlierOrders({ context }: Call, quote: Quote): Promise<QuoteBlock | 'settles' | undefined> {
  const order = quotedOrder(quote);
  if (!quote.isNew && (await unshownOrder(context, order))) return 'settles';
  const first = await decideQuote(context, order, { isNew: false });
  const { decision, seen } = first;
  if (decision.do === 'send') return undefined;
  if (!quote.isNew) {
    if (await isSettledByPlacing(context, order, first)) return 'settles';
    throw refusedQuote(await quoteBlock(context, quote, { decision, seen }));
  }
  const another = await decideQuote(context, order, { isNew: true, before: first });
  if (another.decision.do === 'send') return quoteBlock(context, quote, { decision, seen });
  const still = { decision: another.decision, seen: another.seen };
  throw refusedQuote(await quoteBlock(context, quote, still));
}

/** The error if another order with real money needs a person's agreement, but nobody has agreed. */
const unasked = ({ text, existing, next }: QuoteBlock): ErrandError =>
  new ErrandError('policy', `${text}; another one with real money needs a person, and nobody was asked`, {
    code: 'person_required',
    outcome: 'not_sent',
    retryable: false,
    details: { existing },
    hint: 'Tell the user. This client cannot ask: a person orders it with errand order create --new, or lets the policy ask for an approval (duplicates: { same: [product, address], within: 7d, then: approve }).',
    next,
  });

const maxLines = 10;

async function questionOf(
  context: Context,
  quote: Quote,
  earlier: QuoteBlock | undefined,
): Promise<Question> {
  const body = quotedBody(quote);
  const fee = await feeOf(context, 'order.create');
  const { pricesCents = [] } = quote;
  const lines = body.products.map(({ url, quantity, variant }, at) => {
    const chosen = (variant ?? []).slice(0, maxLines).map(({ label, value }) => `${label} ${value}`);
    const which = chosen.length > 0 ? ` (${safeText(chosen.join(', '), 100)})` : '';
    const price = pricesCents[at] ?? undefined;
    const each = price === undefined ? 'price not known' : `${dollars(price)} each`;
    return `${quantity} x ${safeText(url, 200)}${which}, ${each}`;
  });
  const known = earlier?.existing.map(({ order_id: id, key }) => id ?? key) ?? [];
  return {
    subject: JSON.stringify([quote.id, known]),
    message: [
      `Place ${earlier ? 'ANOTHER order' : 'this order'}${
        context.isRehearsal() ? '? It is a rehearsal: no real money moves.' : ' with real money?'
      }`,
      ...(earlier ? [`${safeText(earlier.text, maxEarlier)}.`] : []),
      ...lines.slice(0, maxLines),
      ...(lines.length > maxLines ? [`and ${lines.length - maxLines} more`] : []),
      `${foundText(quote, body)}; at most ${dollars(body.max_price)}, and a fee of ${dollars(fee)}`,
      `to ${addressLine(body.shipping_address)}`,
      ...(quote.reference ? [`reference ${safeText(metadataOf(quote.reference), 100)}`] : []),
    ].join('\n'),
    yes: `Place ${earlier ? 'another' : 'the'} order, for at most ${dollars(body.max_price + fee)}`,
  };
}

const maxEarlier = 600;

/** Describes the price of the products when they were quoted. The ceiling also has to cover shipping and tax. */
function foundText({ pricesCents = [] }: Quote, { products }: ReturnType<typeof quotedBody>): string {
  const costs = products.map(({ quantity }, at) => (pricesCents[at] ?? Number.NaN) * (quantity ?? 1));
  const sum = costs.reduce((all, cost) => all + cost, 0);
  return Number.isNaN(sum)
    ? 'not every price is known'
    : `${dollars(sum)} when it was quoted, before shipping and tax`;
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

/**
 * Rewords an error for this tool. If the quote now waits for an approval, makes the quote valid until that approval
 * expires.
 */
async function explained(context: Context, quote: Quote, error: unknown): Promise<unknown> {
  if (!(error instanceof ErrandError)) return error;
  if (error instanceof PolicyDenial) {
    const [approval] = objectsIn({ all: [own(error.facts.details, 'approval')] }, 'all');
    const until = Date.parse(textIn(approval, 'expires_at') ?? '');
    if (!Number.isNaN(until))
      await (await context.journal()).quotes.extend(quote, until, await context.sender());
    return error;
  }
  // If the conflict is final, the error already says what to do, for example about an earlier order.
  const isFinal = error.category === 'conflict' && error.facts.retryable === false;
  if (error.facts.outcome !== 'unknown' || isFinal) return error;
  return new ErrandError(error.category, error.message, {
    ...error.facts,
    hint: error instanceof StorageError ? `${error.facts.hint ?? ''} ${sameQuote}`.trim() : sameQuote,
    cause: error,
  });
}

const sameQuote = 'Do not quote it anew: place the same quote again, which gives exactly one order.';

const unknownQuote = (): ErrandError =>
  new ErrandError('not_found', 'there is no such quote; nothing was sent', {
    code: 'unknown_quote',
    outcome: 'not_sent',
    retryable: false,
    hint: 'Take it from order_quote as it is, whole.',
  });
