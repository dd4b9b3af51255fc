import type { Store } from './store.ts';

/**
 * Quoted names of all tables of a store, in creation order. Each table therefore follows the tables that it references.
 */
export const tablesOf = (store: Store): string[] =>
  store
    .all(
      `SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
    )
    .map(({ name }) => `"${String(name).replaceAll('"', '""')}"`);

/**
 * Deletes the store's contents, including its seed, in one transaction. Other processes then continue with an empty
 * store. If the file were deleted instead, they would continue with the old store. @throws DatabaseError.
 */
export async function emptyStore(store: Store): Promise<void> {
  await store.transaction(() => deleteAll(store));
  await store.perform('VACUUM');
}

/**
 * Replaces the store's contents with rows from other tables, in one transaction.
 * @param from returns the source table (quoted) for a table of the store. @param finish runs in the same transaction.
 */
export function replaceAll(store: Store, from: (table: string) => string, finish: () => void): Promise<void> {
  return store.transaction(() => {
    deleteAll(store);
    for (const table of tablesOf(store)) store.run(`INSERT INTO main.${table} SELECT * FROM ${from(table)}`);
    finish();
  });
}

/** Deletes referencing tables first. Otherwise each deleted row would trigger a scan for references to it. */
function deleteAll(store: Store): void {
  store.noteReplaced();
  store.run('PRAGMA defer_foreign_keys = ON');
  for (const table of tablesOf(store).toReversed()) store.run(`DELETE FROM main.${table}`);
}
