import { randomUUID } from 'node:crypto';
import { realMs } from '../../platform/clock.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import type { Synchronous } from '../../platform/sqlite/database.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import type { SandboxConfig } from '../config.ts';
import { untilDone } from '../control/scheduler.ts';
import type { SandboxClock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import type { AttemptResult } from './post.ts';

interface OutboxOptions {
  readonly store: Store;
  readonly clock: SandboxClock;
  readonly config: SandboxConfig;
  report(error: unknown): void;
}

interface UnderWay {
  readonly ending: AbortController;
  readonly done: Promise<void>;
}

const mostInFlight = 20;
const attemptLimitMs = 10_000;

/** How long closing waits for what is due, ms. */
const graceMs = 300;

/**
 * Delivers the webhooks that are queued in the store while others go on with their work: nobody waits for it. What is
 * claimed here is left alone by every other process on the store; what was not delivered stays queued.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lease = randomUUID();
  readonly #inFlight = new Map<number, UnderWay>();
  #isClosed = false;
  #attempted: Attempted[] = [];
  /** Looks at what is due, one after the other; undefined where no other pass is due. */
  #turns: Promise<void> | undefined;
  #isWoken = false;
  #waiting: (() => void)[] = [];
  #lastTrouble: string | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Has a look at what is due, soon and not now. */
  wake(): void {
    if (this.#isClosed) return;
    this.#isWoken = true;
    this.#turns ??= this.#takeTurns();
  }

  /** Done once nothing is under way here and nothing more is due for it. */
  idle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Delivers for a moment more, then lets go of the rest. @returns undefined where there is nothing to wait for. */
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
        // What is claimed by then is released by the end.
        if (!this.#isClosed) for (const one of claimed) this.#start(one);
      });
    }
    this.#turns = undefined;
    if (!this.#isIdle) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Both in one transaction: a delivery costs one wait for the disk, many at once cost one together. */
  async #noteAndClaim(): Promise<Claimed[]> {
    const { store } = this.#options;
    const room = mostInFlight - this.#inFlight.size;
    const times = this.#times();
    if (this.#attempted.length === 0 && (room === 0 || !anythingDue(store, times))) return [];
    return this.#noting(() => claim(store, this.#lease, times, room));
  }

  /** Notes what was attempted, and does the rest, in one transaction. Attempts that end meanwhile are noted the next time. */
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
    // Loaded with the first delivery: most runs have none.
    const { post } = await import('./post.ts');
    const { clock, config } = this.#options;
    const began = realMs();
    const result = await post(claimed, {
      reach: config.webhooks,
      limitMs: attemptLimitMs,
      closing,
    });
    const tookMs = Math.round(realMs() - began);
    if (result) this.#attempted.push({ claimed, result, at: clock.now(), tookMs });
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
    // No turn comes any more that would end their wait.
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** The store's trouble is reported once, and again only after it was over; everything stays queued meanwhile. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#lastTrouble = undefined;
    } catch (error) {
      const trouble = error instanceof DatabaseError ? error.message : undefined;
      if (trouble === undefined || trouble !== this.#lastTrouble) this.#options.report(trouble ?? error);
      this.#lastTrouble = trouble;
    }
  }
}

/** A delivery that this process may attempt, and no other until its lease ends. */
interface Claimed {
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
interface Times {
  readonly now: number;
  readonly real: number;
}

/** How long a process keeps a claimed delivery, ms of the machine's time; longer than an attempt may take. */
const leaseMs = 15_000;

/** A lease that ends later than any can was taken before the machine's clock was set back. */
const isFree = `next_at <= ? AND behind = 0 AND (leased_until IS NULL OR leased_until NOT BETWEEN ? + 1 AND ? + ${leaseMs})`;

const anythingDue = (store: Store, { now, real }: Times): boolean =>
  store.get(`SELECT 1 FROM deliveries WHERE ${isFree} LIMIT 1`, now, real, real) !== undefined;

/** Takes up to `room` deliveries that are due, the longest waiting first. Within a transaction. */
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

/** Gives back what this process holds and did not bring to an end. */
function release(store: Store, lease: string): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease = ?', lease);
}

/** What a state that is brought back was in the middle of is free again. Within a transaction. */
export function releaseAll(store: Store): void {
  store.run('UPDATE deliveries SET lease = NULL, leased_until = NULL WHERE lease IS NOT NULL');
}

interface Attempted {
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
function note(store: Store, lease: string, { claimed, result, at, tookMs }: Attempted, speed: number): void {
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
