import { relativeTime } from '../../format/time.ts';
import type { Attempt, Reference } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { ErrandError, type NextStep } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine, typedCommand } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { differencesText, shownDifferences } from '../compare.ts';
import { stateOfOrder } from '../order-record.ts';
import type { Body } from '../submit/intent.ts';
import type { Decision, Refusal } from './decide.ts';
import { type DecidedOrder, needDifferences, orderSeen } from './decide-with-service.ts';
import { metadataOf } from './reference.ts';
import type { SeenOrder } from './service-orders.ts';

/** Describes an attempt with its current state at the service and its age. */
export function attemptText(attempt: Attempt, seen: DecidedOrder['seen'], now: number): string {
  const { orderId, key, madeAt } = attempt;
  const found = orderSeen(seen, attempt);
  const state = found ? safeText(stateOfOrder(found.order).text, maxState) : attempt.state.replace('_', ' ');
  return `${orderId ?? key} (${state}, ${relativeTime(new Date(madeAt).toISOString(), now)})`;
}

const maxState = 60;

/** Note for a new attempt after one that has ended: `attempt 2; the one before it has ended: …`. */
export const afterText = (number: number, after: Attempt, seen: DecidedOrder['seen'], now: number): string =>
  `attempt ${number}; the one before it has ended: ${attemptText(after, seen, now)}`;

/**
 * Builds the error that explains why nothing is ordered for a reference, with the next steps. @returns ErrandError
 * conflict.
 */
export function refusedReference(
  context: OrderContext,
  body: Body,
  reference: Reference,
  { why, attempts }: Extract<Decision, { readonly do: 'refuse' | 'ask' }>,
  { seen, request: { now } }: DecidedOrder,
): ErrandError {
  const named = metadataOf(reference);
  const where = whereFlags(context);
  const found = attempts.flatMap((attempt) => orderSeen(seen, attempt) ?? []);
  const differing = found.flatMap(({ order }) => needDifferences(body, order));
  const listed = attempts.map((one) => attemptText(one, seen, now)).join(', ');
  const differences = shownDifferences(differing);
  const [first] = attempts;
  return new ErrandError(
    'conflict',
    `${messages[why](named, listed, differencesText(differing))}; nothing was ordered`,
    {
      code: `reference_${why}`,
      details: { reference: named, orders: found.map(shown), ...(differences.length > 0 && { differences }) },
      idempotencyKey: first?.key,
      outcome: why === 'in_doubt' || why === 'unknown' ? 'unknown' : 'applied',
      retryable: false,
      ...(isForAnother.has(why) && { hint: 'Another order takes another reference.' }),
      next: nextSteps(context, why, attempts, where),
    },
  );
}

/** Refusals after which the user may need another reference. */
const isForAnother: ReadonlySet<Refusal> = new Set(['differs', 'exists', 'old']);

const shown = ({ order, madeAt }: SeenOrder) => ({
  id: order.id,
  status: order.status,
  made_at: new Date(madeAt).toISOString(),
});

type Message = (reference: string, attempts: string, differences: string) => string;

const messages: Readonly<Record<Refusal, Message>> = {
  in_doubt: (reference, attempts) => `an order for the reference ${reference} is in doubt: ${attempts}`,
  unknown: (reference, attempts) =>
    `nobody knows what became of an earlier order for the reference ${reference}: ${attempts}`,
  alike: (_, attempts) => `the same was ordered already: ${attempts}`,
  overlaps: (_, attempts) => `some of it was ordered already: ${attempts}`,
  differs: (reference, attempts, differences) =>
    `the reference ${reference} has a live order that differs, ${attempts}: ${differences}`,
  exists: (reference, attempts) => `the reference ${reference} has a live order, ${attempts}`,
  old: (reference, attempts) => `the reference ${reference} was used before, for ${attempts}`,
  two_live: (reference, attempts) => `the reference ${reference} has more than one live order: ${attempts}`,
  other_namespace: (reference, attempts) =>
    `the same was ordered under this reference in another namespace than that of ${reference}: ${attempts}`,
  cancelled: (reference, attempts) => `the order for the reference ${reference} was cancelled: ${attempts}`,
  returned: (reference, attempts) => `the order for the reference ${reference} was sent back: ${attempts}`,
};

function nextSteps(
  context: OrderContext,
  why: Refusal,
  attempts: readonly Attempt[],
  where: string,
): readonly NextStep[] {
  const again = typedCommand(context.argv ?? []);
  const see = attempts.flatMap(({ orderId }) =>
    orderId === undefined
      ? []
      : [{ command: shellLine`errand order get ${orderId}` + where, when: 'to see it' }],
  );
  const settle = attempts
    .filter(({ state, orderId }) => state === 'intended' && orderId === undefined)
    .map(({ key }) => ({ command: journalCommand('resume', key, where), when: 'to find out, safely' }));
  const buysAgain = ['cancelled', 'returned', 'unknown'].includes(why)
    ? [{ command: `${again} --again`, when: 'to buy it again' }]
    : [];
  return [...see, ...settle, ...buysAgain];
}
