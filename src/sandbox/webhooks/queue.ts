import type { Store } from '../store/store.ts';
import type { AttemptResult } from './post.ts';

/** A delivery that this process may attempt, and no other until its lease ends. */
export interface Claimed {
  readonly seq: number;
  readonly orderId: string;
  readonly event: string;
  readonly eventId: string;
  readonly url: string;
  readonly body: string;
  /** How often it was attempted before. */
  readonly attempts: number;
}

/** The time of the sandbox, and that of the machine, which nobody advances; ms since the epoch. */
export interface Times {
  readonly now: number;
  readonly real: number;
}

/** How long a process keeps a claimed delivery, ms of the machine's time; longer than an attempt may take. */
const leaseMs = 15_000;

/** A lease that ends later than any can was taken before the machine's clock was set back. */
const isFree = `next_at <= ? AND behind = 0 AND (leased_until IS NULL OR leased_until NOT BETWEEN ? + 1 AND ? + ${leaseMs})`;

export const anythingDue = (store: Store, { now, real }: Times): boolean =>
  store.get(`SELECT 1 FROM deliveries WHERE ${isFree} LIMIT 1`, now, real, real) !== undefined;

/** Takes up to `room` deliveries that are due, the longest waiting first. Within a transaction. */
export function claim(store: Store, lease: string, { now, real }: Times, room: number): Claimed[] {
  const rows = store.all(
    `SELECT seq, order_id, event, event_id, url, body, attempts FROM deliveries WHERE ${isFree} ORDER BY next_at, seq LIMIT ?`,
    now,
    real,
    real,
    room,
  );
  return rows.map((row) => {
    const seq = Number(row.seq);
    store.run('UPDATE deliveries SET lease = ?, leased_until = ? WHERE seq = ?', lease, real + leaseMs, seq);
    return {
      seq,
      orderId: String(row.order_id),
      event: String(row.event),
      eventId: String(row.event_id),
      url: String(row.url),
      body: String(row.body),
      attempts: Number(row.attempts),
    };
  });
}

/** Gives back what this process holds and did not bring to an end. */
export function release(store: Store, lease: string): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease = ?', lease);
}

/** What a state that is brought back was in the middle of is free again. Within a transaction. */
export function releaseAll(store: Store): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL');
}

export interface Attempted {
  readonly claimed: Claimed;
  readonly result: AttemptResult;
  /** When the attempt ended, ms of the sandbox's time. */
  readonly at: number;
  /** How long it took, ms of the machine's time. */
  readonly tookMs: number;
}

/**
 * Writes an attempt down: delivered with a 2xx, tried again later, or given up. Nothing but the log changes where the
 * lease ended meanwhile and another process took the delivery. Within a transaction.
 */
export function note(
  store: Store,
  lease: string,
  { claimed, result, at, tookMs }: Attempted,
  speed: number,
): void {
  // The delivery is gone where the store was emptied meanwhile, or an earlier state of it brought back.
  store.run(
    `INSERT INTO delivery_attempts (delivery_seq, at, status, error, took_ms)
     SELECT seq, ?, ?, ?, ? FROM deliveries WHERE seq = ? AND order_id = ? AND event = ?`,
    at,
    result.status,
    result.error,
    tookMs,
    claimed.seq,
    claimed.orderId,
    claimed.event,
  );
  const isTaken = result.error === null;
  const attempts = claimed.attempts + 1;
  const wait = isTaken ? null : retryDelay(attempts, speed);
  const { changes } = store.run(
    `UPDATE deliveries SET attempts = ?, last_status = ?, next_at = ?, delivered_at = ?, given_up_at = ?, lease = NULL,
       leased_until = NULL WHERE seq = ? AND lease = ?`,
    attempts,
    result.status,
    wait === null ? null : at + wait,
    isTaken ? at : null,
    isTaken || wait !== null ? null : at,
    claimed.seq,
    lease,
  );
  if (changes === 1 && wait === null) callNext(store, claimed);
}

/** The next of the same order to the same address can be sent once the one before it is over. */
function callNext(store: Store, { orderId, url }: Claimed): void {
  store.run(
    `UPDATE deliveries SET behind = 0 WHERE seq = (
       SELECT min(seq) FROM deliveries WHERE order_id = ? AND url = ? AND next_at IS NOT NULL)`,
    orderId,
    url,
  );
}

const firstMs = 1_000;
/** A receiver that has come back is not left waiting for longer than this. */
const longestMs = 600_000;
const dayMs = 24 * 3600 * 1000;

/**
 * How long to wait after a failed attempt, ms of the sandbox's time: 1 s, then twice as long each time up to 10 min, for
 * a day in all; null once that is over. `speed` divides it, as it does an order's life.
 * @param attempts how many have failed, at least 1.
 */
export function retryDelay(attempts: number, speed: number): number | null {
  let wait = 0;
  let inAll = 0;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    wait = Math.min(longestMs, firstMs * 2 ** (attempt - 1));
    inAll += wait;
  }
  return inAll > dayMs ? null : Math.ceil(wait / speed);
}
