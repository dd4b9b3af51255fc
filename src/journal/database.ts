import type { Waiting } from '../platform/async.ts';
import { DamagedError, type ErrorFacts, StorageError, unread } from '../platform/errors.ts';
import type { Tell } from '../platform/private-files.ts';
import type { Database, DatabaseOptions, Migration } from '../platform/sqlite/database.ts';
import { DatabaseError, remedies, type Trouble } from '../platform/sqlite/database-error.ts';
import { openDatabase } from '../platform/sqlite/open.ts';

/** What opening a database of this machine's state depends on. */
export interface OpenOptions {
  readonly waiting?: Waiting;
  readonly tell?: Tell;
  readonly beforeFirst?: () => void;
  /** What helps where it is damaged. */
  readonly damagedAdvice?: Pick<ErrorFacts, 'hint' | 'next'>;
  /** Whether what was ordered may be known in it alone. */
  readonly knowsOrders?: boolean;
}

/** Opens a database of this machine's state. @throws StorageError naming the file and the remedy, then and later. */
export const openStateDatabase = (
  file: string,
  migrations: readonly Migration[],
  options: OpenOptions = {},
): Promise<Database> => openDatabase(file, stateOptions(file, migrations, options));

export const stateOptions = (
  file: string,
  migrations: readonly Migration[],
  options: OpenOptions,
): DatabaseOptions => ({
  ...options,
  migrations,
  explain: (error) => storageError(file, error, options),
  // What is in doubt can be read where nothing can be written; nothing is sent then.
  unwritable: 'refuse',
});

/** These keep it from being written: what it holds can be read. */
const readable: ReadonlySet<Trouble> = new Set(['busy', 'full', 'read_only']);

/** SQLITE_ERROR: its message is about a statement of ours, which says nothing to a user. */
const sqliteError = 1;

function storageError(
  file: string,
  cause: unknown,
  { damagedAdvice = { hint: remedies.damaged }, knowsOrders = false }: OpenOptions,
): StorageError {
  if (cause instanceof StorageError) return cause;
  if (cause instanceof DatabaseError && cause.trouble !== 'damaged') {
    const error = new StorageError(cause.message, { cause, hint: remedies[cause.trouble] });
    return knowsOrders && !readable.has(cause.trouble) ? unread(error) : error;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof DatabaseError) return new DamagedError(message, { cause, ...damagedAdvice });
  // A statement of ours that SQLite does not understand speaks of tables that are no longer as they were made.
  const isOfSqlite = cause instanceof Error && 'errcode' in cause;
  if (!isOfSqlite) return new StorageError(`${file} cannot be used: ${message}`, { cause });
  const why = Number(cause.errcode) === sqliteError ? 'it is damaged' : message;
  return new DamagedError(`${file} cannot be used: ${why}`, { cause, ...damagedAdvice });
}
