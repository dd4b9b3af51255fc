import { localDate } from './places.ts';
import type { OrderPlan, OrderRecord, Transition } from './types.ts';

/** The plan with everything happening `earlier` by so many ms. */
export function moved(record: OrderRecord, plan: OrderPlan, earlier: number): OrderPlan {
  return retimed(record, plan, ({ at }) => at - earlier);
}

/**
 * The plan with each change at a time of its own (ms). Estimates of delivery are dates that were reckoned from the
 * day of placing: they move with that day, and stay where the order has been placed already.
 */
export function retimed(
  record: OrderRecord,
  plan: OrderPlan,
  timeOf: (change: Transition, place: number) => number,
): OrderPlan {
  const kept = plan.map((change, place) => ({ ...change, at: timeOf(change, place) }));
  const [was, is] = [plan, kept].map((changes) => placingDay(record, changes));
  if (was === undefined || is === undefined || was === is) return kept;
  const shift = Date.parse(is) - Date.parse(was);
  return kept.map((change) => redated(change, shift));
}

function placingDay({ shipping_address }: OrderRecord, plan: OrderPlan): string | undefined {
  const placed = plan.find(({ kind }) => kind === 'placed');
  return placed && localDate(shipping_address, placed.at, 0);
}

function redated(change: Transition, shift: number): Transition {
  const later = (date: string): string => new Date(Date.parse(date) + shift).toISOString().slice(0, 10);
  const { kind } = change;
  if (kind === 'scanned' && change.estimated_delivery_date !== null)
    return { ...change, estimated_delivery_date: later(change.estimated_delivery_date) };
  if (kind !== 'placed') return change;
  const { job_result } = change;
  const { estimated_delivery: estimated } = job_result;
  return estimated == null
    ? change
    : { ...change, job_result: { ...job_result, estimated_delivery: later(estimated) } };
}
