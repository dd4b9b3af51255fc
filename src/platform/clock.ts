import { clearTimeout, hrtime, setTimeout } from './own-timers.ts';

/** Time as a command sees it; replaceable in tests. All in ms. */
export interface Clock {
  /** Wall clock, ms since the epoch. Use it only for timestamps, because it may be set forward or back. */
  now(): number;
  /** Monotonic clock with an arbitrary start. Use it for deadlines and durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The part of a clock needed to wait. */
export type Timer = Pick<Clock, 'monotonic' | 'sleep'>;

/** Monotonic time, ms. Avoids Node's `performance`, which loads ten modules and adds a millisecond to a cold start. */
export function realMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * A wall clock for long-lived processes that never goes back, ms since the epoch. It ignores a system clock that is set
 * back, but follows one that is set forward, and includes the time the machine was asleep.
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

/**
 * Maximum difference between two clocks that count as equal, ms. Some difference is normal, because Date headers have
 * whole seconds, and a response takes time.
 */
const toleranceMs = 2000;

/**
 * Wall clock of the service that last responded. A sandbox may be advanced by days, and the ages of its records depend
 * on its own clock.
 */
export class ServiceClock {
  readonly #clock: Pick<Clock, 'now'>;
  #aheadMs = 0;
  #isHeard = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether a service has sent its time. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** The service's time, ms since the epoch. Until a service has sent its time, returns this machine's time. */
  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  /**
   * Updates the clock from a response. @param date is the HTTP date header. @param sentAt is this machine's time when
   * the request was sent, ms.
   */
  heard(date: unknown, sentAt: number): void {
    const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(theirs)) return;
    this.#isHeard = true;
    const now = this.#clock.now();
    const agrees = theirs >= sentAt - toleranceMs && theirs <= now + toleranceMs;
    // The header is truncated to a second, so round up. Otherwise an age of two days could be shown as one day.
    this.#aheadMs = agrees ? 0 : theirs + 999 - now;
  }
}

/** Maximum delay of a timer, ms. */
const maxSleepMs = 2 ** 31 - 1;

/** A deadline on the monotonic clock. */
export class Deadline {
  readonly #clock: Timer;
  readonly #at: number;

  /** @param ms from now; by default never. */
  constructor(clock: Timer, ms = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#at = clock.monotonic() + ms;
  }

  /** Remaining time, ms; 0 once it has passed. */
  get leftMs(): number {
    return Math.max(0, this.#at - this.#clock.monotonic());
  }

  /** Resolves once the deadline has passed. @throws the signal's reason if aborted. */
  async passed(signal: AbortSignal): Promise<void> {
    while (await this.pause(maxSleepMs, signal));
  }

  /**
   * Sleeps for `ms`, or for the remaining time if that is shorter. @returns false if no time was left.
   * @throws the signal's reason if aborted.
   */
  async pause(ms: number, signal: AbortSignal): Promise<boolean> {
    const left = this.leftMs;
    if (left === 0) return false;
    await this.#clock.sleep(Math.min(ms, left), signal);
    return true;
  }
}

/** Starts a stopwatch. @returns a function for the elapsed time, in whole ms. */
export function stopwatch(clock: Timer): () => number {
  const started = clock.monotonic();
  return () => Math.round(clock.monotonic() - started);
}
