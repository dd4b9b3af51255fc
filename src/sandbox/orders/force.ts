import type { SandboxTrigger } from '../../api/control.ts';
import type { OrderStatus } from '../../api/enums.ts';
import type { ErrorType } from '../../api/error-types.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { noteIntervention } from '../store/interventions.ts';
import { type ForcedKind, forceTransition } from './lifecycle/index.ts';
import { findOrder, type StoredOrder } from './records.ts';
import { loadSettle } from './settle.ts';
import { surroundingsOf } from './surroundings.ts';

/** The triggers of an order, and what each makes happen. */
export const orderTriggers = {
  placed: 'placed',
  failed: 'failed',
  shipped: 'shipped',
  delivered: 'delivered',
  undeliverable: 'undeliverable',
  'available-for-pickup': 'available_for_pickup',
  'cancelled-by-retailer': 'cancelled_by_retailer',
} as const satisfies Partial<Readonly<Record<SandboxTrigger, ForcedKind>>>;

export type OrderTrigger = keyof typeof orderTriggers;

export const isOrderTrigger = (name: string): name is OrderTrigger => Object.hasOwn(orderTriggers, name);

interface Forcing {
  readonly trigger: OrderTrigger;
  readonly id: string;
  /** Whose order it must be; null for anyone's. */
  readonly userId: string | null;
  readonly errorType?: ErrorType | undefined;
}

/** Makes something happen to an order at `now` (ms). @throws Refusal not_found, bad_request where its state forbids it. */
export async function forceOrder(
  service: Service,
  { trigger, id, userId, errorType }: Forcing,
  now: number,
): Promise<OrderStatus> {
  const { store } = service;
  const found = findOrder(store, id, userId);
  if (!found) throw new Refusal('not_found', `There is no order ${id}.`, { resource: 'order' });
  const surroundings = await surroundingsOf(service, found.body);
  const settle = await loadSettle(service);
  return store.transaction(() => {
    const state = findOrder(store, id, userId) ?? found;
    const kind = orderTriggers[trigger];
    const reached = forceTransition({ state, kind, now, surroundings, ...(errorType && { errorType }) });
    if ('refused' in reached) throw new Refusal('bad_request', reached.refused, { event: trigger });
    settle(state, reached);
    noteIntervention(store, id, { at: now, event: trigger, errorType: errorType ?? null });
    return reached.record.status;
  });
}

/** What can be made happen to an order at `now` (ms), in the order of the table. */
export async function possibleTriggers(
  service: Service,
  state: StoredOrder,
  now: number,
): Promise<OrderTrigger[]> {
  const surroundings = await surroundingsOf(service, state.body);
  return Object.keys(orderTriggers)
    .filter(isOrderTrigger)
    .filter(
      (trigger) =>
        !('refused' in forceTransition({ state, kind: orderTriggers[trigger], now, surroundings })),
    );
}
