import { randomUUID } from 'node:crypto';
import { realMs } from '../../platform/clock.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import type { Synchronous } from '../../platform/sqlite/database.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import type { SandboxConfig } from '../config.ts';
import { untilDone } from '../control/scheduler.ts';
import type { SandboxClock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import type { AttemptResult, ReceiverResponse } from './post.ts';

interface OutboxOptions {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly config: SandboxConfig;
  report(error: unknown): void;
}

/** Converts a receiver's response to the text to store, without secrets. */
type ResponseText = (response: ReceiverResponse) => string;

interface UnderWay {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

const maxInFlight = 20;
const attemptLimitMs = 10_000;

/** Time, in ms, for which due deliveries continue while the outbox closes. */
const graceMs = 300;

/**
 * Delivers queued webhooks in the background. Other processes on the store skip deliveries that this process has
 * claimed. A delivery that does not succeed stays queued.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #responseText: ResponseText;
  readonly #lease = randomUUID();
  readonly #inFlight = new Map<number, UnderWay>();
  #isClosed = false;
  #attempted: Attempted[] = [];
  /** The loop that processes due deliveries; undefined while it is not running. */
  #turns: Promise<void> | undefined;
  #isWoken = false;
  #waiting: (() => void)[] = [];
  #lastError: string | undefined;

  constructor(options: OutboxOptions, responseText: ResponseText) {
    this.#options = options;
    this.#responseText = responseText;
  }

  /** Schedules a pass over due deliveries, on a later event-loop turn. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isWoken = true;
    this.#turns ??= this.#takeTurns();
  }

  /** Resolves once nothing is in flight and nothing more is due. */
  idle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Closes the outbox. Deliveries continue for a short grace period; the remaining deliveries are released. @returns
   * undefined if there is nothing to wait for.
   */
  close(): Promise<void> | undefined {
    if (!this.#isIdle) return this.#closeInAMoment();
    this.#isClosed = true;
    return undefined;
  }

  get #isIdle(): boolean {
    return this.#turns === undefined && this.#inFlight.size === 0;
  }

  async #takeTurns(): Promise<void> {
    while (this.#isWoken) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#isWoken = false;
      await this.#guarded(async () => {
        const claimed = await this.#noteAndClaim();
        // If the outbox was closed meanwhile, the closing code releases the claimed deliveries.
        if (!this.#isClosed) for (const one of claimed) this.#start(one);
      });
    }
    this.#turns = undefined;
    if (!this.#isIdle) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /**
   * Records finished attempts and claims new deliveries in one transaction. Each delivery therefore costs only one
   * fsync, which concurrent deliveries share.
   */
  async #noteAndClaim(): Promise<Claimed[]> {
    const { store } = this.#options;
    const room = maxInFlight - this.#inFlight.size;
    const times = this.#times();
    if (this.#attempted.length === 0 && (room === 0 || !anythingDue(store, times))) return [];
    return this.#noting(() => claim(store, this.#lease, times, room));
  }

  /**
   * Records finished attempts and runs `rest` in one transaction. The next call records attempts that finish in the
   * meantime.
   */
  async #noting<T>(rest: () => T, ...check: Synchronous<T>): Promise<T> {
    const { store, config } = this.#options;
    const attempted = this.#attempted.splice(0);
    try {
      return await store.transaction(
        () => {
          for (const one of attempted) note(store, this.#lease, one, config.speed);
          return rest();
        },
        ...check,
      );
    } catch (error) {
      this.#attempted.unshift(...attempted);
      throw error;
    }
  }

  #times(): Times {
    return { now: this.#options.clock.now(), real: this.#options.clock.real() };
  }

  #start(claimed: Claimed): void {
    const ending = new AbortController();
    const done = this.#attempt(claimed, ending.signal)
      .catch((error: unknown) => this.#options.report(error))
      .finally(() => {
        this.#inFlight.delete(claimed.seq);
        this.wake();
      });
    this.#inFlight.set(claimed.seq, { ending, done });
  }

  async #attempt(claimed: Claimed, closing: AbortSignal): Promise<void> {
    // Import the module on the first delivery, because most runs deliver nothing.
    const { post } = await import('./post.ts');
    const { clock, config } = this.#options;
    const startedAt = realMs();
    const result = await post(claimed, {
      reach: config.webhooks,
      limitMs: attemptLimitMs,
      closing,
    });
    const durationMs = Math.round(realMs() - startedAt);
    if (!result) return;
    const response = result.response && this.#responseText(result.response);
    this.#attempted.push({ claimed, result, response, at: clock.now(), durationMs });
  }

  async #closeInAMoment(): Promise<void> {
    await untilDone(this.idle(), graceMs);
    this.#isClosed = true;
    if (this.#isIdle) return;
    await this.#turns;
    const left = [...this.#inFlight.values()];
    for (const { ending } of left) ending.abort();
    await Promise.all(left.map(({ done }) => done));
    const { store } = this.#options;
    await this.#guarded(() => this.#noting(() => release(store, this.#lease)));
    // Resolve the waiting callers here, because no later pass will.
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /**
   * Runs `work` and reports a store error once. The error is reported again only if it recurs after a recovery.
   * Deliveries stay queued in the meantime.
   */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#lastError = undefined;
    } catch (error) {
      const message = error instanceof DatabaseError ? error.message : undefined;
      if (message === undefined || message !== this.#lastError) this.#options.report(message ?? error);
      this.#lastError = message;
    }
  }
}

/** A delivery that is leased to this process. Other processes skip the delivery until the lease expires. */
interface Claimed {
  readonly seq: number;
  readonly orderId: string;
  readonly event: string;
  readonly eventId: string;
  readonly url: string;
  readonly body: string;
  /** Number of previous attempts. */
  readonly attempts: number;
}

/** Current sandbox time and real time, both in ms since the epoch. Advancing the clock does not change real time. */
interface Times {
  readonly now: number;
  readonly real: number;
}

/** Lease duration of a claimed delivery, in ms of real time. It is longer than an attempt may take. */
const leaseMs = 15_000;

/**
 * SQL condition for deliveries that are due and not leased. Ignores a lease whose end is later than the end of a lease
 * made now. Such a lease was made before the system clock was set back.
 */
const isFree = `next_at <= ? AND behind = 0 AND (leased_until IS NULL OR leased_until NOT BETWEEN ? + 1 AND ? + ${leaseMs})`;

const anythingDue = (store: Store, { now, real }: Times): boolean =>
  store.get(`SELECT 1 FROM deliveries WHERE ${isFree} LIMIT 1`, now, real, real) !== undefined;

/** Claims up to `room` due deliveries, longest waiting first. Must run in a transaction. */
function claim(store: Store, lease: string, { now, real }: Times, room: number): Claimed[] {
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

/** Releases unfinished deliveries leased by this process. */
function release(store: Store, lease: string): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease = ?', lease);
}

/** Releases all leases contained in a restored snapshot. Must run in a transaction. */
export function releaseAll(store: Store): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL');
}

interface Attempted {
  readonly claimed: Claimed;
  readonly result: AttemptResult;
  readonly response: string | null;
  /** When the attempt ended, ms of sandbox time. */
  readonly at: number;
  /** Duration, ms of real time. */
  readonly durationMs: number;
}

/**
 * Records an attempt. A 2xx means that the webhook was delivered. Otherwise the delivery is scheduled for a retry or
 * given up. If the lease has expired and another process has taken over, only the attempt log is written. Must run in a
 * transaction.
 */
function note(
  store: Store,
  lease: string,
  { claimed, result, response, at, durationMs }: Attempted,
  speed: number,
): void {
  // Inserts nothing if the delivery no longer exists. A delivery disappears if the store is emptied or a snapshot is
  // restored.
  store.run(
    `INSERT INTO delivery_attempts (delivery_seq, at, status, error, took_ms, response)
     SELECT seq, ?, ?, ?, ?, ? FROM deliveries WHERE seq = ? AND order_id = ? AND event = ?`,
    at,
    result.status,
    result.error,
    durationMs,
    response,
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

/** Unblocks the next delivery of the same order to the same address. */
function callNext(store: Store, { orderId, url }: Claimed): void {
  store.run(
    `UPDATE deliveries SET behind = 0 WHERE seq = (
       SELECT min(seq) FROM deliveries WHERE order_id = ? AND url = ? AND next_at IS NOT NULL)`,
    orderId,
    url,
  );
}

const firstMs = 1_000;
/** Maximum backoff, in ms. After a receiver has recovered, the next attempt follows within this time. */
const maxBackoffMs = 600_000;
const dayMs = 24 * 3600 * 1000;

/**
 * Backoff after a failed attempt, in ms of sandbox time. The backoff starts at 1 s and doubles up to 10 min. Returns
 * null once the backoffs add up to a day. `speed` divides the backoff, as it divides order timelines.
 * @param attempts number of failed attempts, at least 1.
 */
export function retryDelay(attempts: number, speed: number): number | null {
  let wait = 0;
  let inAll = 0;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    wait = Math.min(maxBackoffMs, firstMs * 2 ** (attempt - 1));
    inAll += wait;
  }
  return inAll > dayMs ? null : Math.ceil(wait / speed);
}
