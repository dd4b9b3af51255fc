import { type WebhookEvent, webhookEventSynonyms } from '../../api/events.ts';
import type { OrderBody, OrderRecord, Step } from '../orders/lifecycle/types.ts';
import type { IdGenerator } from '../store/identity.ts';
import type { Store } from '../store/store.ts';

/** An order's owner, and the webhook addresses set on the order itself. */
interface Concerned {
  readonly userId: string;
  readonly webhooks: OrderBody['webhooks'];
}

/**
 * Queues the webhook events of an order's steps, in the sequence of the steps. Must run in the transaction that stores
 * the change.
 */
export function enqueueEvents(
  store: Store,
  idGenerator: IdGenerator,
  { userId, webhooks }: Concerned,
  steps: readonly Pick<Step, 'at' | 'events' | 'record'>[],
): void {
  if (steps.length === 0) return;
  const registered = registeredAddress(store, userId);
  if (registered === undefined && !webhooks) return;
  for (const { at, events, record } of steps) {
    for (const event of events) {
      const urls = new Set([
        ...(registered === undefined ? [] : [registered]),
        ...ownAddresses(webhooks, event),
      ]);
      if (urls.size === 0) continue;
      const body = bodyOf(record);
      const eventId = idGenerator.uuid('event');
      for (const url of urls) {
        insertDelivery(store, {
          id: idGenerator.uuid('delivery'),
          userId,
          orderId: record.id,
          event,
          eventId,
          url,
          body,
          at,
        });
      }
    }
  }
}

interface NewDelivery {
  readonly id: string;
  readonly userId: string;
  readonly orderId: string;
  readonly event: string;
  /** The id of the event. Deliveries of the same event to several addresses have the same event id. */
  readonly eventId: string;
  readonly url: string;
  readonly body: string;
  /** When the event happened, ms since the epoch. The delivery is due from this time on. */
  readonly at: number;
  /** Whether to send the delivery at once, ahead of open deliveries of the same order. */
  readonly isAtOnce?: boolean;
}

/**
 * Queues a delivery. If the same order has open deliveries to the same address, the new delivery waits until these have
 * ended, unless `isAtOnce` is set. Must run in a transaction.
 */
export function insertDelivery(
  store: Store,
  { id, userId, orderId, event, eventId, url, body, at, isAtOnce = false }: NewDelivery,
): void {
  const isBehind =
    !isAtOnce &&
    store.get(
      'SELECT 1 FROM deliveries WHERE order_id = ? AND url = ? AND next_at IS NOT NULL LIMIT 1',
      orderId,
      url,
    ) !== undefined;
  store.run(
    `INSERT INTO deliveries (id, user_id, order_id, event, event_id, url, body, created_at, next_at, behind)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    userId,
    orderId,
    event,
    eventId,
    url,
    body,
    at,
    at,
    isBehind ? 1 : 0,
  );
}

/** Whether any webhook address receives this event of an order. */
export const isReceived = (store: Store, { userId, webhooks }: Concerned, event: WebhookEvent): boolean =>
  registeredAddress(store, userId) !== undefined || ownAddresses(webhooks, event).length > 0;

function registeredAddress(store: Store, userId: string): string | undefined {
  const row = store.get('SELECT url FROM hook_addresses WHERE user_id = ?', userId);
  return row && String(row.url);
}

/** The distinct addresses set for an event, including addresses set under its legacy names. */
function ownAddresses(webhooks: OrderBody['webhooks'], event: WebhookEvent): string[] {
  if (!webhooks) return [];
  const older = Object.entries(webhookEventSynonyms).filter(([, canonical]) => canonical === event);
  const names = [event, ...older.map(([name]) => name)];
  return names.flatMap((name) => {
    const given = Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
    return given == null ? [] : [given].flat();
  });
}

/** The order's standard JSON. If the order failed, also contains the error type (specification, Events, rule 5). */
function bodyOf(record: OrderRecord): string {
  const errorType = record.job_result?.error_type;
  return JSON.stringify(errorType ? { ...record, error_type: errorType } : record);
}
