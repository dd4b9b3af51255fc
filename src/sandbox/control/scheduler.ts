import { realMs } from '../../platform/clock.ts';
import { clearTimeout, setImmediate, setTimeout } from '../../platform/own-timers.ts';
import type { Chunk, Scheduler } from '../server/service.ts';
import type { Store } from '../store/store.ts';

/** Amount of work per transaction while requests arrive. It is small enough that requests are not delayed. */
const amongRequests: Chunk = { maxRecords: 20, maxMs: 4 };
/**
 * Amount of work per transaction while no requests arrive. It is large enough that fsync takes a negligible share of
 * the time.
 */
const alone: Chunk = { maxRecords: 100, maxMs: 16 };
/**
 * Minimum number of records per transaction, even if processing them takes long. Without a minimum, the transactions
 * would cost more than the work.
 */
const fewest = 10;

/** For how long after a request the scheduler expects another request, in ms. */
const expectedMs = 100;

/**
 * Whether a unit of work that started at `startedAt` (`realMs`) may continue. @param done number of records processed
 * so far.
 */
export const mayContinue = ({ maxMs }: Chunk, startedAt: number, done: number): boolean =>
  done < fewest || realMs() - startedAt < maxMs;

/** While a request is being handled, a background job pauses for its working time multiplied by this factor. */
const pauseFactor = 2;

/** Gives requests priority over background work. Background work slows down, but never stops. */
export class PriorityScheduler implements Scheduler {
  #working = 0;
  #lastRequestAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  started(): void {
    this.#lastRequestAt = realMs();
  }

  get chunk(): Chunk {
    return realMs() - this.#lastRequestAt < expectedMs ? amongRequests : alone;
  }

  async ahead<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
    }
  }

  pause(workedMs: number): Promise<void> {
    return new Promise((resolve) => {
      const goOn = (): void => {
        if (this.#waiting.push(resolve) === 1) this.#resumeSoon();
      };
      if (this.#working > 0) setTimeout(goOn, workedMs * pauseFactor);
      else goOn();
    });
  }

  /**
   * In each turn of the event loop, runs only one unit of work of all jobs. If two units ran in a row, requests would
   * have to wait for both.
   */
  #resumeSoon(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#resumeSoon();
    });
  }
}

interface Running {
  readonly done: Promise<void>;
  /** In ms, as returned by `realMs`. */
  readonly since: number;
}

/**
 * Runs at most one instance of a job per store within a process. Concurrent callers wait for the running instance,
 * because a second instance would only wait for the store.
 */
export class OneRun {
  readonly #running = new WeakMap<Store, Running>();

  /**
   * Does the remaining work, or waits for the run in progress.
   * @param work must finish by the given `realMs` time. @param budgetMs budget in real time. If the run in progress has
   * already taken longer than the budget, returns without waiting.
   */
  async join(
    store: Store,
    isAnyLeft: () => boolean,
    work: (end: number) => Promise<void>,
    budgetMs: number,
  ): Promise<void> {
    const startedAt = realMs();
    while (isAnyLeft()) {
      const running = this.#running.get(store);
      if (!running) return this.#begin(store, () => work(startedAt + budgetMs));
      const end = Math.min(startedAt, running.since) + budgetMs;
      if (realMs() >= end) return;
      await untilDone(running.done, end - realMs());
    }
  }

  #begin(store: Store, work: () => Promise<void>): Promise<void> {
    const since = realMs();
    const done = work().finally(() => this.#running.delete(store));
    this.#running.set(store, { done, since });
    return done;
  }
}

/** Resolves when the work settles, or after `maxMs`. Errors are left to the caller. */
export function untilDone(work: Promise<unknown>, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A timer cannot have an infinite delay.
    const timer = maxMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, maxMs));
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
