import type { Waiting } from '../platform/async.ts';
import { DamagedError, type ErrorFacts, StorageError, unread } from '../platform/errors.ts';
import type { Warn } from '../platform/private-files.ts';
import type { Database, DatabaseOptions, Migration } from '../platform/sqlite/database.ts';
import { DatabaseError, type DatabaseProblem, remedies } from '../platform/sqlite/database-error.ts';
import { openDatabase } from '../platform/sqlite/open.ts';

/** Options for opening a database in the state folder. */
export interface OpenOptions {
  readonly waiting?: Waiting;
  readonly warn?: Warn;
  readonly beforeFirst?: () => void;
  /** Indexes beyond those of the migrations. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** What to do if the database is damaged. */
  readonly damagedAdvice?: Pick<ErrorFacts, 'hint' | 'next'>;
  /** Whether the database may be the only record of orders. */
  readonly knowsOrders?: boolean;
}

/**
 * Opens a database in the state folder.
 * @throws StorageError naming the file and the remedy, both here and in later calls.
 */
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
  // If the database is read-only, errand can still show what is in doubt, but sends nothing.
  unwritable: 'refuse',
});

/** Conditions that prevent writing, but not reading. */
const readable: ReadonlySet<DatabaseProblem> = new Set(['busy', 'full', 'read_only']);

/** SQLITE_ERROR, whose message concerns errand's own SQL and means nothing to a user. */
const sqliteError = 1;

function storageError(
  file: string,
  cause: unknown,
  { damagedAdvice = { hint: remedies.damaged }, knowsOrders = false }: OpenOptions,
): StorageError {
  if (cause instanceof StorageError) return cause;
  if (cause instanceof DatabaseError && cause.problem !== 'damaged') {
    const error = new StorageError(cause.message, { cause, hint: remedies[cause.problem] });
    return knowsOrders && !readable.has(cause.problem) ? unread(error) : error;
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof DatabaseError) return new DamagedError(message, { cause, ...damagedAdvice });
  // If SQLite rejects errand's own SQL, something has changed the tables since errand created them.
  const isOfSqlite = cause instanceof Error && 'errcode' in cause;
  if (!isOfSqlite) return new StorageError(`${file} cannot be used: ${message}`, { cause });
  const why = Number(cause.errcode) === sqliteError ? 'it is damaged' : message;
  return new DamagedError(`${file} cannot be used: ${why}`, { cause, ...damagedAdvice });
}
