import { realMs } from '../../platform/clock.ts';
import type { ReadPatience } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { isAnythingDue } from './bring-up-to-date.ts';

/** A sandbox clock that gained more than this on the machine's since the last read was moved, ms. */
const leapMs = 500;

/**
 * How long a read waits for what is due. What became due as time went by, and is more than can be done at once, is not
 * waited for long; what a leap of the clock has made due comes about before anyone sees the time after it.
 */
export class Patience implements ReadPatience {
  readonly #store: Store;
  readonly #usualMs: number;
  #drift = Number.NEGATIVE_INFINITY;
  #leaptTo = 0;

  /** @param usualMs of real time. */
  constructor(store: Store, usualMs: number) {
    this.#store = store;
    this.#usualMs = usualMs;
  }

  forRead(now: number): number {
    const drift = now - realMs();
    if (drift - this.#drift > leapMs) this.#leaptTo = now;
    this.#drift = drift;
    return isAnythingDue(this.#store, this.#leaptTo) ? Number.POSITIVE_INFINITY : this.#usualMs;
  }
}
