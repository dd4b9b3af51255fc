import { Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { noteIntervention } from '../store/interventions.ts';
import { cancelPending } from './lifecycle/index.ts';
import { findOrder } from './records.ts';
import { loadSettle } from './settle.ts';

/** Cancels an order of `userId`, or any with null, at `now` (ms). @throws Refusal not_found, order_not_cancellable. */
export async function cancelOrder(
  service: Service,
  { id, userId }: { readonly id: string; readonly userId: string | null },
  now: number,
): Promise<void> {
  const settle = await loadSettle(service);
  await service.store.transaction(() => {
    const order = findOrder(service.store, id, userId);
    if (!order) throw new Refusal('not_found', `There is no order ${id}.`, { resource: 'order' });
    const reached = cancelPending(order, now);
    if ('refused' in reached)
      throw new Refusal('order_not_cancellable', reached.refused, { status: order.record.status });
    settle(order, reached);
    noteIntervention(service.store, id, { at: now, event: 'cancelled', errorType: null });
  });
}
