import type { Waiting } from '../../wait/retry-while.ts';
import { Store } from './store.ts';

/** Names of all tables of a store, quoted. */
export const tablesOf = (store: Store): string[] =>
  store
    .all(`SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .map(({ name }) => `"${String(name).replaceAll('"', '""')}"`);

/**
 * Deletes all that a store holds, its seed with it, in one transaction: processes that use the store go on with an
 * empty one, where a file that is gone would leave them one of their own. @throws DatabaseError.
 */
export async function emptyStore(file: string, waiting: Waiting): Promise<void> {
  const store = await Store.open(file, { waiting });
  try {
    // Nothing is left that could refer to what is gone; without the check a table is emptied at once.
    await store.perform('PRAGMA foreign_keys = OFF');
    await store.transaction(() => {
      for (const table of tablesOf(store)) store.run(`DELETE FROM main.${table}`);
    });
    await store.perform('VACUUM');
  } finally {
    await store.close();
  }
}

/**
 * Puts the rows of other tables in place of all that a store holds, in one transaction.
 * @param from the table, quoted, that has the rows of one of the store's. @param finish what belongs to the same transaction.
 */
export function replaceAll(store: Store, from: (table: string) => string, finish: () => void): Promise<void> {
  const tables = tablesOf(store);
  return store.transaction(() => {
    store.run('PRAGMA defer_foreign_keys = ON');
    for (const table of tables) store.run(`DELETE FROM main.${table}`);
    for (const table of tables) store.run(`INSERT INTO main.${table} SELECT * FROM ${from(table)}`);
    finish();
  });
}
