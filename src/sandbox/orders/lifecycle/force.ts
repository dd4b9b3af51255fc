import type { ErrorType } from '../../../api/error-types.ts';
import { advance, resumed } from './advance.ts';
import { failure, purchase } from './creation.ts';
import { linesOf } from './lines.ts';
import { destination, type Ending, endings, retimed } from './parcels.ts';
import { priceOf } from './payment.ts';
import { drawFor, scheduleFor } from './schedule.ts';
import type {
  Advanced,
  ForcedKind,
  OrderEnvironment,
  OrderPlan,
  OrderRecord,
  OrderState,
  Refused,
  Scan,
  Transition,
} from './types.ts';
import { blamesLine, overCeiling } from './verdict.ts';

/**
 * The plan with all transitions up to `index` moved to `now` (ms). Later transitions keep their distance from the
 * transition at `index`.
 */
function broughtForward({ record, plan }: OrderState, index: number, now: number): OrderPlan {
  const earlier = (plan[index]?.at ?? now) - now;
  return retimed(record, plan, ({ at }, place) => (place <= index ? now : at - earlier));
}

/**
 * Index in the plan at which the last unshipped parcel departs; -1 if all parcels have departed or no parcel ever will.
 */
function lastDeparture(record: OrderRecord, plan: OrderPlan): number {
  const gone = new Set(
    record.tracking_numbers.filter(({ status }) => status !== 'pending').map(({ id }) => id),
  );
  let last = -1;
  for (const [index, change] of plan.entries()) {
    if (change.kind !== 'scanned' || gone.has(change.tracking_id)) continue;
    gone.add(change.tracking_id);
    last = index;
  }
  return last;
}

const lastArrival = (plan: OrderPlan): number => plan.findLastIndex(isArrival);

/** Changes how the journey ends for every parcel that has not arrived yet. */
const endingIn = (ending: Ending, plan: OrderPlan): OrderPlan =>
  plan.map((change) => (isArrival(change) ? { ...change, ...arrival(ending, change) } : change));

/** Transitions by which all parcels that wait for pickup are picked up at `now` (ms). */
function pickups(record: OrderRecord, now: number): OrderPlan {
  const waiting = record.tracking_numbers.filter(({ status }) => status === 'available_for_pickup');
  const items = record.items
    .filter(({ status }) => status === 'available_for_pickup')
    .map(({ id, status }) => ({ id, status }));
  return waiting.map(({ id, estimated_delivery_date }) => {
    const place = destination(record.shipping_address);
    const checkpoint = { ...place, status: 'available_for_pickup', message: '' } as const;
    return {
      at: now,
      kind: 'scanned',
      tracking_id: id,
      estimated_delivery_date,
      ...arrival('delivered', { checkpoint, items }),
    };
  });
}

type Arrival = Pick<Scan, 'checkpoint' | 'items'>;

function arrival(ending: Ending, { checkpoint, items }: Arrival): Arrival {
  const { message, item } = endings[ending];
  return {
    checkpoint: { ...checkpoint, status: ending, message },
    items: items.map(({ id }) => ({ id, status: item })),
  };
}

function isArrival(change: Transition): change is Extract<Transition, { kind: 'scanned' }> {
  return change.kind === 'scanned' && Object.hasOwn(endings, change.checkpoint.status);
}

interface Force {
  readonly state: OrderState;
  readonly kind: ForcedKind;
  /** Time of the forced transition, in ms since the epoch. */
  readonly now: number;
  /** Failure reason for `failed`; defaults to `checkout_failed`. */
  readonly errorType?: ErrorType;
  /** External inputs of the order, unchanged since its creation. */
  readonly environment: OrderEnvironment;
}

/** Forces a transition now and continues with the remaining plan. Returns a refusal if the state does not allow it. */
export function forceTransition(force: Force): Advanced | Refused {
  const reached = advance(force.state, force.now);
  const plan = forced[force.kind](reached, force);
  return 'refused' in plan ? plan : resumed(reached, plan, force.now);
}

type Forced = (reached: OrderState, force: Force) => OrderPlan | Refused;

const forced: Readonly<Record<ForcedKind, Forced>> = {
  placed: (reached, force) => {
    if (!isOpen(reached)) return notNow(reached, 'only an open order can be placed');
    const plan = leadsToPlacing(reached.plan) ? reached.plan : boughtAnyway(reached, force);
    if ('refused' in plan) return plan;
    const index = plan.findIndex(({ kind }) => kind === 'placed');
    return broughtForward({ ...reached, plan }, index, force.now);
  },
  failed: (reached, { now, environment, errorType = 'checkout_failed' }) => {
    if (!isOpen(reached)) return notNow(reached, 'only an open order can fail');
    const [first] = linesOf(reached.record, environment);
    const rejections = first && blamesLine(errorType) ? [{ line: first, code: errorType }] : [];
    return [...takenUp(reached, now), failure(reached.record, { code: errorType, rejections }, now)];
  },
  shipped: (reached, { now }) => {
    const index = lastDeparture(reached.record, reached.plan);
    if (index < 0) return notNow(reached, 'it has no parcel that is still to leave');
    return broughtForward(reached, index, now);
  },
  delivered: ended('delivered'),
  undeliverable: ended('undeliverable'),
  available_for_pickup: ended('available_for_pickup'),
  cancelled_by_retailer: (reached, { now }) => {
    const moving = reached.record.tracking_numbers.some(({ status }) => status !== 'pending');
    if (reached.record.status !== 'order_placed' || moving) {
      return notNow(reached, 'only a placed order that has not left yet can be cancelled by the retailer');
    }
    return [{ at: now, kind: 'cancelled_by_retailer', reason: 'The retailer cancelled the order.' }];
  },
};

function ended(ending: Ending): Forced {
  return (reached, { now }) => {
    const index = lastArrival(reached.plan);
    if (index >= 0) return broughtForward({ ...reached, plan: endingIn(ending, reached.plan) }, index, now);
    const fetched = ending === 'delivered' ? pickups(reached.record, now) : [];
    return fetched.length > 0 ? fetched : notNow(reached, 'it has no parcel that is still under way');
  };
}

const isOpen = ({ record }: OrderState): boolean =>
  record.status === 'pending' || record.status === 'in_progress';

const leadsToPlacing = (plan: OrderPlan): boolean => plan.some(({ kind }) => kind === 'placed');

const notNow = ({ record }: OrderState, why: string): Refused => ({
  refused: `The order is ${record.status}: ${why}.`,
});

const takenUp = ({ record }: OrderState, now: number): OrderPlan =>
  record.status === 'pending' ? [{ at: now, kind: 'started' }] : [];

/** Plans the purchase of every line. Ignores all obstacles except the ceiling, which is never relaxed. */
function boughtAnyway(reached: OrderState, { now, environment }: Force): OrderPlan | Refused {
  const { record } = reached;
  const purchases = linesOf(record, environment).map((line) => ({ line, quantity: line.item.quantity }));
  const price = priceOf(purchases);
  if (overCeiling(record, purchases, price)) return notNow(reached, 'its price is over max_price');
  const draw = drawFor(environment.seed, record.id);
  const schedule = scheduleFor(draw, now, { speed: environment.speed ?? 1, slow: false });
  const verdict = { purchases, price, concessions: [], skipped: [] };
  return [...takenUp(reached, now), ...purchase(record, verdict, environment, { draw, schedule })];
}
