import type { Identity } from '../store/identity.ts';
import type { Store } from '../store/store.ts';
import { insertDelivery } from './enqueue.ts';

/**
 * Sends a delivery once more: one that has ended is queued again as a new one, one that waits is due at `now` (ms).
 * @returns the id of its order; undefined for a delivery that is not there.
 */
export function replay(
  store: Store,
  identity: Identity,
  id: string,
  now: number,
): Promise<string | undefined> {
  return store.transaction(() => {
    const row = store.get('SELECT * FROM deliveries WHERE id = ?', id);
    if (!row) return undefined;
    const orderId = String(row.order_id);
    if (row.next_at === null) {
      insertDelivery(store, {
        // A counter of its own: the ids of what happens by itself stay the same.
        id: identity.uuid('replay'),
        userId: String(row.user_id),
        orderId,
        event: String(row.event),
        eventId: String(row.event_id),
        url: String(row.url),
        body: String(row.body),
        at: now,
      });
    } else {
      store.run('UPDATE deliveries SET next_at = min(next_at, ?) WHERE id = ?', now, id);
    }
    return orderId;
  });
}
