import type { ReturnReason, ReturnStatus } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Refused } from '../orders/lifecycle/types.ts';

/** When the stages of the compressed timeline begin, in ms after the creation of the return. */
const stageDelays = { decided: 3_000, settled: 6_000 } as const;

/** The retailer's response to a return reason. */
type Course = 'sent back' | 'refunded at once' | 'stopped' | 'declined';

const courses: Readonly<Record<ReturnReason, Course>> = {
  damaged: 'sent back',
  defective: 'sent back',
  wrong_item: 'sent back',
  not_as_described: 'sent back',
  wrong_size: 'sent back',
  no_longer_needed: 'sent back',
  not_delivered: 'refunded at once',
  empty_box: 'refunded at once',
  forced_cancellation: 'stopped',
  other: 'declined',
};

/** Whether a return is final: denied, credited, or approved with nothing left to resolve. */
export const isClosed = ({ record: { status }, plan }: Pick<ReturnState, 'record' | 'plan'>): boolean =>
  status === 'denied' || status === 'credited' || (status === 'approved' && plan.length === 0);

export interface Circumstances {
  /** What the items cost the wallet, in cents; 0 if the wallet did not pay for the items. */
  readonly credit: number;
  /** Whether at least one of the items has been shipped. */
  readonly hasShipped: boolean;
  readonly labels: number;
  readonly merchantReturnId: string;
  /** Divides every delay. */
  readonly speed: number;
}

/** Plans all changes of a return requested at `createdAt` (ms). The reason determines the outcome. */
export function planReturn(reason: ReturnReason, createdAt: number, facts: Circumstances): ReturnPlan {
  const at = (stage: keyof typeof stageDelays): number => createdAt + delay(stage, facts.speed);
  const deny = (why: string): ReturnPlan => [denial(at('decided'), why)];
  switch (courses[reason]) {
    case 'sent back':
      return approval(at('decided'), facts);
    case 'refunded at once':
      return [resolution(at('decided'), facts.credit)];
    case 'stopped':
      return facts.hasShipped
        ? deny('It had left the retailer already; request a return once it is delivered.')
        : [resolution(at('decided'), facts.credit)];
    case 'declined':
      return deny('The reason does not entitle to a return; name one of the others if one fits.');
  }
}

/** Applies all changes due by `now` (ms). The result does not depend on how often this function is called. */
export function advanceReturn(state: ReturnState, now: number): AdvancedReturn {
  const due = state.plan.filter(({ at }) => at <= now);
  let { record, labels } = state;
  const steps = due.map((change): ReturnStep => {
    record = applied(record, change);
    labels = change.labels ?? labels;
    return { at: change.at, record, credit: change.credit ?? 0 };
  });
  return { record, plan: state.plan.slice(due.length), labels, steps };
}

/** Outcomes that `sandbox trigger` can force on a return. */
export const forcedReturns = ['approved', 'denied', 'credited'] as const satisfies readonly ReturnStatus[];
export type ForcedReturn = (typeof forcedReturns)[number];

/** Forces an outcome at `now` (ms), replacing the return's plan. */
export function forceReturnState(
  state: ReturnState,
  kind: ForcedReturn,
  now: number,
  facts: Circumstances,
): AdvancedReturn | Refused {
  const reached = advanceReturn(state, now);
  const { status, reason } = reached.record;
  const refused = (why: string): Refused => ({ refused: `The return is ${status}: ${why}.` });
  if (isClosed(reached) || status === kind) return refused('it has been decided already');
  if (kind === 'credited' && facts.credit <= 0) return refused('the wallet has not paid for its items');
  // The retailer is already holding back the items.
  const isHeld = reason === 'forced_cancellation' && !facts.hasShipped;
  if (kind !== 'credited' && isHeld) return refused('the retailer has stopped its items already');
  const plans: Readonly<Record<ForcedReturn, () => ReturnPlan>> = {
    approved: () => approval(now, facts),
    denied: () => [denial(now, 'The retailer has denied the return.')],
    credited: () => [resolution(now, facts.credit)],
  };
  return resumed(state, plans[kind](), now);
}

/**
 * Closes a return at `at` (ms) after the whole order was refunded. Otherwise a later credit would refund the items
 * twice.
 */
export function closeReturn(state: ReturnState, at: number): AdvancedReturn {
  const reached = advanceReturn(state, at);
  const { status, credited_amount } = reached.record;
  if (isClosed(reached) && credited_amount === 0) return reached;
  const resolution_notes = 'The retailer cancelled the order and its whole charge came back.';
  // A credited return keeps its status, but its credit becomes zero. Any other return is denied, because nothing is
  // left to return.
  const closed = status === 'credited' ? status : 'denied';
  return resumed(state, [{ at, status: closed, resolution_notes, credit: -credited_amount }], at);
}

const delay = (stage: keyof typeof stageDelays, speed: number): number =>
  Math.round(stageDelays[stage] / speed);

function approval(at: number, { credit, labels, merchantReturnId, speed }: Circumstances): ReturnPlan {
  const settledAt = at + delay('settled', speed) - delay('decided', speed);
  const resolution_notes = 'Put the items into their boxes, a label on each, and hand them to the carrier.';
  return [
    { at, status: 'approved', labels, merchant_return_id: merchantReturnId, resolution_notes },
    resolution(settledAt, credit),
  ];
}

const denial = (at: number, resolution_notes: string): ReturnChange => ({
  at,
  status: 'denied',
  resolution_notes,
});

function resolution(at: number, credit: number): ReturnChange {
  if (credit > 0) return { at, status: 'credited', credit, resolution_notes: 'Credited to the wallet.' };
  const resolution_notes = 'The retailer refunds what paid for the items; the wallet had not.';
  return { at, status: 'approved', resolution_notes };
}

function applied(record: ReturnState['record'], change: ReturnChange): ReturnState['record'] {
  return {
    ...record,
    status: change.status,
    resolution_notes: change.resolution_notes ?? record.resolution_notes,
    merchant_return_id: change.merchant_return_id ?? record.merchant_return_id,
    credited_amount: record.credited_amount + (change.credit ?? 0),
    updated_at: new Date(change.at).toISOString(),
  };
}

/** Applies the changes due by `now`, then continues with a different plan. */
function resumed(state: ReturnState, plan: ReturnPlan, now: number): AdvancedReturn {
  const due = advanceReturn(state, now);
  const next = advanceReturn({ ...due, plan }, now);
  return { ...next, steps: [...due.steps, ...next.steps] };
}

export type ReturnBody = Shape<'ReturnRequestCreate'>;
export type ReturnRecord = Shape<'ReturnRequest'>;

/**
 * A scheduled change of a return. The change has its time only in `at`, so it can be rescheduled without being rebuilt.
 */
interface ReturnChange {
  /** When the change is due, in ms since the epoch. */
  readonly at: number;
  readonly status: ReturnStatus;
  readonly resolution_notes?: string;
  readonly merchant_return_id?: string;
  readonly labels?: number;
  /** Cents credited to the wallet; negative to reverse an earlier credit. */
  readonly credit?: number;
}

/** Scheduled changes, soonest first. */
export type ReturnPlan = readonly ReturnChange[];

export interface ReturnState {
  /** The record as shown, but without label URLs, because label URLs are signed anew on each read. */
  readonly record: ReturnRecord;
  readonly plan: ReturnPlan;
  /** Number of labels. */
  readonly labels: number;
}

/** An applied change: the resulting record and the money moved. */
export interface ReturnStep {
  /** When the change is due, in ms since the epoch. */
  readonly at: number;
  readonly record: ReturnRecord;
  /** Cents credited to the wallet; negative for the reversal of an earlier credit. */
  readonly credit: number;
}

export interface AdvancedReturn extends ReturnState {
  readonly steps: readonly ReturnStep[];
}
