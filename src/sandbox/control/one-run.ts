import { realMs } from '../../platform/clock.ts';
import type { Store } from '../store/store.ts';
import { untilDone } from './until-done.ts';

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
