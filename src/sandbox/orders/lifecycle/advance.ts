import { applyTransition } from './apply.ts';
import { eventsOf, isCancellable, ledgerEffects } from './consequences.ts';
import type { Advanced, OrderPlan, OrderState, Refused, Step } from './types.ts';

/** When the next change is due, ms since the epoch; null when nothing more happens by itself. */
export const nextDue = (plan: OrderPlan): number | null => plan[0]?.at ?? null;

/** Brings everything due by `now` (ms) about. How often this is called in between makes no difference. */
export function advance(state: OrderState, now: number): Advanced {
  const steps: Step[] = [];
  let { record } = state;
  for (const change of state.plan) {
    if (change.at > now) break;
    const after = applyTransition(record, change);
    const { at, kind } = change;
    steps.push({ at, kind, record: after, events: eventsOf(change), ledger: ledgerEffects(record, after) });
    record = after;
  }
  return { record, plan: state.plan.slice(steps.length), steps };
}

/** Cancels an order that is still pending at `now` (ms); nothing is charged. Refused once it is taken up. */
export function cancelPending(
  state: OrderState,
  now: number,
  reason = 'Cancelled by the caller.',
): Advanced | Refused {
  const due = advance(state, now);
  if (!isCancellable(due.record)) {
    return { refused: `The order is ${due.record.status}; only a pending order can be cancelled.` };
  }
  return resumed(due, [{ at: now, kind: 'cancelled', reason }], now);
}

/** Goes on from what was reached with another plan. */
export function resumed(reached: Advanced, plan: OrderPlan, now: number): Advanced {
  const next = advance({ record: reached.record, plan }, now);
  return { ...next, steps: [...reached.steps, ...next.steps] };
}
