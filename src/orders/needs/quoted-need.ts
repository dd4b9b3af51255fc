import { relativeTime } from '../../format/time.ts';
import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { type JournalRecord, keyLifetimeMs } from '../../journal/journal-record.ts';
import { isOthers, wasSentWithOtherKey } from '../../journal/take-over.ts';
import { ErrandError, type NextStep, type Outcome, StorageError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { obstacleHint, policyObstacle } from '../../spending/policy-gate.ts';
import { absentAsNull, differences, differencesText, shownDifferences } from '../compare.ts';
import { stateOfOrder } from '../order-record.ts';
import { recordDifferences } from '../submit/existing.ts';
import { type Body, type IntentOf, intentOf, type Placed } from '../submit/intent.ts';
import type { Refusal } from './decide.ts';
import { type DecidedOrder, decideWithService, type NeedSources, orderSeen } from './decide-with-service.ts';
import { needOf } from './need.ts';
import { metadataOf } from './reference.ts';
import { batchesOf } from './refused.ts';
import { recordOf, sentAt } from './scope.ts';
import { seeOrder } from './service-orders.ts';
import { bringIn, isSameRequest, readAges, type Settled, sourcesFor } from './settle.ts';
import { windowsOf } from './windows.ts';

/** The order of a quote, and what the client stated about it. */
export interface QuotedOrder {
  /** The order without its key. Includes the reference. */
  readonly body: Body;
  readonly reference: Reference | undefined;
  /** Whether to order again what was cancelled or returned. */
  readonly again: boolean;
}

/** A decision about a quote's order, and what the claim for that order needs. */
export interface DecidedQuote extends DecidedOrder {
  readonly sources: NeedSources;
  /** Time in ms since the epoch, by the service's clock. */
  readonly startedAt: number;
}

interface Deciding {
  /** Whether to place a new order even if there are similar orders. */
  readonly isNew: boolean;
  /**
   * Receives the result if a request in doubt with the same content is settled. If this is missing, such a request is
   * not resent.
   */
  readonly settled?: Settled<'order.create'>;
  /** An earlier decision of the same call. What that decision has read is not read again. */
  readonly before?: DecidedQuote;
}

/** Decides about the order of a quote. @throws ErrandError if the service cannot be read; nothing was sent. */
export async function decideQuote(
  context: OrderContext,
  order: QuotedOrder,
  { isNew, settled, before }: Deciding,
): Promise<DecidedQuote> {
  try {
    const { body, reference, again } = order;
    const intent = await unkeyedIntent(context, order);
    const sources = await sourcesFor(context, { order: body, intent }, settled);
    const windows = windowsOf(context);
    await bringIn(context, sources, needOf(body), intent, (await context.journal()).sameContent(intent));
    await readAges(context, sources, { order: body, placing: { isNew, reference } }, windows);
    const startedAt = before?.startedAt ?? sources.now();
    const requested = {
      door: 'mcp',
      statement: { isNew, again },
      windows,
      ...(before && { freshSince: startedAt, listedAt: before.request.listedAt }),
    } as const;
    const decided = await decideWithService(sources, requested, body, reference);
    return { ...decided, seen: new Map([...(before?.seen ?? []), ...decided.seen]), sources, startedAt };
  } catch (error) {
    throw unreadable(context, error);
  }
}

const unkeyedIntent = (
  context: OrderContext,
  { body }: Pick<QuotedOrder, 'body'>,
): Promise<IntentOf<'order.create'>> =>
  intentOf(context, 'order.create', { key: '', keyOrigin: 'made', body: { ...body } });

/** Converts the error of reading an earlier order. Nothing is sent then. Returns any other error unchanged. */
function unreadable({ signal }: OrderContext, error: unknown): unknown {
  if (!(error instanceof ErrandError) || error instanceof StorageError || signal.aborted) return error;
  if (error.category !== 'unavailable') return error;
  const { message, facts } = error;
  const isOfOrder = facts.outcome === 'applied';
  const text = `what was ordered before cannot be read (${message}); nothing was sent`;
  return new ErrandError(error.category, isOfOrder ? message : text, {
    ...facts,
    outcome: isOfOrder ? facts.outcome : 'not_sent',
    hint: 'Call it again once the service can be read.',
    cause: error,
  });
}

interface Unshown {
  readonly placed: Placed;
  readonly record: JournalRecord;
}

/**
 * Finds the live order that an interrupted call with the same content has placed and that nobody was shown. Ignores an
 * order older than a day, because by then the same call may mean another order.
 */
export async function unshownOrder(context: OrderContext, order: QuotedOrder): Promise<Unshown | undefined> {
  const intent = await unkeyedIntent(context, order);
  for (const record of (await context.journal()).sameContent(intent)) {
    const { state, order_id: id, settled_at: at, created_at: since } = record;
    if (state !== 'responded' || id === null || isOthers(record)) continue;
    if (wasSentWithOtherKey(record, intent)) continue;
    if (Date.parse(at ?? since) < context.clock.now() - keyLifetimeMs) continue;
    const seen = await seeOrder(await context.client(), id).catch((error: unknown) => {
      throw unreadable(context, error);
    });
    if (seen?.state === 'placed') return { placed: { order: seen.order, existed: true }, record };
  }
  return undefined;
}

/**
 * Whether the only thing blocking a quote is an earlier attempt at the same order whose outcome is in doubt. Placing
 * the quote then settles that attempt.
 */
export async function isSettledByPlacing(
  context: OrderContext,
  order: QuotedOrder,
  { decision }: DecidedOrder,
): Promise<boolean> {
  if (decision.do !== 'refuse' || decision.why !== 'in_doubt') return false;
  const [attempt, ...others] = decision.attempts;
  const record = attempt && recordOf(await context.journal(), context, attempt);
  const intent = await unkeyedIntent(context, order);
  return others.length === 0 && record?.state === 'intended' && isSameRequest(record, intent);
}

/** An earlier order with which a quote is compared. Times are in ISO 8601. */
export interface ExistingOrder {
  readonly [field: string]: unknown;
  /** Id of the order; null as long as it is unknown whether there is an order. */
  readonly order_id: string | null;
  readonly state: 'placed' | 'in_doubt' | 'unknown' | 'cancelled' | 'returned';
  /** Current status at the service; null if the status was not read. */
  readonly status: string | null;
  readonly made_at: string;
  /** Relative to now. */
  readonly age: string;
  readonly reference: string | null;
  readonly differences: readonly {
    readonly field: string;
    readonly requested: unknown;
    readonly existing: unknown;
  }[];
  /** Key to pass to `order_explain`; null if there is an order id. */
  readonly key: string | null;
  /** Tool call that settles the order in doubt; null if there is no such call. */
  readonly settled_by: { readonly tool: 'order_place'; readonly quote: string } | null;
}

/** Why the order of a quote is not sent, and which orders block it. */
export interface QuoteBlock {
  readonly why: Refusal;
  readonly existing: readonly ExistingOrder[];
  /** A sentence without a full stop. */
  readonly text: string;
  readonly hint: string;
  /** Commands for a person. */
  readonly next: readonly NextStep[];
}

/** Makes a quote that settles an order in doubt. @returns the handle of the quote. */
type SettlingQuote = (record: JournalRecord) => Promise<string>;

/** A decision not to send an order, and the orders that were read to make the decision. */
export interface NotSent extends Pick<DecidedOrder, 'seen'> {
  readonly decision: Exclude<DecidedOrder['decision'], { readonly do: 'send' }>;
}

/** Describes why a quote is blocked. Also describes the blocking orders with their current state at the service. */
export async function blockOf(
  context: OrderContext,
  { body, reference }: QuotedOrder,
  { decision, seen }: NotSent,
  settlingQuote: SettlingQuote,
): Promise<QuoteBlock> {
  const why = 'why' in decision ? decision.why : 'exists';
  const existing: ExistingOrder[] = [];
  for (const attempt of decision.attempts)
    existing.push(await existingOf(context, body, seen, attempt, settlingQuote));
  const named = reference ? metadataOf(reference) : '';
  const listed = existing.map(existingText).join(', ');
  const differing = existing.flatMap((one) => one.differences).map((one) => ({ ...one, isVariant: false }));
  const [settled] = existing.flatMap(({ settled_by: by }) => by ?? []);
  const isUnclear = why === 'in_doubt' || why === 'unknown';
  const policy = isUnclear
    ? undefined
    : await policyObstacle(context, [{ intent: await unkeyedIntent(context, { body }) }]);
  return {
    why,
    existing,
    text: texts[why](listed, named, differencesText(differing)),
    hint:
      policy?.outcome === 'refused'
        ? obstacleHint(policy)
        : why === 'in_doubt' && settled
          ? `Place the quote ${settled.quote} with order_place: it settles the order in doubt, and orders nothing else. Then quote again.`
          : refusals[why].hint,
    next: await commandsFor(context, decision.attempts),
  };
}

async function existingOf(
  context: OrderContext,
  body: Body,
  seen: NotSent['seen'],
  attempt: Attempt,
  settlingQuote: SettlingQuote,
): Promise<ExistingOrder> {
  const { state, orderId, key, reference } = attempt;
  const found = orderSeen(seen, attempt);
  const journal = await context.journal();
  const made_at = new Date(sentAt(journal, context, attempt)).toISOString();
  const record = found ? undefined : recordOf(journal, context, attempt);
  const isSettled = record?.state === 'intended' && record.operation === 'order.create';
  return {
    order_id: orderId ?? null,
    state: state === 'intended' ? 'in_doubt' : state === 'failed' || state === 'unsent' ? 'unknown' : state,
    status: found ? safeText(stateOfOrder(found.order).text, maxStatus) : null,
    made_at,
    age: relativeTime(made_at, context.serviceClock.now()),
    reference: reference ? metadataOf(reference) : null,
    differences: found
      ? shownDifferences(differences(body, absentAsNull(found.order)))
      : isSettled
        ? shownDifferences(recordDifferences(record, body))
        : [],
    key: orderId === undefined ? key : null,
    settled_by: isSettled ? { tool: 'order_place', quote: await settlingQuote(record) } : null,
  };
}

const maxStatus = 60;

/** `ID (waiting, 3m ago)`. */
const existingText = ({ order_id: id, key, status, state, age }: ExistingOrder): string =>
  `${id ?? key} (${status ?? state.replace('_', ' ')}, ${age})`;

type Text = (orders: string, reference: string, differences: string) => string;

const texts: Readonly<Record<Refusal, Text>> = {
  in_doubt: (orders) => `an order of the same is in doubt: ${orders}`,
  unknown: (orders) => `nobody knows what became of an earlier order of the same: ${orders}`,
  alike: (orders) => `the same was ordered already: ${orders}`,
  overlaps: (orders) => `some of it was ordered already: ${orders}`,
  differs: (orders, reference, differing) =>
    `the reference ${reference} has a live order that differs, ${orders}: ${differing}`,
  exists: (orders, reference) => `the reference ${reference} has a live order, ${orders}`,
  old: (orders, reference) => `the reference ${reference} was used before, for ${orders}`,
  two_live: (orders, reference) => `the reference ${reference} has more than one live order: ${orders}`,
  other_namespace: (orders, reference) =>
    `the same was ordered under this reference in another namespace than that of ${reference}: ${orders}`,
  cancelled: (orders) => `the same was ordered and cancelled: ${orders}`,
  returned: (orders) => `the same was ordered and sent back: ${orders}`,
};

const another =
  'Read that order with order_get, and tell the user. Only where the user asked for another one, quote it again with new: true.';
const otherReference =
  'Read that order with order_get: it is the one. Another order takes another reference, or none.';
const onlyIfAsked = 'Only where the user wants it again, quote it with again: true.';

/** Error codes of refusals, and what the agent can do about each. */
const refusals: Readonly<Record<Refusal, { readonly code: string; readonly hint: string }>> = {
  in_doubt: {
    code: 'order_in_doubt',
    hint: 'Show the user the command, which finds out. It is ordered neither again nor with new: true until then.',
  },
  unknown: {
    code: 'order_unknown',
    hint: 'Look for it with order_list, and ask the user. Only where there is none, quote it with new: true, and under a reference with again: true.',
  },
  alike: { code: 'repeated_order', hint: another },
  overlaps: { code: 'order_overlaps', hint: another },
  differs: { code: 'order_differs', hint: otherReference },
  exists: { code: 'order_exists', hint: otherReference },
  old: { code: 'order_exists', hint: otherReference },
  two_live: { code: 'order_two_live', hint: otherReference },
  other_namespace: { code: 'order_other_namespace', hint: another },
  cancelled: { code: 'order_cancelled', hint: onlyIfAsked },
  returned: { code: 'order_returned', hint: onlyIfAsked },
};

async function commandsFor(
  context: OrderContext,
  attempts: readonly Attempt[],
): Promise<readonly NextStep[]> {
  const where = whereFlags(context);
  const steps: NextStep[] = [];
  for (const attempt of attempts) {
    const { orderId, state, key, upload } = attempt;
    const batches = await batchesOf(context, [attempt]);
    if (batches.length > 0) steps.push(...batches);
    else if (orderId !== undefined)
      steps.push({ command: shellLine`errand order get ${orderId}` + where, when: 'to see it' });
    else if (state === 'intended')
      steps.push({
        command: journalCommand('resume', upload ?? key, where),
        when: 'to find out, safely',
      });
  }
  return steps;
}

/** The error for a quote that is not placed. @returns ErrandError conflict. */
export function refusedQuote({ why, text, hint, next, existing }: QuoteBlock): ErrandError {
  const outcome: Outcome = why === 'in_doubt' || why === 'unknown' ? 'unknown' : 'applied';
  const [first] = existing;
  return new ErrandError('conflict', `${text}; nothing was ordered now`, {
    code: refusals[why].code,
    outcome,
    retryable: false,
    hint,
    next,
    details: { order_id: first?.order_id ?? null, existing },
    idempotencyKey: first?.key ?? undefined,
  });
}
