import { own } from '../../api/json.ts';
import { contentIn } from '../../format/canonical-need.ts';
import { relativeTime } from '../../format/time.ts';
import { pages } from '../../http/paging.ts';
import type { Attempt, AttemptChange, Reference } from '../../journal/attempts.ts';
import { contentHash, differingFields } from '../../journal/content.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { type JournalRecord, keyLifetimeMs } from '../../journal/journal-record.ts';
import { isOthers } from '../../journal/take-over.ts';
import { ErrandError, type NextStep, type Outcome } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { absentAsNull, differences, differencesText, shownDifferences } from '../compare.ts';
import { stateOfOrder } from '../order-record.ts';
import type { Body, Placed } from '../submit/intent.ts';
import { resumeKnown } from '../submit/resume.ts';
import type { Refusal } from './decide.ts';
import { type DecidedOrder, decideWithService, type NeedSources, orderSeen } from './decide-with-service.ts';
import { compareNeeds, needOf } from './need.ts';
import { metadataOf } from './reference.ts';
import { scopeOf } from './scope.ts';
import { listedByReference } from './service-orders.ts';
import { windowsOf } from './windows.ts';

/** What quotes need: also the service's time. */
export type QuoteContext = OrderContext & Pick<Context, 'serviceClock'>;

/** The order of a quote, and what was stated with it. */
export interface QuotedOrder {
  /** Without its key; carries the reference. */
  readonly body: Body;
  readonly reference: Reference | undefined;
  /** Orders again what was cancelled or returned. */
  readonly again: boolean;
}

/** A decision about a quote's order, with what its claim needs. */
export interface DecidedQuote extends DecidedOrder {
  readonly sources: NeedSources;
  /** By the service's clock, ms since the epoch. */
  readonly startedAt: number;
}

interface Deciding {
  /** Whether another order than the existing ones is intended. */
  readonly isNew: boolean;
  /** Whether an order in doubt with the same content is settled, which may send it again. */
  readonly settles?: boolean;
  /** A decision of this same call, so that nothing is read twice. */
  readonly before?: DecidedQuote;
}

/** Decides about the order of a quote. @throws ErrandError if the service cannot be read; nothing was sent. */
export async function decideQuote(
  context: QuoteContext,
  { body, reference, again }: QuotedOrder,
  { isNew, settles = false, before }: Deciding,
): Promise<DecidedQuote> {
  const client = await context.client();
  const now = () => context.serviceClock.now();
  const sources: NeedSources = {
    attempts: await (await context.journal()).attempts(),
    scope: await scopeOf(context),
    client,
    list: listedByReference(client),
    now,
    settle: (attempt) => settleAttempt(context, body, attempt, settles),
  };
  const startedAt = before?.startedAt ?? now();
  const requested = {
    door: 'mcp',
    statement: { isNew, again },
    windows: windowsOf(context),
    ...(before && { freshSince: startedAt, listedAt: before.request.listedAt }),
  } as const;
  const decided = await decideWithService(sources, requested, body, reference).catch((error: unknown) => {
    throw unreadable(context, error);
  });
  return { ...decided, seen: new Map([...(before?.seen ?? []), ...decided.seen]), sources, startedAt };
}

/** Nothing is sent while nobody can tell what became of an earlier order. */
function unreadable({ signal }: QuoteContext, error: unknown): unknown {
  if (!(error instanceof ErrandError) || error.category !== 'unavailable' || signal.aborted) return error;
  const message = `what was ordered before cannot be read (${error.message}); nothing was sent`;
  return new ErrandError(error.category, message, {
    ...error.facts,
    outcome: 'not_sent',
    hint: 'Call it again once the service can be read.',
    cause: error,
  });
}

/**
 * Age in ms after which an attempt without an intent counts as never sent. A shared database persists the two
 * separately.
 */
const claimMs = 120_000;

/** Determines what became of an attempt whose order is unknown. */
async function settleAttempt(
  context: QuoteContext,
  body: Body,
  attempt: Attempt,
  settles: boolean,
): Promise<Omit<AttemptChange, 'serial' | 'seenAt'>> {
  const { state, madeAt } = attempt;
  const record = await recordOf(context, attempt);
  if (!record && attempt.upload === undefined && state === 'intended')
    return { state: context.serviceClock.now() - madeAt > claimMs ? 'unsent' : state };
  if (record && isOwnRecord(attempt)) {
    if (record.order_id !== null) return { state: 'placed', orderId: record.order_id };
    if (record.state === 'refused') return { state: 'failed' };
    if (record.state === 'intended') {
      if (!settles || isOthers(record) || !hasContent(record, body)) return { state: 'intended' };
      context.note(`the same order is in doubt since ${record.created_at}; settling that one`);
      const { order } = await resumeKnown(context, 'order.create', record);
      return { state: 'placed', orderId: String(order.id) };
    }
  }
  if (state === 'intended' && record?.state === 'intended') return { state };
  const orderId = await orderAlike(context, body, attempt);
  if (orderId !== undefined) return { state: 'placed', orderId };
  return { state: state === 'intended' && isOwnRecord(attempt) ? 'unknown' : state };
}

/** The journal's record an attempt was sent with: its own, or that of the upload it is a row of. */
const recordOf = async (
  context: OrderContext,
  { key, upload }: Attempt,
): Promise<JournalRecord | undefined> =>
  (await context.journal()).find(upload ?? key, context.settings.baseUrl.value);

const isOwnRecord = ({ upload }: Attempt): boolean => upload === undefined;

const hasContent = ({ operation, body_hash: hash }: JournalRecord, body: Body): boolean =>
  hash === contentHash(operation, body);

const hourMs = 3600 * 1000;

/**
 * Searches the service for the order of an attempt whose record does not name it: one that is alike as the attempt is,
 * was made since, and was made by no other record. A reference is searched for by itself.
 */
async function orderAlike(
  context: OrderContext,
  body: Body,
  { reference, likeness, madeAt }: Attempt,
): Promise<string | undefined> {
  if (reference || likeness === 'unlike') return undefined;
  const need = needOf(body);
  const journal = await context.journal();
  const query = { created_after: new Date(madeAt - hourMs).toISOString() };
  for await (const { rows } of pages(await context.client(), 'order.list', { query }, { all: true }))
    for (const row of rows) {
      const content = contentIn(row, 'items');
      if (!content || compareNeeds(need, needOf(content)) !== likeness) continue;
      const id = String(row.id);
      if (!journal.madeBy(id, context.settings.baseUrl.value)) return id;
    }
  return undefined;
}

interface Unshown {
  readonly placed: Placed;
  readonly record: JournalRecord;
}

/**
 * The live order that an interrupted call with the same content has placed and nobody was shown; undefined if none.
 * Days later, the same call probably means another order.
 */
export async function unshownOrder(
  context: QuoteContext,
  body: Body,
  { decision, seen }: DecidedOrder,
): Promise<Unshown | undefined> {
  if (decision.do === 'send') return undefined;
  for (const attempt of decision.attempts) {
    const found = orderSeen(seen, attempt);
    const record = await recordOf(context, attempt);
    if (!found || !record || !isOwnRecord(attempt) || record.state !== 'responded') continue;
    if (isOthers(record) || !hasContent(record, body)) continue;
    if (Date.parse(record.settled_at ?? record.created_at) < context.clock.now() - keyLifetimeMs) continue;
    return { placed: { order: found.order, existed: true }, record };
  }
  return undefined;
}

/** Whether the order of a quote is in doubt with the same content, so that placing the quote settles it. */
export async function isSettledByPlacing(
  context: OrderContext,
  body: Body,
  { decision }: DecidedOrder,
): Promise<boolean> {
  if (decision.do !== 'refuse' || decision.why !== 'in_doubt') return false;
  const [attempt, ...others] = decision.attempts;
  const record = attempt && isOwnRecord(attempt) ? await recordOf(context, attempt) : undefined;
  return others.length === 0 && record?.state === 'intended' && hasContent(record, body);
}

/** An earlier order that a quote is compared with. Times are ISO 8601. */
export interface ExistingOrder {
  readonly [field: string]: unknown;
  /** Null while it is not known whether there is an order. */
  readonly order_id: string | null;
  readonly state: 'placed' | 'in_doubt' | 'unknown' | 'cancelled' | 'returned';
  /** As the service has it now. */
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
  /** What `order_explain` takes, if there is no order id. */
  readonly key: string | null;
  /** The call that settles it, if it is in doubt. */
  readonly settled_by: { readonly tool: 'order_place'; readonly quote: string } | null;
}

/** Why a quote's order is not sent, and the orders that stand in its way. */
export interface Standing {
  readonly why: Refusal;
  readonly existing: readonly ExistingOrder[];
  /** A sentence without a full stop. */
  readonly text: string;
  readonly hint: string;
  /** Commands for a person. */
  readonly next: readonly NextStep[];
}

/** Makes a quote that settles an order in doubt. @returns its handle. */
type SettlingQuote = (record: JournalRecord) => Promise<string>;

/** A decision not to send, with the orders that were read to make it. */
export interface NotSent extends Pick<DecidedOrder, 'seen'> {
  readonly decision: Exclude<DecidedOrder['decision'], { readonly do: 'send' }>;
}

/** Describes the orders that a decision names, as the service has them now. */
export async function standingOf(
  context: QuoteContext,
  { body, reference }: QuotedOrder,
  { decision, seen }: NotSent,
  settlingQuote: SettlingQuote,
): Promise<Standing> {
  const why = 'why' in decision ? decision.why : 'exists';
  const existing: ExistingOrder[] = [];
  for (const attempt of decision.attempts)
    existing.push(await existingOf(context, body, seen, attempt, settlingQuote));
  const named = reference ? metadataOf(reference) : '';
  const listed = existing.map(existingText).join(', ');
  const differing = existing.flatMap((one) => one.differences).map((one) => ({ ...one, isVariant: false }));
  const [settled] = existing.flatMap(({ settled_by: by }) => by ?? []);
  return {
    why,
    existing,
    text: texts[why](listed, named, differencesText(differing)),
    hint:
      why === 'in_doubt' && settled
        ? `Place the quote ${settled.quote} with order_place: it settles the order in doubt, and orders nothing else. Then quote again.`
        : refusals[why].hint,
    next: await commandsFor(context, decision.attempts),
  };
}

async function existingOf(
  context: QuoteContext,
  body: Body,
  seen: NotSent['seen'],
  attempt: Attempt,
  settlingQuote: SettlingQuote,
): Promise<ExistingOrder> {
  const { state, orderId, madeAt, key, reference } = attempt;
  const found = orderSeen(seen, attempt);
  const made_at = new Date(madeAt).toISOString();
  const record = found ? undefined : await recordOf(context, attempt);
  const isSettled =
    record?.state === 'intended' && record.operation === 'order.create' && isOwnRecord(attempt);
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
        ? differencesFrom(record, body)
        : [],
    key: orderId === undefined ? key : null,
    settled_by: isSettled ? { tool: 'order_place', quote: await settlingQuote(record) } : null,
  };
}

const maxStatus = 60;

/** Differences between what is requested and what was sent, whose order is in doubt. */
const differencesFrom = ({ operation, body: sent }: JournalRecord, body: Body) =>
  differingFields(operation, body, sent).map((path) => ({
    field: path.join('.'),
    requested: path.reduce<unknown>(own, body) ?? null,
    existing: path.reduce<unknown>(own, sent) ?? null,
  }));

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

/** Error codes of refusals, and what the agent can do. */
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
  context: QuoteContext,
  attempts: readonly Attempt[],
): Promise<readonly NextStep[]> {
  const where = whereFlags(context);
  const steps: NextStep[] = [];
  for (const attempt of attempts) {
    const { orderId, state, key, upload } = attempt;
    if (orderId !== undefined)
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
export function refusedQuote({ why, text, hint, next, existing }: Standing): ErrandError {
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
