import { isObject } from '../../api/json.ts';
import type { Store } from './store.ts';

/** Faults as they were switched on while the sandbox runs. */
export interface KeptFaults {
  /** As `--fault` writes them. */
  readonly faults: readonly string[];
  /** What each draw follows from. */
  readonly seed: number;
}

const names = { faults: 'faults', draws: 'fault_draws', speed: 'speed' } as const;

/**
 * How a sandbox behaves by what was set while it runs. It is kept with the store, so that every process on it goes by it;
 * a snapshot that is brought back leaves it as it is.
 */
export class RunTime {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Divides every delay; undefined where nobody has set it. */
  get speed(): number | undefined {
    const speed = Number(this.#read(names.speed));
    return speed >= 1 ? speed : undefined;
  }

  /** Within a transaction. */
  setSpeed(speed: number): void {
    this.#store.setMeta(names.speed, String(speed));
  }

  /** The faults as they are kept: each change is another text. Undefined where nobody has switched one on or off. */
  get faultsText(): string | undefined {
    return this.#read(names.faults);
  }

  /** @param changed makes the text another one than that of the same faults before. Within a transaction. */
  setFaults(kept: KeptFaults, changed: string): void {
    this.#store.setMeta(names.faults, JSON.stringify({ ...kept, changed }));
    this.#store.setMeta(names.draws, '0');
  }

  /** The number of the next draw, over all processes on the store, from 0. */
  nextDraw(): Promise<number> {
    return this.#store.transaction(() => {
      const drawn = Number(this.#store.meta(names.draws) ?? 0);
      this.#store.setMeta(names.draws, String(drawn + 1));
      return drawn;
    });
  }

  /** What is to outlive a change of the whole state. @returns what puts it back, within a transaction. */
  keep(): () => void {
    const kept = Object.values(names).map((name) => [name, this.#store.meta(name)] as const);
    return () => {
      for (const [name, value] of kept) {
        if (value === undefined) this.#store.deleteMeta(name);
        else this.#store.setMeta(name, value);
      }
    };
  }

  #read(name: string): string | undefined {
    return this.#store.meta(name);
  }
}

/** What was kept, read again; nothing of a text that another version wrote in another form. Pure. */
export function readKeptFaults(text: string): KeptFaults {
  const kept: unknown = JSON.parse(text);
  const { faults, seed } = isObject(kept) ? kept : {};
  return {
    faults: Array.isArray(faults) ? faults.filter((fault) => typeof fault === 'string') : [],
    seed: Number.isSafeInteger(seed) ? Number(seed) : 0,
  };
}
