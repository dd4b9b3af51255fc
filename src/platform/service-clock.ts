import type { Clock } from './clock.ts';

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
