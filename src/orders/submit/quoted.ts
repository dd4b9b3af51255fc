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

/** How long a call waits for another process that is placing the same quote at this moment, ms. */
const patienceMs = 40_000;
const pauseMs = 50;

/** The order of a quote, with the key that it is sent with. */
export const quotedBody = ({ body, key }: Quote): KeyedBody =>
  // It was checked against this shape before it was kept, and its checksum says that it is what was kept.
  ({ ...(body as Shape<'OrderCreate'>), idempotency_key: key });

/** The intent that placing a quote is. */
export const quotedIntent = (context: OrderContext, quote: Quote): Promise<IntentOf<'order.create'>> =>
  intentOf(context, 'order.create', { key: quote.key, keyOrigin: 'made', body: quotedBody(quote) });

/**
 * Places the order of a quote: once, however often, by however many processes and after whatever crash this is called.
 * @throws ErrandError: conflict for a quote that expired, or of another account or service, or where the same order was just
 * placed otherwise; in_doubt where no response settles it.
 */
export async function placeQuoted(context: OrderContext, quote: Quote): Promise<Placed> {
  await readyToSend(context);
  const client = await context.client();
  const intent = await quotedIntent(context, quote);
  checkOwn(quote, intent);
  if (quote.orderId !== undefined) return adoptOrder(context, client, quotedBody(quote), quote.orderId);
  const journal = await context.journal();
  const deadline = new Deadline(context.clock, patienceMs);
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
      // Another process was quicker, after a crash too: what it does is waited for.
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
  const owed = quote.isNew ? undefined : await settleOwed(context, intent, { ended });
  if (owed) return owed;
  const recorded = await recordOnce(context, intent, quote.isNew ? 'none' : 'repeats', { ended });
  if (recorded.placed) return recorded.placed;
  return send(context, client, { intent, body, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/** @throws ErrandError conflict for a quote that was made for another account, service or profile than those in use. */
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

/** The journal knows it too, for as long as it keeps the record. */
async function noteAnswer(context: OrderContext, quote: Quote, id: string): Promise<void> {
  try {
    await (await context.journal()).quotes.answer(quote, id);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}
