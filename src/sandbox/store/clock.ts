import type { Store } from './store.ts';

/** Latest possible sandbox time. An order created at this time still ends within the four-digit years of ISO 8601. */
export const lastMs = Date.parse('9999-01-01T00:00:00Z');

const offsetName = 'clock_offset_ms';
/** Time at which the clock is stopped, in ms since the epoch. */
const stoppedName = 'clock_stopped_ms';

/**
 * Sandbox time, ms since the epoch. Sandbox time is real time plus the offset by which the clock has been advanced. All
 * processes share this clock.
 */
export class SandboxClock {
  readonly #store: Store;
  readonly #real: () => number;

  constructor(store: Store, real: () => number) {
    this.#store = store;
    this.#real = real;
  }

  now(): number {
    return this.#stopped() ?? this.#real() + Number(this.#store.meta(offsetName) ?? 0);
  }

  /** Real time, ms since the epoch; unaffected by advancing. */
  real(): number {
    return this.#real();
  }

  /**
   * Sets the time, ms since the epoch. When a snapshot is restored, this may move the time backwards. Must run in a
   * transaction.
   */
  set(ms: number): void {
    if (this.#stopped() !== undefined) this.#store.setMeta(stoppedName, String(Math.round(ms)));
    this.#store.setMeta(offsetName, String(Math.round(ms - this.#real())));
  }

  /** Advances the clock by `ms`. Never moves it backwards or past `lastMs`. @returns the new time. */
  async advance(ms: number): Promise<number> {
    await this.#store.transaction(() => {
      const room = Math.max(0, lastMs - this.now());
      const forward = Math.min(Math.max(0, Math.round(ms)), room);
      const stopped = this.#stopped();
      if (stopped !== undefined) this.#store.setMeta(stoppedName, String(stopped + forward));
      else this.#store.setMeta(offsetName, String(Number(this.#store.meta(offsetName) ?? 0) + forward));
    });
    return this.now();
  }

  /** Whether the clock is stopped. A stopped clock moves only when it is advanced. */
  get isStopped(): boolean {
    return this.#stopped() !== undefined;
  }

  /** Stops the clock for all processes. Must run in a transaction. */
  stop(): void {
    this.#store.setMeta(stoppedName, String(this.now()));
  }

  /** Resumes the clock from its current time. Must run in a transaction. */
  start(): void {
    const now = this.now();
    this.#store.deleteMeta(stoppedName);
    this.set(now);
  }

  #stopped(): number | undefined {
    const at = this.#store.meta(stoppedName);
    return at === undefined ? undefined : Number(at);
  }
}
