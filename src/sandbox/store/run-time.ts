import { isObject } from '../../api/json.ts';
import type { Store } from './store.ts';

/** Faults set at runtime. */
export interface StoredFaults {
  /** In `--fault` syntax. */
  readonly faults: readonly string[];
  /** Seed of the random draws. */
  readonly seed: number;
}

const names = { faults: 'faults', draws: 'fault_draws', speed: 'speed' } as const;

/**
 * Settings that are changed at runtime. All processes on the store follow these settings, because the store contains
 * them. Restoring a snapshot does not change the settings.
 */
export class RunTime {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The factor that divides every delay; undefined if the factor was never set. */
  get speed(): number | undefined {
    const speed = Number(this.#read(names.speed));
    return speed >= 1 ? speed : undefined;
  }

  /** Must run in a transaction. */
  setSpeed(speed: number): void {
    this.#store.setMeta(names.speed, String(speed));
  }

  /** The stored faults as text; undefined if faults were never set. Every time faults are set, the text changes. */
  get faultsText(): string | undefined {
    return this.#read(names.faults);
  }

  /**
   * Stores the faults. Must run in a transaction. @param changed is a unique value, so that the stored text changes
   * even if the same faults are set again.
   */
  setFaults(stored: StoredFaults, changed: string): void {
    this.#store.setMeta(names.faults, JSON.stringify({ ...stored, changed }));
    this.#store.setMeta(names.draws, '0');
  }

  /** Number of the next draw, starting at 0, counted across all processes on the store. */
  nextDraw(): Promise<number> {
    return this.#store.transaction(() => {
      const drawn = Number(this.#store.meta(names.draws) ?? 0);
      this.#store.setMeta(names.draws, String(drawn + 1));
      return drawn;
    });
  }

  /**
   * Saves the settings before the whole state is replaced. @returns a function that restores the settings. That
   * function must run in a transaction.
   */
  save(): () => void {
    const stored = Object.values(names).map((name) => [name, this.#store.meta(name)] as const);
    return () => {
      for (const [name, value] of stored) {
        if (value === undefined) this.#store.deleteMeta(name);
        else this.#store.setMeta(name, value);
      }
    };
  }

  #read(name: string): string | undefined {
    return this.#store.meta(name);
  }
}

/** Parses stored faults. Ignores text that another version wrote in a different format. Pure. */
export function readStoredFaults(text: string): StoredFaults {
  const stored: unknown = JSON.parse(text);
  const { faults, seed } = isObject(stored) ? stored : {};
  return {
    faults: Array.isArray(faults) ? faults.filter((fault) => typeof fault === 'string') : [],
    seed: Number.isSafeInteger(seed) ? Number(seed) : 0,
  };
}
