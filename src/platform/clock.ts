import { hrtime } from 'node:process';

/** Time as a command sees it; tests put their own in its place. All in ms. */
export interface Clock {
  /** The time of day, since the epoch, for timestamps alone: somebody may set it, forward or back. */
  now(): number;
  /** Since some moment of the past, never set: for deadlines, and for how long a thing took. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason when that is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What a wait needs of a clock. */
export type Timer = Pick<Clock, 'monotonic' | 'sleep'>;

/** Real time since some moment of the past, ms. Node's `performance` comes with ten modules, a millisecond of a start. */
export function realMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * The time of day, ms since the epoch, for a process that lives long: it never goes back. Where somebody sets it back it
 * goes on as it did; where it is set forward, or the machine has slept, it follows.
 */
export function steadyTime(): () => number {
  let startOfClock = Number.NEGATIVE_INFINITY;
  return () => {
    const elapsed = realMs();
    startOfClock = Math.max(startOfClock, Date.now() - elapsed);
    return Math.round(startOfClock + elapsed);
  };
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: realMs,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', stop, { once: true });
      function done(): void {
        signal?.removeEventListener('abort', stop);
        resolve();
      }
      function stop(): void {
        clearTimeout(timer);
        reject(signal?.reason);
      }
    }),
};

/** A date header counts whole seconds, and a response takes its time: within this the clocks agree, ms. */
const toleranceMs = 2000;

/**
 * The time of day at the service that responded last. A sandbox may have been advanced by days, and the ages of its
 * records follow from its own time.
 */
export class ServiceClock {
  readonly #clock: Pick<Clock, 'now'>;
  #aheadMs = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** ms since the epoch; this machine's time as long as no service has sent its own. */
  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  /** @param date of a response's header, an HTTP date. @param sentAt this machine's time when the request was sent, ms. */
  heard(date: unknown, sentAt: number): void {
    const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(theirs)) return;
    const now = this.#clock.now();
    const agrees = theirs >= sentAt - toleranceMs && theirs <= now + toleranceMs;
    // The header was cut to its second: an age of two days must not read as one.
    this.#aheadMs = agrees ? 0 : theirs + 999 - now;
  }
}

/** The most that a timer can hold, ms. */
const longestSleepMs = 2 ** 31 - 1;

/** When a wait is over, whatever the time of day is set to meanwhile. */
export class Deadline {
  readonly #clock: Timer;
  readonly #at: number;

  /** @param ms from now; without it the wait has no end. */
  constructor(clock: Timer, ms = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#at = clock.monotonic() + ms;
  }

  /** ms; 0 once it has passed. */
  get leftMs(): number {
    return Math.max(0, this.#at - this.#clock.monotonic());
  }

  /** Resolves when it has passed. @throws the signal's reason where it is aborted. */
  async passed(signal: AbortSignal): Promise<void> {
    while (await this.pause(longestSleepMs, signal));
  }

  /**
   * Sleeps for `ms`, or for what is left. @returns whether anything was left.
   * @throws the signal's reason where it is aborted.
   */
  async pause(ms: number, signal: AbortSignal): Promise<boolean> {
    const left = this.leftMs;
    if (left === 0) return false;
    await this.#clock.sleep(Math.min(ms, left), signal);
    return true;
  }
}

/** Starts now. @returns a function that gives how long ago that was, in whole ms. */
export function stopwatch(clock: Timer): () => number {
  const started = clock.monotonic();
  return () => Math.round(clock.monotonic() - started);
}
