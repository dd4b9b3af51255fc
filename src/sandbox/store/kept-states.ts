import type { SandboxClock } from './clock.ts';
import type { Snapshot, Snapshots } from './snapshots.ts';
import type { Store } from './store.ts';
import { replaceAll, tablesOf } from './tables.ts';

interface Kept extends Snapshot {
  /** Names its tables. */
  readonly number: number;
  /** The sandbox's time, ms since the epoch. */
  readonly at: number;
}

/** States of a store that are kept in the memory of this process, for as long as the store is open. */
export class KeptStates implements Snapshots {
  readonly #store: Store;
  readonly #clock: SandboxClock;
  readonly #kept = new Map<string, Kept>();
  #attaching: Promise<void> | undefined;
  #count = 0;

  constructor(store: Store, clock: SandboxClock) {
    this.#store = store;
    this.#clock = clock;
  }

  list(): Snapshot[] {
    return [...this.#kept.values()]
      .map(({ name, takenAt }) => ({ name, takenAt }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async take(name: string, force: boolean): Promise<number | undefined> {
    if (!force && this.#kept.has(name)) return undefined;
    const store = this.#store;
    this.#attaching ??= store.perform("ATTACH ':memory:' AS kept");
    await this.#attaching;
    this.#count += 1;
    const number = this.#count;
    const before = this.#kept.get(name);
    const at = await store.transaction(() => {
      for (const table of tablesOf(store)) {
        store.run(`CREATE TABLE ${nameOf(table, number)} AS SELECT * FROM main.${table}`);
        if (before) store.run(`DROP TABLE ${nameOf(table, before.number)}`);
      }
      return this.#clock.now();
    });
    this.#kept.set(name, { name, number, at, takenAt: this.#clock.real() });
    return at;
  }

  async restore(name: string, finish: () => void): Promise<void> {
    const kept = this.#kept.get(name);
    if (!kept) throw new Error(`no state ${name} was kept`);
    await replaceAll(
      this.#store,
      (table) => nameOf(table, kept.number),
      () => {
        this.#clock.set(kept.at);
        finish();
      },
    );
  }
}

/** @param table quoted. */
const nameOf = (table: string, number: number): string => `kept."${number} ${table.slice(1)}`;
