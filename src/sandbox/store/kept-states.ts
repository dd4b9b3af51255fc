import type { SandboxClock } from './clock.ts';
import type { Store } from './store.ts';
import { replaceAll, tablesOf } from './tables.ts';

/** States of a store that are kept in the memory of this process, for as long as the store is open. */
export class KeptStates {
  readonly #store: Store;
  readonly #clock: SandboxClock;
  /** The sandbox's time of each state, by its number. */
  readonly #times = new Map<number, number>();
  #attaching: Promise<void> | undefined;
  #count = 0;

  constructor(store: Store, clock: SandboxClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Keeps the state as it is now. @returns its number, and its time in ms since the epoch. */
  async keep(): Promise<{ readonly state: number; readonly at: number }> {
    const store = this.#store;
    this.#attaching ??= store.perform("ATTACH ':memory:' AS kept");
    await this.#attaching;
    this.#count += 1;
    const state = this.#count;
    const at = await store.transaction(() => {
      for (const table of tablesOf(store))
        store.run(`CREATE TABLE ${nameOf(table, state)} AS SELECT * FROM main.${table}`);
      return this.#clock.now();
    });
    this.#times.set(state, at);
    return { state, at };
  }

  /** Brings a state back, its time with it; it stays kept. @param finish what belongs to the same transaction. */
  async restore(state: number, finish: () => void): Promise<void> {
    const at = this.#times.get(state);
    if (at === undefined) throw new Error(`no state ${state} was kept`);
    await replaceAll(
      this.#store,
      (table) => nameOf(table, state),
      () => {
        this.#clock.set(at);
        finish();
      },
    );
  }
}

/** @param table quoted. */
const nameOf = (table: string, state: number): string => `kept."${state} ${table.slice(1)}`;
