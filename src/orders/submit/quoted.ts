import { textIn } from '../../api/json.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Client } from '../../http/client.ts';
import { checkUsable, type Quote } from '../../journal/quotes.ts';
import { isBeingSent } from '../../journal/take-over.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { adoptOrder } from './existing.ts';
import { type IntentOf, intentOf, type KeyedBody, type Placed } from './intent.ts';
import { type Ended, recordOnce, settleOwed } from './repeats.ts';
import { send } from './send.ts';
import { earlierOrder, readyToSend } from './submit.ts';

/** How long to wait for another process that is placing the same quote, ms. */
const waitTimeoutMs = 40_000;
const pauseMs = 50;

/** The quote's order body, with its idempotency key. */
export const quotedBody = ({ body, key }: Quote): KeyedBody =>
  // The cast is safe because the body was validated before it was stored, and its checksum was verified.
  ({ ...(body as Shape<'OrderCreate'>), idempotency_key: key });

/** The intent of placing a quote. */
export const quotedIntent = (context: OrderContext, quote: Quote): Promise<IntentOf<'order.create'>> =>
  intentOf(context, 'order.create', { key: quote.key, keyOrigin: 'made', body: quotedBody(quote) });

/**
 * Places a quote's order exactly once, regardless of repeated calls, concurrent processes and crashes.
 * @throws ErrandError: conflict if the quote has expired, belongs to another account or service, or the same order was
 * just placed separately; in_doubt if no response settles the outcome.
 */
export async function placeQuoted(context: OrderContext, quote: Quote): Promise<Placed> {
  await readyToSend(context);
  const client = await context.client();
  const intent = await quotedIntent(context, quote);
  checkOwn(quote, intent);
  if (quote.orderId !== undefined) return adoptOrder(context, client, quotedBody(quote), quote.orderId);
  const journal = await context.journal();
  const deadline = new Deadline(context.clock, waitTimeoutMs);
  const ended = new Map<string, string>();
  let hasWaited = false;
  for (;;) {
    const record = journal.find(quote.key, quote.baseUrl);
    checkUsable(quote, record, context.clock.now());
    if (isBeingSent(record) && (await deadline.pause(pauseMs, context.signal))) {
      hasWaited = true;
      continue;
    }
    try {
      const placed = await place(context, client, quote, intent, ended);
      const id = textIn(placed.order, 'id');
      if (id !== undefined) await noteAnswer(context, quote, id);
      return hasWaited ? { ...placed, existed: true } : placed;
    } catch (error) {
      if (!(error instanceof ErrandError) || error.category !== 'conflict') throw error;
      // Another process was faster, possibly after a crash, so wait for its result.
      const now = journal.find(quote.key, quote.baseUrl);
      if (isBeingSent(now) && deadline.leftMs === 0) throw beingPlaced(error);
      if (!now || (now.state === record?.state && !isBeingSent(now))) throw error;
      hasWaited = true;
    }
  }
}

const beingPlaced = (cause: ErrandError): ErrandError =>
  new ErrandError('conflict', 'another process is placing this quote at this moment', {
    ...cause.facts,
    outcome: 'unknown',
    retryable: true,
    cause,
  });

async function place(
  context: OrderContext,
  client: Client,
  quote: Quote,
  intent: IntentOf<'order.create'>,
  ended: Ended,
): Promise<Placed> {
  const body = quotedBody(quote);
  const earlier = await earlierOrder(context, client, { ...intent, keyOrigin: 'chosen' }, body);
  if (earlier) return earlier;
  const unfinished = quote.isNew ? undefined : await settleOwed(context, intent, { ended });
  if (unfinished) return unfinished;
  const recorded = await recordOnce(context, intent, quote.isNew ? 'none' : 'repeats', { ended });
  if (recorded.placed) return recorded.placed;
  return send(context, client, { intent, body, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/** @throws ErrandError conflict if the quote is for another account, service or profile than the current one. */
export function checkOwn(
  quote: Quote,
  { account, baseUrl, profile }: Pick<IntentOf<'order.create'>, 'account' | 'baseUrl' | 'profile'>,
): void {
  const differs = quote.baseUrl !== baseUrl ? 'service' : quote.account !== account ? 'account' : undefined;
  const what = differs ?? (quote.profile !== profile ? 'profile' : undefined);
  if (what === undefined) return;
  throw new ErrandError(
    'conflict',
    `the quote is for another ${what} than the one in use; nothing was sent`,
    {
      code: 'quote_of_another',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Quote the order again.',
    },
  );
}

/**
 * Stores the result with the quote. Ignores a failure, because the journal record also holds the result until the
 * record is purged.
 */
async function noteAnswer(context: OrderContext, quote: Quote, id: string): Promise<void> {
  try {
    await (await context.journal()).quotes.answer(quote, id);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}
