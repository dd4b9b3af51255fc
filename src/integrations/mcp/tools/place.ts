import { objectsIn, own, textIn } from '../../../api/json.ts';
import { checkUsable, isStarted, type Quote } from '../../../journal/quotes.ts';
import type { Placed } from '../../../orders/submit/intent.ts';
import { checkOwn, placeQuoted, quotedBody, quotedIntent } from '../../../orders/submit/quoted.ts';
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
    'Places the order of a quote, exactly as it was quoted. Spends money. One quote is one order: where an answer was lost, or is in doubt, place the same quote again, and do not quote anew. Where a person must approve, show the user the command that the answer names, and place the same quote again afterwards.',
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
    const quote = (await context.journal()).quotes.find(handle);
    if (!quote) throw unknownQuote();
    try {
      const before = joined(quote);
      if (before) return { record: recordOf(await before) };
      const question = await checkBeforePlacing(call, quote);
      if (question) return { question };
      if (call.cancelled.aborted)
        throw new ErrandError('interrupted', 'the call was cancelled; nothing was sent', {
          outcome: 'not_sent',
        });
      return { record: recordOf(await once(quote, () => placeQuoted(context, quote))) };
    } catch (error) {
      throw await explained(context, quote, error);
    }
  },
});

/** Quotes this process is placing; a concurrent call for the same quote gets the same order. */
const placing = new Map<string, Promise<Placed>>();

const joined = ({ id }: Quote): Promise<Placed> | undefined =>
  placing.get(id)?.then((placed) => ({ ...placed, existed: true }));

function once(quote: Quote, work: () => Promise<Placed>): Promise<Placed> {
  // Another call may have started to place this quote during the checks.
  const before = joined(quote);
  if (before) return before;
  const made = work().finally(() => placing.delete(quote.id));
  placing.set(quote.id, made);
  return made;
}

const recordOf = ({ order, existed }: Placed) => ({ order, existed });

/**
 * Checks an order that is not yet in progress, against the policy and, if the client can ask, with its user.
 * @returns the question for the user; undefined if the order may be sent.
 * @throws ErrandError if the order may not be sent.
 */
async function checkBeforePlacing(
  { context, isLive, canAsk, answer }: Call,
  quote: Quote,
): Promise<Question | undefined> {
  const intent = await quotedIntent(context, quote);
  checkOwn(quote, intent);
  const record = (await context.journal()).find(quote.key, quote.baseUrl);
  if (quote.orderId !== undefined || isStarted(record)) return undefined;
  checkUsable(quote, record, context.clock.now());
  await checkDayLimit(context, isLive);
  await allowedVerdict(context, [{ intent }], { asks: true });
  if (!canAsk || answer === 'yes') return undefined;
  if (answer === undefined) return questionOf(context, quote);
  throw new ErrandError('interrupted', 'the user did not agree; nothing was sent', {
    code: 'declined',
    outcome: 'not_sent',
    retryable: false,
  });
}

const maxLines = 10;

async function questionOf(context: Context, quote: Quote): Promise<Question> {
  const body = quotedBody(quote);
  const fee = await feeOf(context, 'order.create');
  const lines = body.products.map(({ url, quantity, variant }) => {
    const chosen = (variant ?? []).slice(0, maxLines).map(({ label, value }) => `${label} ${value}`);
    const which = chosen.length > 0 ? ` (${safeText(chosen.join(', '), 100)})` : '';
    return `${quantity} x ${safeText(url, 200)}${which}`;
  });
  return {
    message: [
      context.isRehearsal()
        ? 'Place this order? It is a rehearsal: no real money moves.'
        : 'Place this order with real money?',
      ...lines.slice(0, maxLines),
      ...(lines.length > maxLines ? [`and ${lines.length - maxLines} more`] : []),
      `at most ${dollars(body.max_price)}, and a fee of ${dollars(fee)}`,
      `to ${addressLine(body.shipping_address)}`,
    ].join('\n'),
    yes: `Place the order, for at most ${dollars(body.max_price + fee)}`,
  };
}

const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

/** Rewords an error for this tool. Extends a quote that awaits approval until the approval expires. */
async function explained(context: Context, quote: Quote, error: unknown): Promise<unknown> {
  if (!(error instanceof ErrandError)) return error;
  if (error instanceof PolicyDenial) {
    const [approval] = objectsIn({ all: [own(error.facts.details, 'approval')] }, 'all');
    const until = Date.parse(textIn(approval, 'expires_at') ?? '');
    if (!Number.isNaN(until)) await (await context.journal()).quotes.extend(quote, until);
    return error;
  }
  if (error.category === 'conflict' && error.facts.outcome === 'applied')
    return new ErrandError(error.category, error.message, {
      ...error.facts,
      code: 'repeated_order',
      hint: 'Read that order, and tell the user. Only where the user asked for another one, quote it again with new: true.',
      next: [],
      cause: error,
    });
  if (error.category === 'unavailable' && error.facts.outcome === 'applied')
    return new ErrandError(error.category, error.message, {
      ...error.facts,
      hint: 'Place the same quote again once that order can be read: it is ordered again only if that one has failed or was cancelled.',
      next: [],
      cause: error,
    });
  if (error.facts.outcome !== 'unknown') return error;
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
