import type { Waiting } from '../../wait/retry-while.ts';
import { Store } from './store.ts';

/** Names of all tables of an attached database, quoted. */
export const tablesOf = (store: Store, database: 'main' | 'kept'): string[] =>
  store
    .all(`SELECT name FROM ${database}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
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
      for (const table of tablesOf(store, 'main')) store.run(`DELETE FROM main.${table}`);
    });
    await store.perform('VACUUM');
  } finally {
    await store.close();
  }
}
