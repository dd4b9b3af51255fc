import type { Store } from './store.ts';

/** The latest that a sandbox can reach: ISO 8601 writes years of four digits. Leaves an order room to live. */
export const lastMs = Date.parse('9999-01-01T00:00:00Z');

const offsetName = 'clock_offset_ms';
/** Where the clock stands still, ms since the epoch. */
const stoppedName = 'clock_stopped_ms';

/** The sandbox's time, ms since the epoch: the real one and what it was advanced by, the same for every process. */
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

  /** The machine's own time, ms since the epoch, which nobody advances. */
  real(): number {
    return this.#real();
  }

  /**
   * Goes on from a time, ms since the epoch, which may be an earlier one: a state that is brought back has its own.
   * Within a transaction.
   */
  set(ms: number): void {
    if (this.#stopped() !== undefined) this.#store.setMeta(stoppedName, String(Math.round(ms)));
    this.#store.setMeta(offsetName, String(Math.round(ms - this.#real())));
  }

  /** Moves the clock forward by `ms`; it never goes back, nor beyond what can be written. @returns the new time. */
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

  /** Whether only advancing moves it. */
  get isStopped(): boolean {
    return this.#stopped() !== undefined;
  }

  /** Stands still from now on, in every process. Within a transaction. */
  stop(): void {
    this.#store.setMeta(stoppedName, String(this.now()));
  }

  /** Goes on from where it stands. Within a transaction. */
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
