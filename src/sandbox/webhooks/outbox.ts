import { randomUUID } from 'node:crypto';
import { realMs } from '../../platform/clock.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import type { Synchronous } from '../../platform/sqlite/database.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import type { SandboxConfig } from '../config.ts';
import { untilDone } from '../control/until-done.ts';
import type { SandboxClock } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import { type Attempted, anythingDue, type Claimed, claim, note, release, type Times } from './queue.ts';

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
