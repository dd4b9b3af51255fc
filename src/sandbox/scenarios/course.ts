import type { Scenario } from '../../api/scenario/scenario.ts';
import type { ScenarioOrderState, ScenarioReturnState } from '../../api/scenario/words.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';

type GivenOrder = Scenario['orders'][number];
type GivenReturn = Scenario['returns'][number];
type OrderEvent = NonNullable<GivenOrder['events']>[number]['event'];
type ReturnEvent = NonNullable<GivenReturn['events']>[number]['event'];

/** When something is created, how fast it lives, and what is done to it, so that it stands in its state at a time. */
export interface Course<E> {
  /** ms since the epoch. */
  readonly created: number;
  readonly speed: number;
  readonly events: readonly {
    readonly at: number;
    readonly event: E;
    readonly errorType?: string | undefined;
  }[];
}

interface Stage<E> {
  /** How long after its creation it has surely reached the state, and not yet left it, ms at speed 1. */
  readonly age: number;
  /** It goes on from there by itself. */
  readonly isPassing?: true;
  /** What has to be done to it on the way, and when, unless its own plan leads there. */
  readonly done?: { readonly event: E; readonly age: number };
}

/** The stages of an order's life, by the schedule that every order has. */
const orderStages: Readonly<Record<ScenarioOrderState, Stage<OrderEvent>>> = {
  pending: { age: 500, isPassing: true },
  in_progress: { age: 1_700, isPassing: true },
  order_placed: { age: 3_000, isPassing: true },
  in_transit: { age: 7_200, isPassing: true },
  delivered: { age: 10_000 },
  available_for_pickup: { age: 10_000, done: { event: 'available-for-pickup', age: 8_000 } },
  undeliverable: { age: 10_000, done: { event: 'undeliverable', age: 8_000 } },
  order_failed: { age: 3_000, done: { event: 'failed', age: 2_000 } },
  cancelled: { age: 900, done: { event: 'cancelled', age: 500 } },
  cancelled_by_retailer: { age: 5_000, done: { event: 'cancelled-by-retailer', age: 3_000 } },
};

const returnStages: Readonly<Record<ScenarioReturnState, Stage<ReturnEvent>>> = {
  open: { age: 1_500, isPassing: true },
  approved: { age: 4_500, isPassing: true, done: { event: 'approved', age: 3_500 } },
  denied: { age: 4_500, done: { event: 'denied', age: 3_500 } },
  credited: { age: 7_000, done: { event: 'credited', age: 6_500 } },
};

/** How long before the scenario begins something in its last state was created, where nothing says when, ms. */
const usualAgeMs = 3_600_000;

interface Given {
  readonly created?: number | undefined;
  readonly speed?: number | undefined;
}

/** The course of an order to a state at `now` (ms), by its own life. */
export const orderCourse = (
  given: Given & { readonly state?: ScenarioOrderState | undefined; readonly errorType?: string | undefined },
  now: number,
  speed: number,
): Course<OrderEvent> => course(given.state && orderStages[given.state], given, { now, speed });

/** The course of a return in the same way. */
export const returnCourse = (
  given: Given & { readonly state?: ScenarioReturnState | undefined },
  now: number,
  speed: number,
): Course<ReturnEvent> => course(given.state && returnStages[given.state], given, { now, speed });

/** A life that would have gone past the state, or would not have come there, is stretched or compressed to fit. */
function course<E>(
  stage: Stage<E> | undefined,
  { created, speed, errorType }: Given & { readonly errorType?: string | undefined },
  usual: { readonly now: number; readonly speed: number },
): Course<E> {
  const { now } = usual;
  if (!stage) return { created: created ?? now, speed: speed ?? usual.speed, events: [] };
  const pace = speed ?? (created === undefined ? usual.speed : fitting(stage, now - created, usual.speed));
  const least = Math.ceil(stage.age / pace);
  const began = created ?? now - (stage.isPassing ? least : Math.max(least, usualAgeMs));
  const { done } = stage;
  const at = done && Math.min(now, began + Math.ceil(done.age / pace));
  return {
    created: began,
    speed: pace,
    events: done && at !== undefined ? [{ at, event: done.event, ...(errorType && { errorType }) }] : [],
  };
}

function fitting<E>({ age, isPassing }: Stage<E>, passed: number, usual: number): number {
  if (passed <= 0) return usual;
  return isPassing || passed * usual < age ? Math.min(age / passed, 1e6) : usual;
}

/** The one state of an order: where it is placed, what its parcels are doing; the worst of them counts. */
export function stateOf({ status, tracking_numbers: parcels }: OrderRecord): string {
  if (status !== 'order_placed') return status;
  const states = parcels.map((parcel) => parcel.status);
  for (const worst of ['undeliverable', 'available_for_pickup', 'in_transit'] as const)
    if (states.includes(worst)) return worst;
  return states.length > 0 && states.every((state) => state === 'delivered') ? 'delivered' : status;
}
