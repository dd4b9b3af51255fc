import type { SandboxConfig } from '../config.ts';
import { usedForm } from '../server/refusal.ts';
import type { Identity } from '../store/identity.ts';
import type { Store } from '../store/store.ts';
import { targetOf } from './address.ts';
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

interface Edited {
  /** Of the new delivery: who gives the same id twice sends one. */
  readonly newId: string;
  readonly url: string;
  /** Any text: a receiver must bear what is no JSON too. */
  readonly body: string;
  /** Whether a receiver is to take it for an event of its own. */
  readonly isNewEvent: boolean;
}

/** Why a webhook is not sent to an address; undefined where it may be, as far as the address alone shows. */
export function refusedTarget(url: string, reach: SandboxConfig['webhooks']): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'it is not an http or https address';
  return targetOf(parsed, reach).refusal;
}

/**
 * Sends what a delivery sent once more, with another body or to another address, at `now` (ms), as a delivery of its own.
 * @returns the id of its order; undefined for a delivery that is not there.
 * @throws Refusal already_exists where `newId` sent something else.
 */
export function replayEdited(
  store: Store,
  id: string,
  { newId, url, body, isNewEvent }: Edited,
  now: number,
): Promise<string | undefined> {
  return store.transaction(() => {
    const row = store.get('SELECT user_id, order_id, event, event_id FROM deliveries WHERE id = ?', id);
    if (!row) return undefined;
    const orderId = String(row.order_id);
    const eventId = isNewEvent ? newId : String(row.event_id);
    const sent = store.get('SELECT order_id, event_id, url, body FROM deliveries WHERE id = ?', newId);
    if (sent) {
      const isSame =
        sent.order_id === row.order_id && sent.event_id === eventId && sent.url === url && sent.body === body;
      if (isSame) return orderId;
      throw usedForm('sent a delivery');
    }
    insertDelivery(store, {
      id: newId,
      userId: String(row.user_id),
      orderId,
      event: String(row.event),
      eventId,
      url,
      body,
      at: now,
    });
    return orderId;
  });
}
