import { own } from '../../api/json.ts';
import { durationText, relativeTime } from '../../format/time.ts';
import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { isBeingSent, workerOf } from '../../journal/take-over.ts';
import { ErrandError, type NextStep } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine, typedCommand, withoutOption } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import {
  obstacleDetails,
  obstacleHint,
  type PolicyObstacle,
  policyObstacle,
} from '../../spending/policy-gate.ts';
import { absentAsNull, changesText, type Difference, differences, shownDifferences } from '../compare.ts';
import { eachOrderField } from '../input/fields.ts';
import { type JournaledOperation, stateOfOrder } from '../order-record.ts';
import type { Body } from '../submit/intent.ts';
import { isPaid } from '../submit/intent.ts';
import type { Decision, Refusal } from './decide.ts';
import { type DecidedOrder, needDifferences, orderSeen } from './decide-with-service.ts';
import type { Purchase } from './purchase.ts';
import { metadataOf } from './reference.ts';
import { recordOf, sentAt } from './scope.ts';
import type { SeenOrder } from './service-orders.ts';
import { unitOf, windowsOf } from './windows.ts';

/** Describes an attempt: its age, and its current state at the service. */
export function attemptText(attempt: Attempt, seen: DecidedOrder['seen'], now: number): string {
  const { orderId, key } = attempt;
  return `${orderId ?? key} (${stateText(attempt, seen)}, ${ageText(attempt, now)})`;
}

function stateText(attempt: Attempt, seen: DecidedOrder['seen']): string {
  const found = orderSeen(seen, attempt);
  if (found) return safeText(stateOfOrder(found.order).text, maxState);
  return attempt.state === 'intended' ? 'in doubt' : attempt.state;
}

const maxState = 60;

/** Age of an attempt, such as `3m ago`. */
export function ageText({ madeAt }: Pick<Attempt, 'madeAt'>, now: number): string {
  // The clock of the machine that sent the attempt may be ahead.
  const age = relativeTime(new Date(Math.min(madeAt, now)).toISOString(), now);
  return age === 'now' ? 'just now' : age;
}

/**
 * Note for a new attempt if the previous attempt has ended: `attempt 2; the first (ID, 3m ago) failed: out of stock`.
 */
export function afterText(number: number, after: Attempt, seen: DecidedOrder['seen'], now: number): string {
  const state = stateText(after, seen);
  const ended =
    after.state === 'cancelled' ? 'was cancelled' : after.state === 'returned' ? 'was sent back' : state;
  const which = number === 2 ? 'first' : 'one before';
  return `attempt ${number}; the ${which} (${after.orderId ?? after.key}, ${ageText(after, now)}) ${ended}`;
}

type Stopped = Pick<Extract<Decision, { readonly do: 'refuse' | 'ask' }>, 'why' | 'attempts'>;

/**
 * Builds the error that explains why nothing is ordered. The error lists the earlier orders, the differences, and the
 * next steps.
 * @returns ErrandError conflict.
 */
export async function refusedOrder<N extends JournaledOperation>(
  context: OrderContext,
  purchase: Purchase<N>,
  { why, attempts }: Stopped,
  { seen, now }: { readonly seen: DecidedOrder['seen']; readonly now: number },
): Promise<ErrandError> {
  const { reference } = purchase.placing;
  const journal = await context.journal();
  const dated = attempts.map((one) => ({ ...one, madeAt: sentAt(journal, context, one) }));
  const compared = await compareAll(context, purchase, dated, seen);
  const earlier = compared.map(({ attempt }) => attempt);
  const orders = earlier.flatMap((one) => shown(one, orderSeen(seen, one)) ?? []);
  const differing = reference ? compared.flatMap((one) => one.differing) : (compared[0]?.differing ?? []);
  const differences = shownDifferences(differing);
  const changes = differing.length === 0 ? '' : `; ${changesText(differing)}`;
  const texts = earlier.map((one) => attemptText(one, seen, now));
  const what = reference
    ? referenceText(reference, why, texts.join(', '))
    : alikeMessages[why](
        differing.length === 0 ? 'the same order' : 'an order like this one',
        await earlierText(context, earlier, seen, now),
      );
  const end = !reference && isAlike.has(why) ? 'no second one was placed' : 'nothing was ordered';
  const [first] = earlier;
  const policy =
    purchase.placing.overridePolicy === undefined
      ? await policyObstacle(context, [{ intent: purchase.intent }])
      : undefined;
  const hint = hintOf(context, purchase, why, attempts);
  // The order has an id, so it has existed. Another read may succeed.
  const isUnread = why === 'unknown' && attempts.some(({ orderId }) => orderId !== undefined);
  return new ErrandError(isUnread ? 'unavailable' : 'conflict', `${what}${changes}; ${end}`, {
    code: `${reference ? 'reference' : 'duplicate'}_${why}`,
    details: {
      ...(reference && { reference: metadataOf(reference) }),
      ...(!reference && orders[0] && detailsOf(orders[0])),
      ...((reference || orders.length > 1) && { orders }),
      ...(differences.length > 0 && { differences }),
      ...(policy && obstacleDetails(policy)),
    },
    // If an order was made elsewhere, its id is stored in place of the key. The id is not an idempotency key.
    idempotencyKey: first?.key === first?.orderId ? undefined : first?.key,
    outcome: why === 'in_doubt' || (why === 'unknown' && !isUnread) ? 'unknown' : 'applied',
    retryable: isUnread,
    hint: policy && why !== 'in_doubt' && why !== 'unknown' ? obstacleHint(policy) : hint,
    next: duplicateSteps(context, purchase, why, {
      attempts: earlier,
      batches: await batchesOf(context, earlier),
      // What differs may be what the user wants in place of the first.
      replaced: differing.length > 0 ? pendingOf(compared, seen) : undefined,
      policy,
    }),
  });
}

/** Id of the only earlier order, if it is still pending, so that it can be cancelled. */
function pendingOf(compared: readonly ComparedAttempt[], seen: DecidedOrder['seen']): string | undefined {
  const [only, ...more] = compared;
  const order = only && more.length === 0 ? orderSeen(seen, only.attempt)?.order : undefined;
  return order?.status === 'pending' ? order.id : undefined;
}

interface ComparedAttempt {
  readonly attempt: Attempt;
  readonly differing: readonly Difference[];
}

/**
 * The attempts with their differences. Attempts with few differences come first; among those with equally many, the
 * newest.
 */
async function compareAll<N extends JournaledOperation>(
  context: OrderContext,
  purchase: Purchase<N>,
  attempts: readonly Attempt[],
  seen: DecidedOrder['seen'],
): Promise<readonly ComparedAttempt[]> {
  const compared: ComparedAttempt[] = [];
  for (const attempt of attempts)
    compared.push({ attempt, differing: await differencesOf(context, purchase, attempt, seen) });
  return compared.toSorted(
    (one, other) =>
      one.differing.length - other.differing.length || other.attempt.madeAt - one.attempt.madeAt,
  );
}

/** Differences between an order and the request of a record. Ignores differences that are only in spelling. */
function requestDifferences(order: Body, { body }: JournalRecord): readonly Difference[] {
  if (!Array.isArray(body.products)) return [];
  const fields = Object.fromEntries(eachOrderField.map(([field]) => [field, own(body, field) ?? null]));
  const earlier = absentAsNull({ ...fields, items: body.products });
  return differences(order, earlier).filter(({ isVariant }) => !isVariant);
}

/**
 * Differences between a purchase and an earlier attempt. If there is a reference, only products, quantities and
 * recipient count. If there is none, the user decides whether another order is meant, so every difference may matter.
 */
async function differencesOf<N extends JournaledOperation>(
  context: OrderContext,
  { order, placing }: Purchase<N>,
  attempt: Attempt,
  seen: DecidedOrder['seen'],
): Promise<readonly Difference[]> {
  const found = orderSeen(seen, attempt);
  if (found && placing.reference) return needDifferences(order, found.order);
  if (found) return differences(order, found.order).filter(({ isVariant }) => !isVariant);
  const record = recordOf(await context.journal(), context, attempt);
  return record ? requestDifferences(order, record) : [];
}

interface ShownOrder {
  readonly id: string;
  readonly status?: string;
  readonly made_at: string;
}

/**
 * An earlier order, as the error shows it; undefined without an order id. Shows the stored state of an order that has
 * ended, because such an order is not read again.
 */
function shown({ orderId, state, madeAt }: Attempt, found: SeenOrder | undefined): ShownOrder | undefined {
  if (orderId === undefined) return undefined;
  const status = found ? found.order.status : state === 'unknown' ? undefined : state;
  return {
    id: found?.order.id ?? orderId,
    ...(status !== undefined && { status }),
    made_at: new Date(found?.madeAt ?? madeAt).toISOString(),
  };
}

const detailsOf = ({ id, made_at, ...status }: ShownOrder) => ({
  order_id: id,
  placed_at: made_at,
  ...status,
});

/** The earlier orders as the end of a sentence: `3m ago: ID (waiting)`. */
async function earlierText(
  context: OrderContext,
  attempts: readonly Attempt[],
  seen: DecidedOrder['seen'],
  now: number,
): Promise<string> {
  const [only, ...more] = attempts;
  if (!only || more.length > 0)
    return `before: ${attempts.map((one) => attemptText(one, seen, now)).join(', ')}`;
  const age = ageText(only, now);
  if (only.orderId !== undefined && only.state === 'unknown')
    return `${age}: ${only.orderId}; what became of it cannot be read (the service does not show it)`;
  if (only.orderId !== undefined) return `${age}: ${only.orderId} (${stateText(only, seen)})`;
  const batch = await batchOf(context, only);
  if (batch !== undefined)
    return `${age}, as a row of the upload ${batch}; whether it was ordered is not known yet`;
  const record = recordOf(await context.journal(), context, only);
  const worker = record && isBeingSent(record) ? `; ${workerOf(record).who} is sending it` : '';
  const placed = only.state === 'unknown' ? '; whether it was placed is not known' : '';
  return `${age}, as ${only.key}${worker}${placed}`;
}

/** Id of the batch that has an attempt as a row; undefined if the service has not accepted the batch. */
async function batchOf(
  context: OrderContext,
  { upload }: Pick<Attempt, 'upload'>,
): Promise<string | undefined> {
  if (upload === undefined) return undefined;
  return (await context.journal()).find(upload, context.settings.baseUrl.value)?.order_id ?? undefined;
}

/** Commands that show what became of attempts without an order. One command per batch. */
export async function batchesOf(
  context: OrderContext,
  attempts: readonly Pick<Attempt, 'upload' | 'orderId'>[],
): Promise<readonly NextStep[]> {
  const ids = new Set<string>();
  for (const attempt of attempts) {
    const id = attempt.orderId === undefined ? await batchOf(context, attempt) : undefined;
    if (id !== undefined) ids.add(id);
  }
  const where = whereFlags(context);
  return [...ids].map((id) => ({
    command: shellLine`errand bulk watch ${id}` + where,
    when: 'to see what becomes of it',
  }));
}

const alikeMessages: Readonly<Record<Refusal, (order: string, earlier: string) => string>> = {
  in_doubt: (order, earlier) => `${order} is in doubt, sent ${earlier}`,
  unknown: (order, earlier) => `${order} was sent ${earlier}`,
  alike: (order, earlier) => `${order} was placed ${earlier}`,
  overlaps: (_, earlier) => `some of it was ordered ${earlier}`,
  differs: (order, earlier) => `${order} was placed ${earlier}`,
  exists: (order, earlier) => `${order} was placed ${earlier}`,
  old: (order, earlier) => `${order} was placed ${earlier}`,
  two_live: (order, earlier) => `${order} was placed ${earlier}`,
  other_namespace: (order, earlier) => `${order} was placed ${earlier}`,
  cancelled: (order, earlier) => `${order} was placed and cancelled ${earlier}`,
  returned: (order, earlier) => `${order} was placed and sent back ${earlier}`,
};

/** A command line without its reference; undefined if the line has no `--reference`. */
function withoutReference(argv: readonly string[] = []): string | undefined {
  const without = withoutOption(argv, '--reference');
  return without.length < argv.length ? typedCommand(without) : undefined;
}

/** Flags that list the orders of a reference. */
const listedBy = ({ namespace, text }: Reference): string =>
  shellLine` --reference ${text}` + (namespace === '' ? '' : shellLine` --namespace ${namespace}`);

type Message = (reference: string, attempts: string) => string;

const referenceMessages: Readonly<Record<Refusal, Message>> = {
  in_doubt: (reference, attempts) => `an order for the reference ${reference} is in doubt: ${attempts}`,
  unknown: (reference, attempts) =>
    `nobody knows what became of an earlier order for the reference ${reference}: ${attempts}`,
  alike: (_, attempts) => `the same was ordered already: ${attempts}`,
  overlaps: (_, attempts) => `some of it was ordered already: ${attempts}`,
  differs: (reference, attempts) => `the reference ${reference} has a live order that differs, ${attempts}`,
  exists: (reference, attempts) => `the reference ${reference} has a live order, ${attempts}`,
  old: (reference, attempts) => `the reference ${reference} was used before, for ${attempts}`,
  two_live: (reference, attempts) => `the reference ${reference} has more than one live order: ${attempts}`,
  other_namespace: (reference, attempts) =>
    `the same was ordered under this reference in another namespace than that of ${reference}: ${attempts}`,
  cancelled: (reference, attempts) => `the order for the reference ${reference} was cancelled: ${attempts}`,
  returned: (reference, attempts) => `the order for the reference ${reference} was sent back: ${attempts}`,
};

/** Why an order for a reference is refused. @param attempts is a text that lists the earlier attempts. */
export const referenceText = (reference: Reference, why: Refusal, attempts: string): string =>
  referenceMessages[why](metadataOf(reference), attempts);

/** Refusals because a live order has the same products, or some of them. */
const isAlike: ReadonlySet<Refusal> = new Set(['alike', 'overlaps']);

/** Refusals after which the user may need another reference. */
const isForAnother: ReadonlySet<Refusal> = new Set(['differs', 'exists', 'old', 'other_namespace']);

function hintOf<N extends JournaledOperation>(
  context: OrderContext,
  { placing: { reference } }: Purchase<N>,
  why: Refusal,
  attempts: readonly Attempt[],
): string | undefined {
  if (why === 'unknown')
    return reference
      ? 'Look whether that one is there first. Another order takes another reference.'
      : 'Look whether that one is there before you order another.';
  if (reference) return isForAnother.has(why) ? 'Another order takes another reference.' : undefined;
  if (why === 'in_doubt') return 'Find out first what became of that one.';
  if (!isAlike.has(why)) return undefined;
  const { singleMs, rowMs } = windowsOf(context);
  const products = why === 'alike' ? 'the same products' : 'some of the same products';
  const what = `An order of ${products} for the same recipient is taken for a duplicate`;
  if (attempts.some((one) => unitOf(one) === 'row'))
    return `${what} for ${durationText(Math.max(singleMs, rowMs))} after the other was in an upload.`;
  return `${what} for ${durationText(singleMs)}; \`errand config set duplicate-window 1h\` sets another time.`;
}

function duplicateSteps<N extends JournaledOperation>(
  context: OrderContext,
  { placing: { reference, isByHand = false }, intent: { operation }, command }: Purchase<N>,
  why: Refusal,
  {
    attempts,
    batches,
    replaced,
    policy,
  }: {
    readonly attempts: readonly Attempt[];
    readonly batches: readonly NextStep[];
    /** Id of the order that can be cancelled so that this one takes its place. */
    readonly replaced: string | undefined;
    readonly policy: PolicyObstacle | undefined;
  },
): readonly NextStep[] {
  const where = whereFlags(context);
  const see = attempts.flatMap(({ orderId }) =>
    orderId === undefined
      ? []
      : [{ command: shellLine`errand order get ${orderId}` + where, when: 'to see it' }],
  );
  const settle = attempts
    .filter(
      ({ state, orderId, operation: of }) =>
        state === 'intended' && orderId === undefined && of !== 'legacy.retry',
    )
    .map(({ key, upload }) => ({
      command: journalCommand('resume', upload ?? key, where),
      when: 'to find out, safely',
    }));
  const isListed = !isPaid(operation);
  const look =
    batches.length > 0
      ? batches
      : (why === 'unknown' || (why === 'in_doubt' && settle.length === 0)) && isListed
        ? [
            {
              command: `errand order list${reference ? listedBy(reference) : ''}${where}`,
              when: 'to look for it',
            },
          ]
        : [];
  const again = command ?? (context.argv && typedCommand(context.argv));
  const rules = policy ? [{ command: `errand policy show${where}`, when: 'to see every rule' }] : [];
  if (again === undefined || policy?.outcome === 'refused') return [...see, ...settle, ...look, ...rules];
  const isCreate = (operation === 'order.create' || isPaid(operation)) && !isByHand;
  const buysAgain = isCreate && ['cancelled', 'returned', ...(reference ? ['unknown'] : [])].includes(why);
  // The two flags exclude each other.
  const fresh = again.replace(/ --again(?= |$)/, '');
  const another = { command: `${fresh} --new`, when: 'for another order' };
  const unnamed = reference ? withoutReference(context.argv) : again;
  const isNamed = isCreate && (reference ? isForAnother : isAlike).has(why) && unnamed !== undefined;
  const replace =
    replaced === undefined || !isNamed || reference
      ? []
      : [
          {
            command: `${shellLine`errand order cancel ${replaced}`}${where}`,
            when: 'to cancel the first while it is pending; the same command orders this one then',
          },
        ];
  const named = {
    command: `${unnamed} --reference NAME`,
    when: 'for another, under a name that you give it: each name is ordered once',
  };
  return [
    ...see,
    ...settle,
    ...look,
    ...(buysAgain
      ? [
          {
            command: `${again} --again`,
            when: why === 'unknown' ? 'to order it where it is not there' : 'to buy it again',
          },
        ]
      : []),
    ...replace,
    ...(isNamed ? [named] : []),
    ...(reference || buysAgain ? [] : [another]),
    ...rules,
  ];
}
