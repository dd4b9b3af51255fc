import { retimed } from './moved.ts';
import { type Ending, endings } from './parcels.ts';
import { destination } from './places.ts';
import type { OrderPlan, OrderRecord, OrderState, Scan, Transition } from './types.ts';

/** The plan with everything up to `index` happening at `now` (ms) and the rest following at its own distance. */
export function broughtForward({ record, plan }: OrderState, index: number, now: number): OrderPlan {
  const earlier = (plan[index]?.at ?? now) - now;
  return retimed(record, plan, ({ at }, place) => (place <= index ? now : at - earlier));
}

/** Where in the plan the last parcel that has not left yet leaves; -1 when all have, or none ever will. */
export function lastDeparture(record: OrderRecord, plan: OrderPlan): number {
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

export const lastArrival = (plan: OrderPlan): number => plan.findLastIndex(isArrival);

/** The plan with each journey that is still under way ending in this way. */
export const endingIn = (ending: Ending, plan: OrderPlan): OrderPlan =>
  plan.map((change) => (isArrival(change) ? { ...change, ...arrival(ending, change) } : change));

/** Parcels that wait for pickup being fetched at `now` (ms). */
export function pickups(record: OrderRecord, now: number): OrderPlan {
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
