import type { Clock } from '../../../src/platform/clock.ts';

/** A clock controlled by the test: `sleep` ends when the test advances time, or at once if `instant`. */
export class HandClock implements Clock {
  /** All requested waits, ms. */
  readonly waits: number[] = [];
  readonly #instant: boolean;
  #time = Date.parse('2026-03-01T12:00:00Z');
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(instant = false) {
    this.#instant = instant;
  }

  now = (): number => this.#time;
  monotonic = this.now;

  sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    this.waits.push(ms);
    if (this.#instant) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#sleepers.push({ until: this.#time + ms, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };

  pass(ms: number): void {
    this.#time += ms;
    const due = this.#sleepers.filter(({ until }) => until <= this.#time);
    this.#sleepers = this.#sleepers.filter((sleeper) => !due.includes(sleeper));
    for (const { wake } of due) wake();
  }
}
