import type { Timer } from '../clock.ts';

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
