import { realMs } from '../../platform/clock.ts';
import { clearTimeout, setImmediate, setTimeout } from '../../platform/own-timers.ts';
import type { Piece, Scheduler } from '../server/service.ts';
import type { Store } from '../store/store.ts';

/** Short for who comes meanwhile. */
const amongRequests: Piece = { most: 20, longestMs: 4 };
/** Long enough that hardly any of the time is waited for the disk. */
const alone: Piece = { most: 100, longestMs: 16 };
/** How many records pay for a transaction, however long they take. */
const fewest = 10;

/** How long after a request another is expected, ms. */
const expectedMs = 100;

/** Whether a piece of work that began at `began` (`realMs`) may go on. @param done how much was done in it. */
export const mayGoOn = ({ longestMs }: Piece, began: number, done: number): boolean =>
  done < fewest || realMs() - began < longestMs;

/** How much longer what works in the background pauses than it worked, while a request works. */
const pauseFactor = 2;

/** Lets requests work first, and what comes about in the background in between: it never stands still. */
export class Pace implements Scheduler {
  #working = 0;
  #cameAt = Number.NEGATIVE_INFINITY;
  readonly #waiting: (() => void)[] = [];

  came(): void {
    this.#cameAt = realMs();
  }

  get piece(): Piece {
    return realMs() - this.#cameAt < expectedMs ? amongRequests : alone;
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
        if (this.#waiting.push(resolve) === 1) this.#goOnSoon();
      };
      if (this.#working > 0) setTimeout(goOn, workedMs * pauseFactor);
      else goOn();
    });
  }

  /** One piece a turn, whoever works: two at once would hold up requests for as long as both take. */
  #goOnSoon(): void {
    setImmediate(() => {
      this.#waiting.shift()?.();
      if (this.#waiting.length > 0) this.#goOnSoon();
    });
  }
}

interface Running {
  readonly done: Promise<void>;
  /** ms of `realMs`. */
  readonly since: number;
}

/** Work on a store that two would only queue up for: within a process one run does it, and the others wait for that run. */
export class OneRun {
  readonly #running = new WeakMap<Store, Running>();

  /**
   * Does what is left, or waits while another does it.
   * @param work ends at a time of `realMs` at the latest. @param patienceMs of real time. A run that has taken
   * that long has more to do than can be waited for, and is left alone with it.
   */
  async join(
    store: Store,
    isAnyLeft: () => boolean,
    work: (end: number) => Promise<void>,
    patienceMs: number,
  ): Promise<void> {
    const began = realMs();
    while (isAnyLeft()) {
      const running = this.#running.get(store);
      if (!running) return this.#begin(store, () => work(began + patienceMs));
      const end = Math.min(began, running.since) + patienceMs;
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

/** Resolves once the work is done or has failed, and after `mostMs` at the latest. Its errors are its caller's. */
export function untilDone(work: Promise<unknown>, mostMs: number): Promise<void> {
  return new Promise((resolve) => {
    // No timer waits for ever.
    const timer = mostMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, Math.max(0, mostMs));
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
