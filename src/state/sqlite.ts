import { createRequire, isBuiltin } from 'node:module';
import type { DatabaseSync as Constructor, DatabaseSyncInstance } from '@photostructure/sqlite';

export type Sqlite = DatabaseSyncInstance;

/** Node's own SQLite where the running Node has it, else the packaged one with the same interface. */
export async function loadSqlite(): Promise<typeof Constructor> {
  return isBuiltin('node:sqlite') ? nodeSqlite() : (await import('@photostructure/sqlite')).DatabaseSync;
}

/** Node's own SQLite. @throws where the running Node has none. */
export function nodeSqlite(): typeof Constructor {
  const { emitWarning } = process;
  // Some versions call it experimental on stderr, which is no business of a user of errand.
  process.emitWarning = () => {};
  try {
    const { DatabaseSync }: { DatabaseSync: typeof Constructor } = createRequire(import.meta.url)(
      'node:sqlite',
    );
    return DatabaseSync;
  } finally {
    process.emitWarning = emitWarning;
  }
}
