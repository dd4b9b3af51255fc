import type { Service } from '../server/service.ts';
import { noteIntervention } from '../store/interventions.ts';
import { forceTransition } from './lifecycle/index.ts';
import { storedOrder } from './records.ts';
import { loadSettle } from './settle.ts';
import { surroundingsOf } from './surroundings.ts';

/** How many orders one transaction fails; others wait for the disk no longer than that takes. */
const batch = 100;

/**
 * Fails the orders that wait for an account which has been deleted: there is nothing left to sign in with. The one
 * that the retailer is working on has signed in already and goes on. @param now ms since the epoch.
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
    const surroundings = new Map<number, Awaited<ReturnType<typeof surroundingsOf>>>();
    for (const { seq, body } of orders) surroundings.set(seq, await surroundingsOf(service, body));
    await store.transaction(() => {
      // Read anew: another process may have been faster.
      for (const order of waiting()) {
        const found = surroundings.get(order.seq);
        if (!found) continue;
        const errorType = 'login_failed';
        const reached = forceTransition({
          state: order,
          kind: 'failed',
          now,
          surroundings: found,
          errorType,
        });
        if ('refused' in reached) throw new Error(`order ${order.record.id} waits, and ${reached.refused}`);
        // It holds no account any more, so that nobody is brought forward behind it.
        store.run('UPDATE orders SET account_id = NULL WHERE seq = ?', order.seq);
        settle({ ...order, accountId: null }, reached);
        noteIntervention(store, order.record.id, { at: now, event: 'failed', errorType });
      }
    });
  }
}
