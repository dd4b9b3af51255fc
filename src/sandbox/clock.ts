import type { Store } from './store.ts';

const offsetName = 'clock_offset_ms';

/** The sandbox's time, ms since the epoch: the real one and what it was advanced by, the same for every process. */
export class SandboxClock {
  readonly #store: Store;
  readonly #real: () => number;

  constructor(store: Store, real: () => number) {
    this.#store = store;
    this.#real = real;
  }

  now(): number {
    return this.#real() + Number(this.#store.meta(offsetName) ?? 0);
  }

  /** Moves the clock forward by `ms`; it never goes back. @returns the new time. */
  advance(ms: number): number {
    this.#store.transaction(() => {
      this.#store.setMeta(offsetName, String(Number(this.#store.meta(offsetName) ?? 0) + Math.max(0, ms)));
    });
    return this.now();
  }
}
