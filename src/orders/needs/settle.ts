import { objectsIn, textIn } from '../../api/json.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import type { IntentStory } from '../../journal/intent-story.ts';
import type { Journal } from '../../journal/journal.ts';
import { type Intent, isUnnoted, type JournalRecord, keyLifetimeMs } from '../../journal/journal-record.ts';
import { isSelf } from '../../journal/owner.ts';
import {
  damagedRecord,
  isAtWork,
  isOthers,
  reorderHint,
  reorderSentence,
  sentWithOtherKey,
  wasSentWithOtherKey,
} from '../../journal/take-over.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { absentAsNull, isOtherThanRequested } from '../compare.ts';
import type { JournaledOperation, MadeBy, OrderRecord } from '../order-record.ts';
import { readOrder } from '../submit/existing.ts';
import { asOrder, type Body, type IntentOf, isPaid, labelsOf, type Made } from '../submit/intent.ts';
import { resumeKnown } from '../submit/resume.ts';
import { settleIntent } from '../submit/send.ts';
import {
  type NeedSources,
  needDifferences,
  type Outcome,
  readOrderOf,
  recordSeen,
} from './decide-with-service.ts';
import { type Need, needOf } from './need.ts';
import type { Purchase } from './purchase.ts';
import { metadataOf, referenceIn } from './reference.ts';
import { refusedOrder } from './refused.ts';
import { recordOf, scopeOf } from './scope.ts';
import { findOrders } from './search.ts';
import { listedByReference, ordersOf, seeOrder } from './service-orders.ts';
import { isWithin, listLagMs, type Windows, waitHint, windowsOf } from './windows.ts';

/** How long to wait, in ms, for another process that is placing the same order. */
const maxWaitMs = 10_000;
const pauseMs = 40;
/**
 * Age, in ms, beyond which an attempt without an intent counts as never sent. Such attempts exist because earlier
 * versions persisted attempts and intents separately.
 */
const claimMs = 120_000;

/** Holds the result of this command's own request that was in doubt, once the request is settled. */
export interface Settled<N extends JournaledOperation> {
  made?: Made<MadeBy[N]>;
}

/** The request being decided about. */
type Request<N extends JournaledOperation> = Pick<Purchase<N>, 'order' | 'intent'>;

/**
 * Prepares what a decision about a request needs.
 * @param settled receives the result if an attempt turns out to be this command's own request. If this is missing, a
 * request in doubt is not resent.
 * @param sendsAgain tells whether a request in doubt may be resent. If not, errand only searches for the request's
 * order, and gives the request up if the service does not list one.
 */
export async function sourcesFor<N extends JournaledOperation>(
  context: OrderContext,
  purchase: Request<N>,
  settled?: Settled<N>,
  { sendsAgain = true }: { readonly sendsAgain?: boolean } = {},
): Promise<NeedSources> {
  const client = await context.client();
  const now = () => context.serviceClock.now();
  const journal = await context.journal();
  const attempts = await journal.attempts();
  const sources = {
    attempts,
    scope: await scopeOf(context, attempts, purchase.intent.operation),
    client,
    list: listedByReference(client),
    now,
  } as const;
  await heedChain(context, sources, purchase);
  return {
    ...sources,
    settle: (attempt, isOnly) =>
      settleAttempt(context, sources, purchase, attempt, { settled, isOnly, sendsAgain }),
    mayResend: (attempt) => {
      if (!sendsAgain) return false;
      const record = recordOf(journal, context, attempt);
      return record?.state === 'intended' && isSameRequest(record, purchase.intent);
    },
    isOther: (attempt, order) => isOther(context, attempt, order),
  };
}

/**
 * Corrects attempts according to the audit chain of a shared database. Whoever can write to the database can claim that
 * an order was never made. But the order's entries that this machine knows cannot be removed from the chain, and only
 * the holder of a key can sign how the order ended. The corrected attempts are later read from the service.
 */
async function heedChain<N extends JournaledOperation>(
  context: OrderContext,
  { attempts, scope, now }: Pick<NeedSources, 'attempts' | 'scope' | 'now'>,
  { order, intent: { operation, body, baseUrl, account, mac } }: Request<N>,
): Promise<void> {
  const { singleMs } = windowsOf(context);
  const { audit, isShared } = await context.journal();
  if (singleMs === 0 || !isShared) return;
  const live = audit
    .liveIntents({
      ...{ content: contentHash(operation, body), service: baseUrl, mac },
      accounts: [account, ...scope.accounts],
      since: new Date(context.clock.now() - singleMs).toISOString(),
    })
    .map(({ key, since, orderId }) => ({ key, since, orderId, operation }));
  if (live.length === 0) return;
  const need = needOf(order, referenceIn(order.metadata));
  const [related = []] = await attempts.related(scope, [need]);
  const known = new Map(related.map((attempt) => [attempt.key, attempt]));
  await attempts.change(
    live.flatMap(({ key, orderId }) => {
      const attempt = known.get(key);
      const state = orderId === undefined ? 'intended' : 'placed';
      const isSame = attempt?.state === state && attempt.orderId === orderId;
      return attempt && !isSame ? [{ serial: attempt.serial, state, orderId: orderId ?? null }] : [];
    }),
  );
  const missing = live.filter(({ key }) => !known.has(key));
  await enterMissing(context, { attempts, scope, now }, need, missing);
}

/** A request that may have led to an order and has no attempt. */
interface Missing {
  readonly key: string;
  readonly operation: string;
  /** ISO 8601. */
  readonly since: string;
  /** Id of the order; undefined if the request is in doubt. */
  readonly orderId: string | undefined;
}

/** Adds an attempt at a need for each request that has no attempt. */
async function enterMissing(
  context: OrderContext,
  { attempts, scope, now }: Pick<NeedSources, 'attempts' | 'scope' | 'now'>,
  need: Need,
  missing: readonly Missing[],
): Promise<void> {
  if (missing.length === 0) return;
  const age = context.clock.now() - now();
  await attempts.claim(
    scope,
    missing.map(() => need),
    (_, index) => {
      const one = missing[index];
      return (
        one && {
          ...{ run: undefined, number: 1, key: one.key, operation: one.operation, upload: undefined },
          ...{ orderId: one.orderId, state: one.orderId === undefined ? 'intended' : 'placed' },
          ...{ madeAt: (Date.parse(one.since) || 0) - age, seenAt: undefined },
        }
      );
    },
  );
}

async function isOther(context: OrderContext, attempt: Attempt, order: OrderRecord): Promise<boolean> {
  const record = recordOf(await context.journal(), context, attempt);
  // If the request was given up, a search has found the order, so do not compare the order again.
  return (
    record?.operation === 'order.create' &&
    record.state !== 'forgotten' &&
    isOtherThanRequested(await asOrder(record), absentAsNull(order))
  );
}

/** Whether a record is of the same request, whatever its key. */
export const isSameRequest = ({ operation, body_hash }: JournalRecord, intent: Intent): boolean =>
  operation === intent.operation && body_hash === contentHash(operation, intent.body);

/**
 * Determines the outcome of an attempt whose order is unknown. If this command itself left the request in doubt,
 * resends it with the same key. If the journal does not know the outcome, searches for the order at the service.
 */
async function settleAttempt<N extends JournaledOperation>(
  context: OrderContext,
  sources: Listing & Pick<NeedSources, 'list' | 'now'>,
  { order, intent }: Request<N>,
  attempt: Attempt,
  {
    settled,
    isOnly,
    sendsAgain,
  }: { readonly settled: Settled<N> | undefined; readonly isOnly: boolean; readonly sendsAgain: boolean },
): Promise<Outcome> {
  const { state } = attempt;
  if (attempt.upload !== undefined) return settleRow(context, order, attempt, attempt.upload);
  const journal = await context.journal();
  const deadline = new Deadline(context.clock, maxWaitMs);
  for (;;) {
    const record = recordOf(journal, context, attempt);
    if (record?.state === 'damaged') throw damagedRecord(record);
    const doubt = doubtOf(journal, context, attempt, { record, intent });
    // Another process may have written after the record was read and before the chain was read. If so, read both again.
    if (doubt && hasChanged(record, recordOf(journal, context, attempt))) continue;
    if (doubt?.isContested && !isPaid(attempt.operation))
      return findUnproven(context, { order, intent }, attempt, { doubt, record, settled });
    if (doubt) throw lostRecord(attempt, intent);
    if (record && record.state !== 'intended' && record.order_id !== null)
      return { state: 'placed', orderId: record.order_id };
    if (record?.state === 'refused') return { state: 'failed' };
    if ((record?.state ?? state) !== 'intended') {
      // Another process may have given up the request since the attempt was read.
      const isGivenUp = record !== undefined && state === 'intended';
      return findAttempt(context, order, isGivenUp ? { ...attempt, state: 'unknown' } : attempt, record);
    }
    const wasNeverSent = !record && context.serviceClock.now() - attempt.madeAt > claimMs;
    if (wasNeverSent || !settled) return { state: wasNeverSent ? 'unsent' : state };
    if (record && !isOthers(record)) {
      const listed = await settleListed(context, sources, attempt, record);
      if (listed) return listed;
      if (wasSentWithOtherKey(record, intent)) {
        const found = await findAttempt(context, order, attempt, record);
        const isToOrder = isOnly && isSameRequest(record, intent);
        return found.orderId === undefined && isToOrder ? giveUp(context, attempt, record, intent) : found;
      }
      // A request with different content cannot settle the request in doubt.
      if (!isSameRequest(record, intent)) return { state };
      if (!sendsAgain) {
        const found = await settleFound(context, intent, record);
        if (!found) return giveUp(context, attempt, record, intent);
        return { state: 'placed', orderId: textIn(found.order, 'id') };
      }
      // If another order may be live, that order may be enough, so do not resend this request.
      const made = isOnly
        ? await settleOwn(context, intent, record).catch(async (error) => {
            const overtaken =
              isOrderedSince(error) && (await settleListedNow(context, sources, attempt, record));
            if (overtaken) return { overtaken };
            throw error;
          })
        : await settleFound(context, intent, record);
      if (made && 'overtaken' in made) return made.overtaken;
      if (!made && !isOnly) return { state };
      if (made) {
        // An order that this command has placed is its result, whatever it finds of other attempts.
        if (settled.made?.existed !== false) settled.made = made;
        return { state: 'placed', orderId: textIn(made.order, 'id') };
      }
    }
    if (!(await deadline.pause(pauseMs, context.signal))) return { state };
    await journal.refresh('now');
  }
}

const hasChanged = (before: JournalRecord | undefined, now: JournalRecord | undefined): boolean =>
  before?.state !== now?.state || before?.order_id !== now?.order_id;

/**
 * What the audit chain says about an attempt, if the chain has the attempt in doubt while its record is gone or has
 * ended; undefined otherwise.
 */
function doubtOf(
  { audit, isShared }: Pick<Journal, 'audit' | 'isShared'>,
  { settings: { baseUrl } }: Pick<OrderContext, 'settings'>,
  { key }: Pick<Attempt, 'key'>,
  {
    record,
    intent,
  }: {
    readonly record: JournalRecord | undefined;
    readonly intent: Pick<Intent, 'mac' | 'operation' | 'body'>;
  },
): IntentStory | undefined {
  if (record?.state === 'intended') return undefined;
  const story = audit.storyOf(key, baseUrl.value, isShared ? intent.mac : undefined);
  const isOld = !story.endsAreSigned && story.content !== contentHash(intent.operation, intent.body);
  // Unsigned entries of an earlier version count, unless they are about the same content as this request.
  const counted = isOld ? audit.storyOf(key, baseUrl.value, undefined) : story;
  return counted.orderId === undefined ? counted : undefined;
}

/** The content of a request; undefined if the hash of neither known content is the one in the chain. */
async function bodyOf<N extends JournaledOperation>(
  { order, intent }: Request<N>,
  { content }: IntentStory,
  record: JournalRecord | undefined,
): Promise<Body | undefined> {
  if (content === contentHash(intent.operation, intent.body)) return order;
  const isRecorded =
    record?.operation === 'order.create' && content === contentHash(record.operation, record.body);
  return isRecorded ? asOrder(record) : undefined;
}

/**
 * Searches for the order of a request if this key has not signed how the request ended. Another key of the team, an
 * earlier version or somebody else may have written the entry that says so. Records in a signed entry what the service
 * shows.
 * @throws ErrandError conflict as long as the service may not list the order yet.
 */
async function findUnproven<N extends JournaledOperation>(
  context: OrderContext,
  request: Request<N>,
  attempt: Attempt,
  {
    doubt,
    record,
    settled,
  }: {
    readonly doubt: IntentStory;
    readonly record: JournalRecord | undefined;
    readonly settled: Settled<N> | undefined;
  },
): Promise<Outcome> {
  const { intent } = request;
  const { key, operation } = attempt;
  const body = await bodyOf(request, doubt, record);
  if (!body) throw lostRecord(attempt, intent);
  const journal = await context.journal();
  const { account, mac, baseUrl, profile } = intent;
  const sentAt = Date.parse(doubt.since) || 0;
  const listed = await findOrders(context, { body, key, since: sentAt }, { countsOthers: true });
  const found = listed.find(
    (one) =>
      !isOtherThanRequested(body, absentAsNull(one)) &&
      !(mac && journal.audit.isOfAnother(String(one.id), key, mac)),
  );
  const orderId = found && String(found.id);
  const leftMs = sentAt + listLagMs - context.clock.now();
  if (orderId === undefined && leftMs > 0) throw notProven(key, leftMs);
  if (settled && mac) await journal.confirm({ key, baseUrl, operation, profile }, orderId, { account, mac });
  if (orderId !== undefined) {
    // The command that requested the order has not reported it, unless the unproven entry names the order.
    const isSame = doubt.content === contentHash(intent.operation, intent.body);
    if (settled && isSame && operation === 'order.create' && doubt.claimedId !== orderId)
      // The cast is safe, because the operation determines the result type.
      settled.made = (await adoptedOrder(context, orderId)) as Made<MadeBy[N]>;
    return { state: 'placed', orderId };
  }
  context.note(`${key} was in doubt, and no order looks like it: it is given up`);
  return { state: 'unsent' };
}

const adoptedOrder = async (context: OrderContext, orderId: string): Promise<Made<OrderRecord>> => ({
  order: await readOrder(await context.client(), orderId),
  existed: true,
});

const notProven = (key: string, leftMs: number): ErrandError =>
  new ErrandError(
    'conflict',
    `the end of ${key} in the audit chain is not signed under the API key in use; nothing was ordered`,
    {
      code: 'not_proven',
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: true,
      hint: waitHint(leftMs),
      next: [{ command: 'errand audit verify', when: 'to see what else is not signed' }],
    },
  );

const lostRecord = ({ key }: Attempt, { operation }: Intent): ErrandError =>
  new ErrandError(
    'conflict',
    `the audit chain has ${key} in doubt, and the journal's record of it is gone or says otherwise; nothing was ordered`,
    {
      code: 'not_proven',
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: false,
      hint: `Somebody may have changed the journal: look whether the order was made. ${reorderSentence({ key, operation })}`,
      next: [
        { command: 'errand order list', when: 'to look for it' },
        { command: 'errand audit verify', when: 'to see what else was changed' },
      ],
    },
  );

/** What is needed to find an order among the orders that the service lists for a reference. */
type Listing = Pick<NeedSources, 'attempts' | 'scope' | 'client'>;

/**
 * Settles a request in doubt with the order that the service lists for the request's reference. The key is derived from
 * the reference. So an order for the same need either is the result of the request, or prevents the request from making
 * an order.
 * @returns undefined if there is none.
 */
async function settleListed(
  context: OrderContext,
  { attempts, scope, client }: Listing,
  { reference, serial }: Attempt,
  record: JournalRecord,
): Promise<Outcome | undefined> {
  if (!reference || record.operation !== 'order.create') return undefined;
  const { key } = record;
  const body = await asOrder(record);
  const journal = await context.journal();
  const [related = []] = await attempts.related(scope, [needOf(body, reference)]);
  for (const one of related) {
    const isListed = one.orderId !== undefined && one.key === one.orderId && one.serial !== serial;
    if (!isListed || metadataOf(one.reference ?? reference) !== metadataOf(reference)) continue;
    if (one.orderId === undefined || journal.otherKeyOf(one.orderId, key) !== undefined) continue;
    const seen = await seeOrder(client, one.orderId);
    if (!seen || needDifferences(body, seen.order).length > 0) continue;
    if (!(await isSettledBy(context, record, seen.order.id, seen.madeAt))) return undefined;
    context.note(`the order that was in doubt since ${record.created_at} is ${seen.order.id}`);
    return { state: 'placed', orderId: seen.order.id };
  }
  return undefined;
}

/**
 * Settles a request in doubt with an order for the same reference that another machine has made since this command read
 * the list.
 * @returns undefined if there is no such order.
 */
async function settleListedNow(
  context: OrderContext,
  sources: Listing & Pick<NeedSources, 'list' | 'now'>,
  attempt: Attempt,
  record: JournalRecord,
): Promise<Outcome | undefined> {
  if (!attempt.reference || record.operation !== 'order.create') return undefined;
  const need = needOf(await asOrder(record), attempt.reference);
  await recordSeen(sources, need, await ordersOf(sources.client, sources.list, attempt.reference));
  return settleListed(context, sources, attempt, record);
}

/** Whether an error says that a request in doubt was not resent, because an order looks like it. */
const isOrderedSince = (error: unknown): boolean =>
  error instanceof ErrandError && objectsIn(error.facts.details, 'orders_alike').length > 0;

/** Settles a request in doubt with the request's order. @returns undefined if the service lists no such order. */
async function settleFound<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]> | undefined> {
  if (record.operation !== 'order.create') return undefined;
  const { key, base_url: baseUrl } = record;
  const body = await asOrder(record);
  const listed = await findOrders(context, { body, key, since: Date.parse(record.created_at) });
  const found = listed.find((one) => !isOtherThanRequested(body, absentAsNull(one)));
  if (!found) return undefined;
  if (!(await isSettledBy(context, record, String(found.id)))) return undefined;
  const settled = (await context.journal()).find(key, baseUrl);
  return settled && resumeKnown(context, intent.operation, settled);
}

/** Settles a request in doubt with the given order. @returns false if another process has settled it. */
async function isSettledBy(
  context: OrderContext,
  record: JournalRecord,
  orderId: string,
  madeAt?: number,
): Promise<boolean> {
  const { key, base_url: baseUrl, operation } = record;
  if ((await (await context.journal()).claim(record, false)).state !== 'intended') return false;
  await settleIntent(context, { key, baseUrl, operation }, orderId, { madeAt });
  return true;
}

/**
 * Gives up a request in doubt that must not be resent and whose order the service does not list. It then no longer
 * blocks other orders. Such a request was sent with another key of this user, and only that key can prove who recorded
 * the request. Or nobody needs its order any longer.
 * @throws ErrandError conflict as long as the service may not list the order yet.
 */
async function giveUp(
  context: OrderContext,
  { state, madeAt }: Attempt,
  record: JournalRecord,
  intent: Pick<Intent, 'account'>,
): Promise<Outcome> {
  const { key, base_url: baseUrl } = record;
  const leftMs = madeAt + listLagMs - context.serviceClock.now();
  if (leftMs > 0) throw mayBeListedLater(record, leftMs, !wasSentWithOtherKey(record, intent));
  const journal = await context.journal();
  if ((await journal.claim(record, false)).state !== 'intended') return { state };
  await journal.forget(key, baseUrl);
  context.note(`${key} was in doubt, and no order looks like it: it is given up`);
  return { state: 'unsent' };
}

const mayBeListedLater = (
  { key, sent_with: sentWith }: JournalRecord,
  leftMs: number,
  isOwn: boolean,
): ErrandError =>
  new ErrandError(
    'conflict',
    isOwn
      ? `the service may not list the order of ${key} yet; nothing was ordered`
      : `${key} is in doubt and was sent with another key, ${sentWith}; nothing was ordered`,
    {
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: true,
      hint: waitHint(leftMs),
    },
  );

/**
 * Resends this command's own request in doubt.
 * @returns undefined if another process is resending it, or has done so.
 */
async function settleOwn<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]> | undefined> {
  const { one } = labelsOf(record.operation);
  const how = record.payment === null ? '' : ' with its own payment';
  const hint = referenceIn(record.body.metadata) ? '' : ` (${reorderHint(record)})`;
  context.note(`the same ${one} is in doubt since ${record.created_at}; settling that one${how}${hint}`);
  try {
    // `resend` allows an old key, too, if no order looks like the request.
    return await resumeKnown(context, intent.operation, record, { resend: true, onlyUnreported: true });
  } catch (error) {
    if (!isAtWork(error)) throw error;
    return undefined;
  }
}

/**
 * Determines the outcome of an attempt that is a row of an upload. If the batch is in doubt, another command settles
 * the batch.
 */
async function settleRow(
  context: OrderContext,
  order: Body,
  attempt: Attempt,
  batch: string,
): Promise<Outcome> {
  const { state } = attempt;
  const record = (await context.journal()).find(batch, context.settings.baseUrl.value);
  if (record?.state === 'intended') return { state };
  if (record?.state === 'refused') return { state: 'failed' };
  const found = await findAttempt(context, order, attempt, undefined);
  // The service has accepted the batch, but may have made no order from this row.
  return found.orderId === undefined && state === 'intended' ? { state: 'unknown' } : found;
}

/** Searches for the order of an attempt among the orders that the service lists. */
async function findAttempt(
  context: OrderContext,
  order: Body,
  { state, key, madeAt, operation }: Attempt,
  record: JournalRecord | undefined,
): Promise<Outcome> {
  if (isPaid(operation)) return { state };
  const body = record?.operation === 'order.create' ? await asOrder(record) : order;
  const [first] = await findOrders(context, { body, key, since: madeAt });
  if (first) return { state: 'placed', orderId: String(first.id) };
  const isLongAgo = context.serviceClock.now() - madeAt > keyLifetimeMs;
  return { state: state === 'unknown' && isLongAgo ? 'unsent' : state };
}

/** Maximum number of orders that are read to learn their age. */
const maxAged = 10;

/**
 * Reads similar orders that have ended, or that seem too old to be duplicates, so that their age is measured by the
 * service's clock. This machine's clock may be wrong by days, and so may the clock of the machine that recorded the
 * orders.
 * @throws ErrandError unavailable if the service's time cannot be read; nothing may be sent then.
 */
export async function readAges<N extends JournaledOperation>(
  context: OrderContext,
  sources: NeedSources,
  { order, placing: { reference } }: Pick<Purchase<N>, 'order' | 'placing'>,
  windows: Windows,
): Promise<void> {
  const { attempts, scope, now } = sources;
  const [related = []] = await attempts.related(scope, [needOf(order, reference)]);
  const old = related
    .filter(
      (one) =>
        one.orderId !== undefined &&
        one.likeness !== 'unlike' &&
        windows.singleMs > 0 &&
        (one.state === 'placed'
          ? !isWithin(one, 'single', windows, now())
          : ['failed', 'cancelled', 'returned'].includes(one.state)),
    )
    .toSorted((one, other) => other.serial - one.serial);
  const unread = old
    .filter(({ state, seenAt }) => state === 'placed' && seenAt === undefined)
    .slice(0, maxAged);
  const [last] = old;
  // Any response tells the service's time, so one read is enough.
  const toRead = unread.length === 0 && last && !context.serviceClock.isHeard ? [last] : unread;
  for (const attempt of toRead) {
    const { serial, orderId } = attempt;
    if (orderId === undefined) continue;
    try {
      const seen = await seeOrder(sources.client, orderId);
      const { state, madeAt } = seen ?? {};
      if (state) await attempts.change([{ serial, state, madeAt, seenAt: now() }]);
    } catch (error) {
      if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
      // As long as the service's time is unknown, the order may be a duplicate. Read the order again, and let a failure
      // throw.
      if (!context.serviceClock.isHeard) await readOrderOf(sources, attempt, orderId);
    }
  }
}

/**
 * Returns the order that an interrupted run of the same command has placed but not reported. First adds missing
 * attempts for records of the same request.
 * @returns undefined if there is no such order, or if the order has ended.
 * @throws ErrandError conflict if the order is older than a day, because by then another order may be meant.
 */
export async function reportUnreported<N extends JournaledOperation>(
  context: OrderContext,
  sources: NeedSources,
  purchase: Purchase<N>,
): Promise<Made<MadeBy[N]> | undefined> {
  const { order, intent } = purchase;
  const need = needOf(order);
  const { attempts, scope, now } = sources;
  const journal = await context.journal();
  const records = journal.sameContent(intent);
  await bringIn(context, sources, need, intent, records);
  for (const record of records) {
    const { order_id: id, operation, settled_at: at, created_at: since } = record;
    if (record.state !== 'responded' || id === null || wasSentWithOtherKey(record, intent)) continue;
    if (isOthers(record) || isSelf({ pid: record.pid, started: record.process_started })) continue;
    const [related = []] = await attempts.related(scope, [need]);
    const attempt = related.find(({ key }) => key === record.key);
    if (!attempt) continue;
    const seen = await readOrderOf(sources, attempt, id);
    const { one, made } = labelsOf(operation);
    if (seen && seen.state !== 'placed') {
      // The note about the new attempt will say how this order ended.
      await journal.claim(record, false);
      continue;
    }
    if (Date.parse(at ?? since) < context.clock.now() - keyLifetimeMs) {
      await journal.claim(record, false);
      const shown = { seen: new Map(seen ? [[id.toLowerCase(), seen]] : []), now: now() };
      const live = { ...attempt, orderId: id };
      throw await refusedOrder(context, purchase, { why: 'alike', attempts: [live] }, shown);
    }
    // Meanwhile, the command that placed the order may have reported it.
    if ((await journal.claim(record, false)).state !== 'responded') continue;
    context.note(
      `this ${one} was ${made} by the command that was interrupted at ${at}: ${id} (${reorderHint(record)})`,
    );
    return resumeKnown(context, intent.operation, record);
  }
  return undefined;
}

/**
 * Adds attempts for records of the same request that have no attempt. Such records come from an entry point that stores
 * no attempts, or the table of attempts was damaged.
 * @throws ErrandError conflict for a record that is damaged, or that is in doubt under another API key.
 */
export async function bringIn(
  context: OrderContext,
  { attempts, scope, now }: NeedSources,
  need: Need,
  intent: Intent,
  records: readonly JournalRecord[],
): Promise<void> {
  const damaged = records.find(({ state }) => state === 'damaged');
  if (damaged) throw damagedRecord(damaged);
  const others = records.filter(
    (record) => wasSentWithOtherKey(record, intent) && !scope.accounts.includes(record.account),
  );
  const doubted = others.find(
    (record) => record.state === 'intended' && (record.profile === intent.profile || isUnnoted(record)),
  );
  if (doubted) throw sentWithOtherKey(doubted);
  const own = records.filter((record) => !others.includes(record) && mayHaveOrdered(record));
  if (own.length === 0) return;
  const [related = []] = await attempts.related(scope, [need]);
  const known = new Set(related.map(({ key }) => key));
  await enterMissing(
    context,
    { attempts, scope, now },
    need,
    own
      .filter(({ key }) => !known.has(key))
      .map(({ key, operation, created_at: since, order_id: id }) => ({
        ...{ key, operation, since, orderId: id ?? undefined },
      })),
  );
}

const mayHaveOrdered = ({ state }: JournalRecord): boolean =>
  state === 'intended' || state === 'responded' || state === 'reported';
