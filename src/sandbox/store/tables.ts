import type { Store } from './store.ts';

/** Names of all tables of a store, quoted, in the order in which they were made: each after those it refers to. */
export const tablesOf = (store: Store): string[] =>
  store
    .all(
      `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    .map(({ name }) => `"${String(name).replaceAll('"', '""')}"`);

/**
 * Deletes all that a store holds, its seed with it, in one transaction: processes that use the store go on with an
 * empty one, where a file that is gone would leave them one of their own. @throws DatabaseError.
 */
export async function emptyStore(store: Store): Promise<void> {
  await store.transaction(() => deleteAll(store));
  await store.perform('VACUUM');
}

/**
 * Puts the rows of other tables in place of all that a store holds, in one transaction.
 * @param from the table, quoted, that has the rows of one of the store's. @param finish what belongs to the same transaction.
 */
export function replaceAll(store: Store, from: (table: string) => string, finish: () => void): Promise<void> {
  return store.transaction(() => {
    deleteAll(store);
    for (const table of tablesOf(store)) store.run(`INSERT INTO main.${table} SELECT * FROM ${from(table)}`);
    finish();
  });
}

/** First what refers to others: to look for what refers to a row that goes would read a table for each. */
function deleteAll(store: Store): void {
  store.forget();
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const table of tablesOf(store).toReversed()) store.run(`DELETE FROM main.${table}`);
}
