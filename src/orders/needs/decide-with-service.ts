import { isObject } from '../../api/json.ts';
import { contentIn, recipientIn } from '../../format/canonical-need.ts';
import { canonicalRecipient } from '../../format/canonical-recipient.ts';
import { relativeTime } from '../../format/time.ts';
import type { Client } from '../../http/client.ts';
import { InDoubtError, InterruptedError } from '../../http/errors.ts';
import type {
  Attempt,
  AttemptChange,
  AttemptClaim,
  AttemptNeed,
  AttemptScope,
  AttemptState,
  Attempts,
  NewAttempt,
  Reference,
} from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import { type Difference, differences } from '../compare.ts';
import { hintInDoubt } from '../doubt.ts';
import type { OrderRecord } from '../order-record.ts';
import type { Body } from '../submit/intent.ts';
import { type Decision, decide, type NeedRequest } from './decide.ts';
import { needOf } from './need.ts';
import { referenceIn } from './reference.ts';
import { ordersOf, type ReferenceList, type SeenOrder, seeOrder } from './service-orders.ts';

/** What became of an attempt. */
export type Outcome = Omit<AttemptChange, 'serial' | 'seenAt' | 'orderId'> & {
  readonly orderId?: string | undefined;
};

/** Where attempts are stored, and how to determine their outcome. */
export interface NeedSources {
  readonly attempts: Attempts;
  readonly scope: AttemptScope;
  readonly client: Client;
  readonly list: ReferenceList;
  /** Time in ms since the epoch, by the service's clock. */
  readonly now: () => number;
  /**
   * Determines the outcome of an attempt whose order is unknown: from the journal, or by searching for an order with
   * the same content. Returns the state unchanged if the attempt stays in doubt, or if no order is found.
   * @param isOnly tells whether no other attempt may be live. If false, nothing may be sent for this attempt.
   * @throws ErrandError.
   */
  readonly settle: (attempt: Attempt, isOnly: boolean) => Promise<Outcome>;
  /** Whether `settle` may resend the request of an attempt. */
  readonly mayResend?: (attempt: Attempt) => boolean;
  /**
   * Whether the order with an attempt's id differs from what the journal's record requested. False if the journal
   * cannot tell.
   */
  readonly isOther?: (attempt: Attempt, order: OrderRecord) => Promise<boolean>;
}

/** A decision, and the orders that were read to make it, by id. */
export interface DecidedOrder {
  readonly decision: Exclude<Decision, { readonly do: 'look' }>;
  readonly request: NeedRequest & { readonly need: AttemptNeed };
  readonly seen: ReadonlyMap<string, SeenOrder>;
}

/**
 * Maximum number of times that the service is read for one decision. One time is normally enough, but other processes
 * may place orders meanwhile.
 */
const maxLooks = 8;

/**
 * Decides about an order. Reads from the service as often as the decision needs. Persists only what was read.
 * @throws ErrandError if a read fails; nothing may be sent then.
 */
export async function decideWithService(
  sources: NeedSources,
  requested: Omit<NeedRequest, 'need' | 'now' | 'read'>,
  body: Body,
  reference: Reference | undefined,
): Promise<DecidedOrder> {
  const { attempts, scope, now } = sources;
  const need = needOf(body, reference);
  const seen = new Map<string, SeenOrder>();
  const read = new Set<number>();
  let { listedAt } = requested;
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const [related = []] = await attempts.related(scope, [need]);
    const known = related.map((attempt) => ({ ...attempt, differs: differsFrom(body, seen, attempt) }));
    const request = { ...requested, need, now: now(), read, listedAt };
    const decision = decide(request, known);
    const unread = decision.do === 'adopt' ? decision.attempts.filter((one) => !orderSeen(seen, one)) : [];
    // Another process has noted the order since this command read the attempt.
    for (const { serial } of unread) read.delete(serial);
    if (unread.length > 0) continue;
    if (decision.do !== 'look') return { decision, request, seen };
    try {
      if (decision.at === 'attempts') {
        await seeAttempts(sources, decision.attempts, seen);
        for (const { serial } of decision.attempts) read.add(serial);
      }
      if (decision.at === 'reference' && reference) {
        listedAt = now();
        const listed = await ordersOf(sources.client, sources.list, reference);
        for (const one of listed) seen.set(idOf(one.order.id), one);
        for (const serial of await recordSeen(sources, need, listed)) read.add(serial);
      }
    } catch (error) {
      throw stoppedWhileReading(error, related);
    }
  }
  throw new Error('what became of the attempts of a need changes faster than it can be read');
}

/** Adds to an interruption that this command sent nothing, or that an earlier attempt at the need is still in doubt. */
function stoppedWhileReading(error: unknown, related: readonly Attempt[]): unknown {
  const stop = stopOf(error);
  if (!stop || !(error instanceof ErrandError) || error.facts.outcome !== undefined) return error;
  const open = related.find(({ state, orderId }) => state === 'intended' && orderId === undefined);
  if (!open) return new InterruptedError(stop, error.message, { ...error.facts, outcome: 'not_sent' });
  const { key, upload, operation } = open;
  const facts = {
    ...error.facts,
    idempotencyKey: key,
    hint: hintInDoubt(operation),
    next: [{ command: journalCommand('resume', upload ?? key), when: 'to find out, safely' }],
  };
  return new InDoubtError(`${error.message}; in doubt: ${key} may have been sent`, facts, stop);
}

/**
 * Builds the claim for the attempt to send. Within the journal's transaction, the claim makes the decision again,
 * because other processes may have decided meanwhile. If the new decision differs, nothing is persisted, and the caller
 * has to decide again.
 * @param attempt creates the attempt from its number.
 */
export const claimOf = (
  { scope, now }: Pick<NeedSources, 'scope' | 'now'>,
  { decision, request, seen }: DecidedOrder,
  attempt: (number: number) => NewAttempt,
): AttemptClaim => ({
  scope,
  needs: [request.need],
  decide: (related) => {
    const repeated = decide({ ...request, now: now() }, withOrdersSeen(related, seen));
    const isSame = repeated.do === 'send' && decision.do === 'send' && repeated.number === decision.number;
    return isSame ? attempt(repeated.number) : undefined;
  },
});

/** A state that this command has read takes precedence, even if another process persisted it first. */
export const withOrdersSeen = (
  related: readonly Attempt[],
  seen: ReadonlyMap<string, SeenOrder>,
): readonly Attempt[] =>
  related.map((attempt) => {
    const found = orderSeen(seen, attempt);
    return found ? { ...attempt, state: found.state } : attempt;
  });

/** Reads the current state of attempts from the service, and persists it. */
async function seeAttempts(
  sources: NeedSources,
  attempts: readonly Attempt[],
  seen: Map<string, SeenOrder>,
): Promise<void> {
  const changes: AttemptChange[] = [];
  let hasDoubt = false;
  // Attempts that may be resent come last. Before anything is sent, errand must know what others may have ordered.
  const turnOf = (attempt: Attempt): number =>
    attempt.orderId !== undefined ? 0 : sources.mayResend?.(attempt) ? 2 : 1;
  for (const attempt of attempts.toSorted((one, other) => turnOf(one) - turnOf(other))) {
    const hasLive = [...seen.values()].some(({ state }) => state === 'placed');
    const settled: Outcome =
      attempt.orderId === undefined
        ? await sources.settle(attempt, !hasLive && !hasDoubt)
        : { state: attempt.state, orderId: attempt.orderId };
    hasDoubt ||= settled.state === 'intended' && settled.orderId === undefined;
    const { serial } = attempt;
    const found =
      settled.orderId === undefined ? undefined : await readOrderOf(sources, attempt, settled.orderId);
    const seenAt = sources.now();
    if (!found)
      changes.push({
        ...settled,
        serial,
        seenAt,
        ...(settled.orderId !== undefined && { state: gone(sources) }),
      });
    else {
      seen.set(idOf(found.order.id), found);
      changes.push({ ...settled, serial, seenAt, state: found.state, madeAt: found.madeAt });
    }
  }
  await sources.attempts.change(changes);
}

/**
 * State of an attempt whose order the service does not have. A sandbox may have been reset, or restored to a time
 * before the order, from any machine.
 */
const gone = ({ scope }: NeedSources): AttemptState => (scope.isTest ? 'unsent' : 'unknown');

/**
 * Reads the order of an attempt. @throws ErrandError unavailable if its state cannot be determined; nothing may be sent
 * then.
 */
export async function readOrderOf(
  { client, now, isOther }: Pick<NeedSources, 'client' | 'now' | 'isOther'>,
  attempt: Attempt,
  id: string,
): Promise<SeenOrder | undefined> {
  const { key, madeAt } = attempt;
  try {
    const seen = await seeOrder(client, id);
    if (seen && (await isOther?.(attempt, seen.order)))
      throw new ErrandError('in_doubt', 'the service describes another order under this id');
    return seen;
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error) || error.category === 'authentication') throw error;
    const age = relativeTime(new Date(madeAt).toISOString(), now());
    throw new ErrandError(
      'unavailable',
      `the same order was sent ${age}: ${id}; what became of it cannot be read (${error.message}), and nothing was sent now`,
      {
        details: { order_id: id },
        idempotencyKey: key,
        outcome: 'applied',
        retryable: true,
        hint: 'Run the same command again once the order can be read: it is ordered again only if the first has failed or was cancelled.',
        cause: error,
      },
    );
  }
}

/**
 * Persists the orders that the service lists for a reference, including those made elsewhere.
 * @returns the serials of these orders' attempts.
 */
export async function recordSeen(
  { attempts, scope, now }: Pick<NeedSources, 'attempts' | 'scope' | 'now'>,
  need: AttemptNeed,
  orders: readonly SeenOrder[],
): Promise<readonly number[]> {
  const changes: AttemptChange[] = [];
  const needs = orders.map(({ order }) => {
    const content = contentIn(order, 'items');
    const reference = referenceIn(order.metadata) ?? need.reference;
    return content ? needOf(content, reference) : { ...need, reference };
  });
  const byAge = orders.map(({ madeAt }) => madeAt).toSorted((one, other) => one - other);
  const written = await attempts.claim(scope, needs, (related, at) => {
    const found = orders[at];
    if (!found) return undefined;
    const { order, state, madeAt } = found;
    const seenAt = now();
    const known = related.filter(({ orderId }) => orderId !== undefined && idOf(orderId) === idOf(order.id));
    changes.push(...known.map(({ serial }) => ({ serial, state, madeAt, seenAt })));
    if (known.length > 0) return undefined;
    const number = byAge.indexOf(madeAt) + 1;
    // The service does not reveal the idempotency key. Use the id of the order instead.
    const made = { run: undefined, key: order.id, operation: 'order.create', upload: undefined };
    return { ...made, number, orderId: order.id, state, madeAt, seenAt };
  });
  await attempts.change(changes);
  return [...changes.map(({ serial }) => serial), ...written.flatMap((serial) => serial ?? [])];
}

const idOf = (id: string): string => id.toLowerCase();

/** The order of an attempt; undefined if this command has not read that order. */
export const orderSeen = (
  seen: ReadonlyMap<string, SeenOrder>,
  { orderId }: Pick<Attempt, 'orderId'>,
): SeenOrder | undefined => (orderId === undefined ? undefined : seen.get(idOf(orderId)));

const differsFrom = (body: Body, seen: ReadonlyMap<string, SeenOrder>, attempt: Attempt): boolean => {
  const found = orderSeen(seen, attempt);
  return found !== undefined && needDifferences(body, found.order).length > 0;
};

/**
 * Differences between an order and a request in products, quantities or recipient. Considers only what the order shows.
 * Pure.
 */
export function needDifferences(body: Body, order: OrderRecord): readonly Difference[] {
  const isSameRecipient =
    !isObject(order.shipping_address) ||
    canonicalRecipient(body.shipping_address) === canonicalRecipient(recipientIn(order.shipping_address));
  return differences(body, order).filter(
    ({ field, isVariant }) =>
      !isVariant &&
      (/^products(?:\.\d+\.(?:url|quantity|variant))?$/.test(field) ||
        (!isSameRecipient && recipientField.test(field))),
  );
}

const recipientField = /^shipping_address\.(?:first_name|last_name|address_line[12]|postal_code|country)$/;
