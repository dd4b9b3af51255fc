import { type Draw, drawFor } from './draw.ts';
import { linesOf, type OrderLine } from './lines.ts';
import { estimatedDelivery, journeys } from './parcels.ts';
import { initialRecord } from './record.ts';
import { failedItems, failedResult, type Refusal } from './refusal.ts';
import { type Schedule, scheduleFor } from './schedule.ts';
import type {
  ItemChange,
  JobResult,
  NewOrder,
  OrderPlan,
  OrderRecord,
  OrderState,
  Surroundings,
  Transition,
} from './types.ts';
import { decide, type Verdict } from './verdict.ts';

/** A new order and its whole future. The order is taken as accepted: see `creationRefusal` for those that are not. */
export function createOrder(input: NewOrder): OrderState {
  const record = initialRecord(input);
  return { record, plan: planOrder(record, input, input.startAt ?? input.createdAt) };
}

/** Everything that will happen to a pending order that is taken up at `startAt` (ms since the epoch). */
export function planOrder(record: OrderRecord, surroundings: Surroundings, startAt: number): OrderPlan {
  const lines = linesOf(record, surroundings);
  const paces = new Set(lines.map((line) => line.test?.pace));
  const draw = drawFor(surroundings.seed, record.id);
  const speed = surroundings.speed ?? 1;
  const schedule = scheduleFor(draw, startAt, { speed, slow: paces.has('slow') });
  const started: Transition = { at: schedule('started'), kind: 'started' };
  if (paces.has('never')) return [started];
  const verdict = decide(record, lines, surroundings.accountError);
  const rest = verdict.refusal
    ? [failure(record, verdict.refusal, schedule('settled'), verdict)]
    : purchase(record, verdict, surroundings, { draw, schedule });
  return [started, ...rest];
}

/** The order's failure as a change at `at` (ms). */
export function failure(
  record: OrderRecord,
  refusal: Refusal,
  at: number,
  { skipped, concessions }: Pick<Verdict, 'skipped' | 'concessions'> = { skipped: [], concessions: [] },
): Transition {
  return {
    at,
    kind: 'failed',
    items: failedItems(record, refusal, skipped),
    concessions,
    job_result: failedResult(record, refusal),
  };
}

/** Placing and all that follows it, in order of time. */
export function purchase(
  record: OrderRecord,
  verdict: Omit<Verdict, 'refusal'>,
  { config }: Surroundings,
  { draw, schedule }: { draw: Draw; schedule: Schedule },
): Transition[] {
  const { purchases, skipped, concessions } = verdict;
  const ordered = purchases.map(({ line }): ItemChange => ({ id: line.item.id, status: 'ordered' }));
  const placed: Transition = {
    at: schedule('settled'),
    kind: 'placed',
    items: [...ordered, ...skipped],
    concessions,
    job_result: placedResult(record, verdict, draw, schedule),
  };
  if (purchases.some(({ line }) => line.test?.cancelledByRetailer)) {
    const reason = 'The retailer cancelled the order.';
    return [placed, { at: schedule('cancelledByRetailer'), kind: 'cancelled_by_retailer', reason }];
  }
  const sent = journeys(record, purchases, { draw, schedule, config });
  return [placed, ...sent.toSorted((one, other) => one.at - other.at)];
}

function placedResult(
  record: OrderRecord,
  verdict: Pick<Verdict, 'price' | 'purchases'>,
  draw: Draw,
  schedule: Schedule,
): JobResult {
  return {
    success: true,
    error: null,
    error_type: null,
    error_details: null,
    price_components: verdict.price,
    estimated_delivery: estimatedDelivery(record, schedule('settled'), draw),
    merchant_order_ids: merchantOrderIds(
      verdict.purchases.map(({ line }) => line),
      draw,
    ),
  };
}

/** One order number for each retailer, in the dashed form that people copy from its emails. */
function merchantOrderIds(lines: readonly OrderLine[], draw: Draw): JobResult['merchant_order_ids'] {
  const retailers = [...new Set(lines.map(({ facts }) => facts.retailer))];
  return retailers.map((retailer) => {
    const digits = draw.digits(`merchant order ${retailer}`, 17);
    return {
      merchant_order_id: `${digits.slice(0, 3)}-${digits.slice(3, 10)}-${digits.slice(10)}`,
      retailer,
    };
  });
}
