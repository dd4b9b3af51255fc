import type { Scenario } from '../../api/scenario/scenario.ts';
import type { ScenarioOrderState, ScenarioReturnState } from '../../api/scenario/words.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';

type GivenOrder = Scenario['orders'][number];
type GivenReturn = Scenario['returns'][number];
type OrderEvent = NonNullable<GivenOrder['events']>[number]['event'];
type ReturnEvent = NonNullable<GivenReturn['events']>[number]['event'];

/**
 * How to bring an order or return into its state by a given time: its creation time, its speed, and the events to
 * force.
 */
export interface Course<E> {
  /** Creation time, ms since the epoch. */
  readonly created: number;
  readonly speed: number;
  readonly events: readonly {
    readonly at: number;
    readonly event: E;
    readonly errorType?: string | undefined;
  }[];
}

interface Stage<E> {
  /** Age, in ms at speed 1, at which the order or return is certain to be in this state. */
  readonly age: number;
  /** Whether the order or return leaves this state by itself. */
  readonly isTransient?: true;
  /** The event to force, and when to force it; undefined if the plan leads to the state by itself. */
  readonly done?: { readonly event: E; readonly age: number };
}

/** The stages of an order. Their times follow from the schedule that all orders share. */
const orderStages: Readonly<Record<ScenarioOrderState, Stage<OrderEvent>>> = {
  pending: { age: 500, isTransient: true },
  in_progress: { age: 1_700, isTransient: true },
  order_placed: { age: 3_000, isTransient: true },
  in_transit: { age: 7_200, isTransient: true },
  delivered: { age: 10_000 },
  available_for_pickup: { age: 10_000, done: { event: 'available-for-pickup', age: 8_000 } },
  undeliverable: { age: 10_000, done: { event: 'undeliverable', age: 8_000 } },
  order_failed: { age: 3_000, done: { event: 'failed', age: 2_000 } },
  cancelled: { age: 900, done: { event: 'cancelled', age: 500 } },
  cancelled_by_retailer: { age: 5_000, done: { event: 'cancelled-by-retailer', age: 3_000 } },
};

const returnStages: Readonly<Record<ScenarioReturnState, Stage<ReturnEvent>>> = {
  open: { age: 1_500, isTransient: true },
  approved: { age: 4_500, isTransient: true, done: { event: 'approved', age: 3_500 } },
  denied: { age: 4_500, done: { event: 'denied', age: 3_500 } },
  credited: { age: 7_000, done: { event: 'credited', age: 6_500 } },
};

/** Default age, in ms, of an order or return that is in a final state when the scenario begins. */
const defaultAgeMs = 3_600_000;

interface Given {
  readonly created?: number | undefined;
  readonly speed?: number | undefined;
}

/** The course that brings an order into the given state by `now` (ms). */
export const orderCourse = (
  given: Given & { readonly state?: ScenarioOrderState | undefined; readonly errorType?: string | undefined },
  now: number,
  speed: number,
): Course<OrderEvent> => course(given.state && orderStages[given.state], given, { now, speed });

/** The course that brings a return into the given state by `now` (ms). */
export const returnCourse = (
  given: Given & { readonly state?: ScenarioReturnState | undefined },
  now: number,
  speed: number,
): Course<ReturnEvent> => course(given.state && returnStages[given.state], given, { now, speed });

/** Adjusts the speed if the timeline would otherwise run past the state, or would not reach the state in time. */
function course<E>(
  stage: Stage<E> | undefined,
  { created, speed, errorType }: Given & { readonly errorType?: string | undefined },
  fallback: { readonly now: number; readonly speed: number },
): Course<E> {
  const { now } = fallback;
  if (!stage) return { created: created ?? now, speed: speed ?? fallback.speed, events: [] };
  const courseSpeed =
    speed ?? (created === undefined ? fallback.speed : fitting(stage, now - created, fallback.speed));
  const minAgeMs = Math.ceil(stage.age / courseSpeed);
  const createdAt = created ?? now - (stage.isTransient ? minAgeMs : Math.max(minAgeMs, defaultAgeMs));
  const { done } = stage;
  const at = done && Math.min(now, createdAt + Math.ceil(done.age / courseSpeed));
  return {
    created: createdAt,
    speed: courseSpeed,
    events: done && at !== undefined ? [{ at, event: done.event, ...(errorType && { errorType }) }] : [],
  };
}

function fitting<E>({ age, isTransient }: Stage<E>, passed: number, fallback: number): number {
  if (passed <= 0) return fallback;
  return isTransient || passed * fallback < age ? Math.min(age / passed, 1e6) : fallback;
}

/** The state of an order as a single word. Once the order is placed, this is the worst state among its parcels. */
export function stateOf({ status, tracking_numbers: parcels }: OrderRecord): string {
  if (status !== 'order_placed') return status;
  const states = parcels.map((parcel) => parcel.status);
  for (const worst of ['undeliverable', 'available_for_pickup', 'in_transit'] as const)
    if (states.includes(worst)) return worst;
  return states.length > 0 && states.every((state) => state === 'delivered') ? 'delivered' : status;
}
