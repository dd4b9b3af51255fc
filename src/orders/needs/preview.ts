import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { ErrandError, exitCodes, stopOf } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { looksUp } from '../../run/request-preview.ts';
import type { JournaledOperation } from '../order-record.ts';
import { type Body, isPaid, type Placing } from '../submit/intent.ts';
import { type ComparedAttempt, type Decision, decide } from './decide.ts';
import { needDifferences, orderSeen, withOrdersSeen } from './decide-with-service.ts';
import { needOf } from './need.ts';
import { doorOf } from './place-once.ts';
import { metadataOf } from './reference.ts';
import { attemptText, referenceText } from './refused.ts';
import { knownScopeOf } from './scope.ts';
import { listedByReference, ordersOf, type SeenOrder, seeOrder } from './service-orders.ts';
import { windowsOf } from './windows.ts';

/** What would happen to a request that is only shown, judging by the request's need. */
export interface PreviewedNeed {
  /**
   * Exit code of the error with which sending would fail. Undefined if sending would not fail, or would first ask the
   * user.
   */
  readonly exitCode: number | undefined;
  /** Whether an existing order meets the need. Sending would then show that order and place no other. */
  readonly isMet: boolean;
}

const free: PreviewedNeed = { exitCode: undefined, isMet: false };

/**
 * For a request that is only shown, reports the earlier orders that would block the request. Reads these orders, unless
 * reads are only shown as well. Persists nothing. If a read fails, the preview continues.
 * @param isNoted tells whether the earlier order was reported already.
 */
export async function previewNeed(
  context: OrderContext,
  order: Body,
  placing: Placing,
  {
    operation = 'order.create',
    isNoted = false,
  }: { readonly operation?: JournaledOperation; readonly isNoted?: boolean } = {},
): Promise<PreviewedNeed> {
  const { reference, isNew = false, again = false } = placing;
  const isUnlisted = isPaid(operation);
  const lists = reference !== undefined && !isUnlisted && looksUp(context);
  if (!lists && !journalExists(context.settings)) return free;
  try {
    const need = needOf(order, reference);
    const listed = lists ? await listedOrders(context, reference) : [];
    const related = await relatedTo(context, need, operation);
    const seen = await ordersSeen(context, related, listed);
    const known = [
      ...withOrdersSeen(related, seen),
      ...listed.map((one, at) => attemptOf(one, reference, at)),
    ].map((one): ComparedAttempt => {
      const found = orderSeen(seen, one);
      return { ...one, differs: found !== undefined && needDifferences(order, found.order).length > 0 };
    });
    const now = context.serviceClock.now();
    const decision = decide(
      {
        ...{
          need,
          door: doorOf(context, placing),
          statement: { isNew, again },
          windows: windowsOf(context),
          now,
        },
        ...{ listedAt: now, isUnlisted, read: new Set(known.map(({ serial }) => serial)) },
      },
      known,
    );
    return noted(context, decision, { reference, seen, now, isNoted });
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    context.note(`what was ordered before cannot be looked up: ${error.message}`);
    return { exitCode: error.exitCode, isMet: false };
  }
}

function noted(
  context: OrderContext,
  decision: Decision,
  {
    reference,
    seen,
    now,
    isNoted,
  }: {
    readonly reference: Reference | undefined;
    readonly seen: ReadonlyMap<string, SeenOrder>;
    readonly now: number;
    readonly isNoted: boolean;
  },
): PreviewedNeed {
  if (decision.do === 'send' || decision.do === 'look') return free;
  const orders = decision.attempts.map((one) => attemptText(one, seen, now)).join(', ');
  if (decision.do === 'adopt') {
    const name = reference ? `the reference ${metadataOf(reference)} has ` : '';
    context.note(`${name}${orders} already: sent, that one is shown, and nothing is ordered`);
    return { exitCode: undefined, isMet: true };
  }
  const isAsked = decision.do === 'ask';
  if (!isNoted && reference)
    context.note(`${referenceText(reference, decision.why, orders)}; it is not sent`);
  else if (!isNoted) {
    const then = isAsked ? 'sent, it is asked about' : 'it is not sent again without --new';
    context.note(`an order like this one is there: ${orders}; ${then}`);
  }
  // With --curl, the earlier orders were not read. The exit code is therefore unknown.
  return { exitCode: isAsked || context.previewsReads ? undefined : exitCodes.conflict, isMet: false };
}

async function listedOrders(context: OrderContext, reference: Reference): Promise<readonly SeenOrder[]> {
  const client = await context.client();
  return ordersOf(client, listedByReference(client), reference);
}

async function relatedTo(
  context: OrderContext,
  need: ReturnType<typeof needOf>,
  operation: JournaledOperation,
): Promise<readonly Attempt[]> {
  if (!journalExists(context.settings)) return [];
  const attempts = await (await context.journal()).attempts();
  const scope = await knownScopeOf(context, attempts, operation);
  const [related = []] = await attempts.related(scope, [need]);
  return related;
}

/**
 * The attempt for an order that the service lists for a reference. There may be a stored attempt for the same order.
 */
const attemptOf = (
  { order, state, madeAt }: SeenOrder,
  reference: Reference | undefined,
  at: number,
): Attempt => ({
  ...{ serial: -1 - at, reference, likeness: 'alike', run: undefined, number: 1 },
  ...{ key: order.id, operation: 'order.create', upload: undefined, orderId: order.id },
  ...{ state, madeAt, seenAt: madeAt },
});

/** Orders by id in lower case: those listed, and those of attempts that may be live. @throws ErrandError. */
async function ordersSeen(
  context: OrderContext,
  attempts: readonly Attempt[],
  listed: readonly SeenOrder[],
): Promise<ReadonlyMap<string, SeenOrder>> {
  const seen = new Map(listed.map((one) => [one.order.id.toLowerCase(), one]));
  if (!looksUp(context)) return seen;
  const ids = attempts.flatMap(({ state, orderId }) =>
    state === 'placed' ? (orderId?.toLowerCase() ?? []) : [],
  );
  for (const id of new Set(ids.slice(-maxRead))) {
    const found = seen.has(id) ? undefined : await seeOrder(await context.client(), id);
    if (found) seen.set(id, found);
  }
  return seen;
}

/** Maximum number of orders that a preview reads. */
const maxRead = 10;
