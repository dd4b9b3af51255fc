import { numberIn, textIn } from '../../api/json.ts';
import type { Client } from '../../http/client.ts';
import type { NewAttempt } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { checkUsable, isStarted, type Quote } from '../../journal/quotes.ts';
import { isBeingSent } from '../../journal/take-over.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { claimOf, orderSeen } from '../needs/decide-with-service.ts';
import {
  blockOf,
  decideQuote,
  type NotSent,
  type QuoteBlock,
  type QuotedOrder,
  refusedQuote,
  unshownOrder,
} from '../needs/quoted-need.ts';
import { attemptKey } from '../needs/reference.ts';
import type { Settled } from '../needs/settle.ts';
import { adoptOrder } from './existing.ts';
import { type Body, type IntentOf, intentOf, type KeyedBody, type Placed } from './intent.ts';
import { recordIntent } from './record.ts';
import { send } from './send.ts';
import { earlierOrder, readyToSend } from './submit.ts';

/** How long to wait, in ms, for another process that is placing the same quote. */
const waitTimeoutMs = 40_000;
const pauseMs = 50;

/** Lifetime of a quote, in ms. If a quote awaits approval, it lives as long as the approval. */
export const quoteLifetimeMs = 15 * 60 * 1000;

/** The order of a quote. */
export const quotedOrder = ({
  body,
  reference,
  again = false,
}: Pick<Quote, 'body' | 'reference' | 'again'>): QuotedOrder => ({
  // The cast is safe because the body was validated before it was stored, and its checksum was verified.
  body: body as Body,
  reference,
  again,
});

/** The order body of a quote, including its idempotency key. */
export const quotedBody = (quote: Quote): KeyedBody => ({
  ...quotedOrder(quote).body,
  idempotency_key: quote.key,
});

/** The intent of placing a quote. */
export const quotedIntent = (context: OrderContext, quote: Quote): Promise<IntentOf<'order.create'>> =>
  intentOf(context, 'order.create', {
    key: quote.key,
    keyOrigin: quote.reference ? 'chosen' : 'made',
    body: quotedBody(quote),
  });

/**
 * Whether a record with the quote's key is about the quote's own order. Quotes for the same reference share a key, even
 * if their orders differ.
 */
export const isOfQuote = (quote: Quote, record: JournalRecord | undefined): boolean =>
  record?.body_hash === contentHash('order.create', quote.body);

/** Whether something was sent for the quote. If so, placing the quote again sends no other order. */
export const isPlacing = (quote: Quote, record: JournalRecord | undefined): boolean =>
  quote.isSettling === true || quote.orderId !== undefined || (isStarted(record) && isOfQuote(quote, record));

/**
 * Makes a quote for an order in doubt, no matter who left the order in doubt. Placing the quote settles that order and
 * sends no other.
 */
export const settlingQuote =
  (context: OrderContext, client: string) =>
  async ({ key, body: { idempotency_key: _, ...body } }: JournalRecord): Promise<string> => {
    const { profile, baseUrl } = context.settings;
    const { account, mac } = await context.sender();
    return (await context.journal()).quotes.save(
      {
        ...{ key, account, profile: profile.value, baseUrl: baseUrl.value, client, body },
        ...{ isNew: false, isSettling: true, cents: numberIn(body, 'max_price') ?? 0 },
        expiresAt: context.clock.now() + quoteLifetimeMs,
      },
      mac,
    );
  };

/** What was agreed to before a quote is placed. */
export interface Agreed {
  /** Whether a new order may be sent. If not, only an order in doubt is settled. */
  readonly toSend: boolean;
  /** Whether to place a new order even if there are similar orders. */
  readonly toAnother: boolean;
}

/**
 * Places the order of a quote exactly once, even if calls are repeated, processes run concurrently, or a process
 * crashes.
 * @returns undefined if there is nothing to settle and nobody agreed to a new order.
 * @throws ErrandError: conflict if the quote has expired, if it belongs to another account or service, or if an earlier
 * order blocks it; in_doubt if no response settles the outcome.
 */
export async function placeQuoted(
  context: OrderContext,
  quote: Quote,
  agreed: Agreed,
): Promise<Placed | undefined> {
  await readyToSend(context);
  const client = await context.client();
  const intent = await quotedIntent(context, quote);
  checkOwn(quote, intent);
  if (quote.orderId !== undefined) return adoptOrder(context, client, quotedBody(quote), quote.orderId);
  const journal = await context.journal();
  const deadline = new Deadline(context.clock, waitTimeoutMs);
  for (;;) {
    const record = journal.find(quote.key, quote.baseUrl);
    checkUsable(quote, record, context.clock.now());
    if (isBeingSent(record) && (await deadline.pause(pauseMs, context.signal))) continue;
    try {
      const placed = await place(context, client, quote, { intent, record, agreed });
      if (placed === 'overtaken') continue;
      if (!placed) return undefined;
      const id = textIn(placed.order, 'id');
      if (id !== undefined) await noteAnswer(context, quote, id);
      return placed;
    } catch (error) {
      if (!(error instanceof ErrandError) || error.category !== 'conflict') throw error;
      // Another process was faster, and may have crashed. Wait for its result.
      const now = journal.find(quote.key, quote.baseUrl);
      if (isBeingSent(now) && deadline.leftMs === 0) throw beingPlaced(error);
      if (!now || (now.state === record?.state && !isBeingSent(now))) throw error;
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

interface Placing {
  readonly intent: IntentOf<'order.create'>;
  /** The journal's record of the quote's key. */
  readonly record: JournalRecord | undefined;
  readonly agreed: Agreed;
}

/** @returns `overtaken` if another process has meanwhile decided about the same need; nothing was recorded then. */
async function place(
  context: OrderContext,
  client: Client,
  quote: Quote,
  { intent, record, agreed }: Placing,
): Promise<Placed | 'overtaken' | undefined> {
  const body = quotedBody(quote);
  if (isOfQuote(quote, record)) {
    const earlier = await earlierOrder(context, client, { ...intent, keyOrigin: 'chosen' }, body);
    if (earlier) return earlier;
  }
  if (quote.isSettling) throw settledAlready(quote, record);
  const order = quotedOrder(quote);
  const isNew = agreed.toAnother;
  const unshown = isNew ? undefined : await unshownOrder(context, order);
  if (unshown) {
    (await context.journal()).recall(unshown.record);
    return unshown.placed;
  }
  const settled: Settled<'order.create'> = {};
  const decided = await decideQuote(context, order, { isNew, ...(!isNew && { settled }) });
  const { decision, seen, sources } = decided;
  const { made } = settled;
  const state = made && orderSeen(seen, { orderId: textIn(made.order, 'id') })?.state;
  const isOneOfTwo = decision.do === 'refuse' && decision.why === 'two_live';
  // If the order was settled but has ended meanwhile, it is not the result of this quote.
  if (made && !isOneOfTwo && (state === undefined || state === 'placed')) return made;
  if (decision.do !== 'send') throw refusedQuote(await quoteBlock(context, quote, { decision, seen }));
  if (!agreed.toSend) return undefined;
  if (order.reference && attemptKey(order.reference, decision.number) !== quote.key) throw outdated();
  const claim = claimOf(sources, decided, (number): NewAttempt => {
    // Check inside the transaction. Before the transaction, the quote may expire, or another process may place the
    // quote.
    checkUsable(quote, record, context.clock.now());
    return {
      ...{ run: undefined, number, key: quote.key, operation: intent.operation, upload: undefined },
      ...{ orderId: undefined, state: 'intended', madeAt: sources.now(), seenAt: undefined },
    };
  });
  const recorded = await recordIntent(context, intent, { claim });
  if (recorded.placed) return recorded.placed;
  if (recorded.isOvertaken) return 'overtaken';
  return send(context, client, { intent, body, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/** Describes the orders that block a quote, including their current state at the service. */
export const quoteBlock = (
  context: OrderContext,
  quote: Pick<Quote, 'body' | 'reference' | 'again' | 'client'>,
  decided: NotSent,
): Promise<QuoteBlock> => blockOf(context, quotedOrder(quote), decided, settlingQuote(context, quote.client));

/**
 * The error if the attempts for the quote's reference are no longer the same: since the quote was made, one has ended,
 * or another has begun.
 */
const outdated = (): ErrandError =>
  new ErrandError(
    'conflict',
    'what was ordered for the reference has changed since the quote; nothing was sent',
    {
      code: 'quote_outdated',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Quote the order again: it then says what there is.',
    },
  );

/** The error for placing a quote that settles an order in doubt, if the doubt has ended without a result. */
const settledAlready = ({ key }: Quote, record: JournalRecord | undefined): ErrandError =>
  new ErrandError(
    'conflict',
    `${key} is no longer in doubt: it was ${record?.state ?? 'removed from the journal'}; nothing was sent now`,
    {
      code: 'quote_settled',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Quote the order again, where it is still meant.',
    },
  );

/** @throws ErrandError conflict if the quote belongs to another account, service or profile than the current one. */
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
 * Stores the result with the quote. Ignores a failure, because the journal record has the result too, until the record
 * is purged.
 */
async function noteAnswer(context: OrderContext, quote: Quote, id: string): Promise<void> {
  try {
    await (await context.journal()).quotes.answer(quote, id);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}
