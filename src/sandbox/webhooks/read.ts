import type { WebhookEvent } from '../../api/events.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** A webhook delivery and its last attempt. Times are in ms since the epoch. */
export interface Delivery {
  readonly seq: number;
  readonly id: string;
  readonly orderId: string;
  readonly event: WebhookEvent;
  readonly url: string;
  /** JSON. */
  readonly body: string;
  readonly createdAt: number;
  readonly attempts: number;
  readonly state: 'delivered' | 'given up' | 'behind' | 'open';
  /** When the delivery succeeded, was given up, or is next due. */
  readonly at: number;
  readonly last: Outcome | null;
}

/** Result of an attempt. */
interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
  readonly tookMs: number;
}

export interface Attempt extends Outcome {
  /** End of the attempt, ms since the epoch. */
  readonly at: number;
  /** The receiver's response, as JSON without secrets; null if there was no response or the response was not kept. */
  readonly response: string | null;
}

/** Columns of a delivery. The table of deliveries has the alias `d`. */
export const deliveryColumns = `d.seq, d.id, d.order_id, d.event, d.url, d.body, d.created_at, d.next_at, d.behind, d.attempts, d.delivered_at,
  d.given_up_at, a.status, a.error, a.took_ms FROM deliveries d LEFT JOIN delivery_attempts a ON a.rowid =
  (SELECT max(rowid) FROM delivery_attempts WHERE delivery_seq = d.seq)`;

/** Deliveries of all orders, newest first. @param before limits the result to deliveries with a smaller row number. */
export const readDeliveries = (
  store: Store,
  { before, limit }: { readonly before: number; readonly limit: number },
): Delivery[] =>
  store
    .all(`SELECT ${deliveryColumns} WHERE d.seq < ? ORDER BY d.seq DESC LIMIT ?`, before, limit)
    .map(deliveryIn);

/** Finds a delivery by its id. The result also has the id of the event. */
export function readDelivery(
  store: Store,
  id: string,
): (Delivery & { readonly eventId: string }) | undefined {
  const row = store.get(`SELECT d.event_id, ${deliveryColumns} WHERE d.id = ?`, id);
  return row && { ...deliveryIn(row), eventId: String(row.event_id) };
}

/** Deliveries of one order, newest first. */
export const readDeliveriesOf = (store: Store, orderId: string, limit: number): Delivery[] =>
  store
    .all(`SELECT ${deliveryColumns} WHERE d.order_id = ? ORDER BY d.seq DESC LIMIT ?`, orderId, limit)
    .map(deliveryIn);

/** Attempts of a delivery, newest first. @param seq is the delivery's row number. */
export const readAttempts = (store: Store, seq: number, limit: number): Attempt[] =>
  store
    .all(
      'SELECT at, status, error, took_ms, response FROM delivery_attempts WHERE delivery_seq = ? ORDER BY rowid DESC LIMIT ?',
      seq,
      limit,
    )
    .map(attemptIn);

const attemptIn = (row: StoredRow): Attempt => ({
  at: Number(row.at),
  status: row.status === null ? null : Number(row.status),
  error: row.error === null ? null : String(row.error),
  tookMs: Number(row.took_ms),
  response: row.response == null ? null : String(row.response),
});

export const deliveryIn = (row: StoredRow): Delivery => ({
  seq: Number(row.seq),
  id: String(row.id),
  orderId: String(row.order_id),
  // The cast is safe because only events of the contract are queued.
  event: String(row.event) as WebhookEvent,
  url: String(row.url),
  body: String(row.body),
  createdAt: Number(row.created_at),
  attempts: Number(row.attempts),
  ...outcome(row),
  last:
    row.took_ms === null
      ? null
      : {
          status: row.status === null ? null : Number(row.status),
          error: row.error === null ? null : String(row.error),
          tookMs: Number(row.took_ms),
        },
});

function outcome(row: StoredRow): Pick<Delivery, 'state' | 'at'> {
  if (row.delivered_at !== null) return { state: 'delivered', at: Number(row.delivered_at) };
  if (row.given_up_at !== null) return { state: 'given up', at: Number(row.given_up_at) };
  return { state: row.behind === 0 ? 'open' : 'behind', at: Number(row.next_at) };
}

/** A webhook URL without its user, password and query. */
export function addressOf(url: string): string {
  const parsed = parseUrl(url);
  if (!parsed) return url;
  const { origin, pathname, search } = parsed;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
