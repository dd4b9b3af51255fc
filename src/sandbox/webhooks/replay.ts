import { parseUrl } from '../../platform/net/urls.ts';
import type { SandboxConfig } from '../config.ts';
import { usedForm } from '../server/refusal.ts';
import type { IdGenerator } from '../store/identity.ts';
import type { Store } from '../store/store.ts';
import { targetOf } from './address.ts';
import { insertDelivery } from './enqueue.ts';

/**
 * Resends a delivery. If the delivery has ended, queues a new delivery with the same content. If the delivery is still
 * waiting, makes it due at `now` (ms).
 * @returns the id of the delivery that is sent; undefined if there is no such delivery.
 */
export function replay(
  store: Store,
  idGenerator: IdGenerator,
  id: string,
  now: number,
): Promise<string | undefined> {
  return store.transaction(() => {
    const row = store.get('SELECT * FROM deliveries WHERE id = ?', id);
    if (!row) return undefined;
    if (row.next_at === null) {
      // Uses a separate counter, so that replays do not change other generated ids.
      const newId = idGenerator.uuid('replay');
      insertDelivery(store, {
        id: newId,
        userId: String(row.user_id),
        orderId: String(row.order_id),
        event: String(row.event),
        eventId: String(row.event_id),
        url: String(row.url),
        body: String(row.body),
        at: now,
      });
      return newId;
    }
    store.run('UPDATE deliveries SET next_at = min(next_at, ?) WHERE id = ?', now, id);
    return id;
  });
}

interface Edited {
  /** Id of the new delivery. A call that repeats an id sends nothing more. */
  readonly newId: string;
  readonly url: string;
  /** The body may be any text, because receivers must also handle invalid JSON. */
  readonly body: string;
  /** Whether receivers should see the delivery as a new event. */
  readonly isNewEvent: boolean;
}

/** Why a webhook may not be sent to a URL, judging by the URL alone; undefined if it may be sent. */
export function refusedTarget(url: string, reach: SandboxConfig['webhooks']): string | undefined {
  const parsed = parseUrl(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return 'it is not an http or https address';
  return targetOf(parsed, reach).denial;
}

/**
 * Resends a delivery with a changed body or address at `now` (ms), as a new delivery.
 * @returns the id of the order; undefined if there is no such delivery.
 * @throws Refusal already_exists if `newId` was used with other values.
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
      // Send the new delivery at once, because the user waits for the result. The delivery that it corrects may also be
      // blocking other deliveries.
      isAtOnce: true,
    });
    return orderId;
  });
}
