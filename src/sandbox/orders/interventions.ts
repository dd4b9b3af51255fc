import type { SandboxTrigger } from '../../api/control.ts';
import type { OrderStatus } from '../../api/enums.ts';
import type { ErrorType } from '../../api/error-types.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { recordIntervention } from '../store/interventions.ts';
import { environmentOf } from './create.ts';
import { cancelPending, forceTransition } from './lifecycle/index.ts';
import type { ForcedKind } from './lifecycle/types.ts';
import { findOrder, type StoredOrder, storedOrder } from './records.ts';
import { loadSettle } from './settle.ts';

/** Order triggers and the transition that each forces. */
const orderTriggers = {
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
  /** The user to whom the order must belong; null if the order may belong to any user. */
  readonly userId: string | null;
  readonly errorType?: ErrorType | undefined;
}

/**
 * Forces a transition of an order at `now` (ms). @throws Refusal not_found; bad_request if the order's state does not
 * allow it.
 */
export async function forceOrder(
  service: Service,
  { trigger, id, userId, errorType }: Forcing,
  now: number,
): Promise<OrderStatus> {
  const { store } = service;
  const found = findOrder(store, id, userId);
  if (!found) throw new ErrorResponse('not_found', `There is no order ${id}.`, { resource: 'order' });
  const environment = await environmentOf(service, found.body);
  const settle = await loadSettle(service);
  return store.transaction(() => {
    const state = findOrder(store, id, userId) ?? found;
    const kind = orderTriggers[trigger];
    const reached = forceTransition({ state, kind, now, environment, ...(errorType && { errorType }) });
    if ('refused' in reached) throw new ErrorResponse('bad_request', reached.refused, { event: trigger });
    settle(state, reached);
    recordIntervention(store, id, { at: now, event: trigger, errorType: errorType ?? null });
    return reached.record.status;
  });
}

/** The triggers possible for an order at `now` (ms), in table order. */
export async function possibleTriggers(
  service: Service,
  state: StoredOrder,
  now: number,
): Promise<OrderTrigger[]> {
  const environment = await environmentOf(service, state.body);
  return Object.keys(orderTriggers)
    .filter(isOrderTrigger)
    .filter(
      (trigger) => !('refused' in forceTransition({ state, kind: orderTriggers[trigger], now, environment })),
    );
}

/**
 * Cancels an order of `userId`, or of any user if `userId` is null, at `now` (ms). @throws Refusal not_found,
 * order_not_cancellable.
 */
export async function cancelOrder(
  service: Service,
  { id, userId }: { readonly id: string; readonly userId: string | null },
  now: number,
): Promise<void> {
  const settle = await loadSettle(service);
  await service.store.transaction(() => {
    const order = findOrder(service.store, id, userId);
    if (!order) throw new ErrorResponse('not_found', `There is no order ${id}.`, { resource: 'order' });
    const reached = cancelPending(order, now);
    if ('refused' in reached)
      throw new ErrorResponse('order_not_cancellable', reached.refused, { status: order.record.status });
    settle(order, reached);
    recordIntervention(service.store, id, { at: now, event: 'cancelled', errorType: null });
  });
}

/** Number of orders to fail per transaction. It limits how long other writers wait. */
const batch = 100;

/**
 * Fails the orders waiting for a deleted account, because there are no credentials to sign in with. An order in
 * progress has already signed in and continues. @param now ms since the epoch.
 */
export async function failWaitingFor(service: Service, accountId: string, now: number): Promise<void> {
  const { store } = service;
  const waiting = () =>
    store
      .all(
        "SELECT * FROM orders WHERE account_id = ? AND status = 'pending' ORDER BY seq LIMIT ?",
        accountId,
        batch,
      )
      .map(storedOrder);
  const first = waiting();
  if (first.length === 0) return;
  const settle = await loadSettle(service);
  for (let orders = first; orders.length > 0; orders = waiting()) {
    const environment = new Map<number, Awaited<ReturnType<typeof environmentOf>>>();
    for (const { seq, body } of orders) environment.set(seq, await environmentOf(service, body));
    await store.transaction(() => {
      // Read again, because another process may have handled some of the orders already.
      for (const order of waiting()) {
        const found = environment.get(order.seq);
        if (!found) continue;
        const errorType = 'login_failed';
        const reached = forceTransition({
          state: order,
          kind: 'failed',
          now,
          environment: found,
          errorType,
        });
        if ('refused' in reached) throw new Error(`order ${order.record.id} waits, and ${reached.refused}`);
        // Detach the order from the account first. Otherwise settling the order would move up the orders that wait
        // behind it.
        store.run('UPDATE orders SET account_id = NULL WHERE seq = ?', order.seq);
        settle({ ...order, accountId: null }, reached);
        recordIntervention(store, order.record.id, { at: now, event: 'failed', errorType });
      }
    });
  }
}
