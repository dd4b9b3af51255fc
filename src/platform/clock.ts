import { clearTimeout, hrtime, setTimeout } from './own-timers.ts';

/** Time as a command sees it. Tests may replace it. All times are in ms. */
export interface Clock {
  /**
   * Wall clock, in ms since the epoch. Use it only for timestamps, because someone may set the clock forward or back.
   */
  now(): number;
  /** Monotonic clock with an arbitrary start. Use it for deadlines and durations. */
  monotonic(): number;
  /** Resolves after `ms`; rejects with the signal's reason if aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The part of a clock that is needed to wait. */
export type Timer = Pick<Clock, 'monotonic' | 'sleep'>;

/**
 * Monotonic time, in ms. Avoids Node's `performance`, which loads ten modules and adds a millisecond to a cold start.
 */
export function realMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/**
 * A wall clock for long-lived processes, in ms since the epoch, which never goes back. If the system clock is set back,
 * this clock ignores that. If it is set forward, this clock follows. The time that the machine was asleep is included.
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
 * Maximum difference, in ms, at which two clocks still count as equal. Some difference is normal, because Date headers
 * have whole seconds, and a response takes time.
 */
const toleranceMs = 2000;

/**
 * Wall clock of the service that responded last. The ages of a service's records depend on its own clock, and a
 * sandbox's clock may have been advanced by days.
 */
export class ServiceClock {
  readonly #clock: Pick<Clock, 'now'>;
  #aheadMs = 0;
  #isHeard = false;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Whether a service has already sent its time. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  /** The service's time, in ms since the epoch. Until a service has sent its time, returns this machine's time. */
  now(): number {
    return this.#clock.now() + this.#aheadMs;
  }

  /**
   * Updates the clock from a response.
   * @param date is the HTTP date header.
   * @param sentAt is this machine's time at which the request was sent, in ms.
   */
  heard(date: unknown, sentAt: number): void {
    const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(theirs)) return;
    this.#isHeard = true;
    const now = this.#clock.now();
    const agrees = theirs >= sentAt - toleranceMs && theirs <= now + toleranceMs;
    // The header is truncated to a second, so round up. Otherwise, an age of two days could be shown as one day.
    this.#aheadMs = agrees ? 0 : theirs + 999 - now;
  }
}

/** Maximum delay of a timer, in ms. */
const maxSleepMs = 2 ** 31 - 1;

/** A deadline on the monotonic clock. */
export class Deadline {
  readonly #clock: Timer;
  readonly #at: number;

  /** @param ms is counted from now. By default, the deadline never passes. */
  constructor(clock: Timer, ms = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#at = clock.monotonic() + ms;
  }

  /** Remaining time, in ms. 0 once the deadline has passed. */
  get leftMs(): number {
    return Math.max(0, this.#at - this.#clock.monotonic());
  }

  /** Resolves once the deadline has passed. @throws the signal's reason if aborted. */
  async passed(signal: AbortSignal): Promise<void> {
    while (await this.pause(maxSleepMs, signal));
  }

  /**
   * Sleeps for `ms`, or for the remaining time if that is shorter.
   * @returns false if no time was left.
   * @throws the signal's reason if aborted.
   */
  async pause(ms: number, signal: AbortSignal): Promise<boolean> {
    const left = this.leftMs;
    if (left === 0) return false;
    await this.#clock.sleep(Math.min(ms, left), signal);
    return true;
  }
}

/**
 * Starts a stopwatch.
 * @returns a function that returns the elapsed time, in whole ms.
 */
export function stopwatch(clock: Timer): () => number {
  const started = clock.monotonic();
  return () => Math.round(clock.monotonic() - started);
}
