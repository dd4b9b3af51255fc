import { DamagedError, type ErrorFacts, StorageError } from '../errors.ts';
import type { Tell } from '../private-files.ts';
import type { Database, DatabaseOptions, Migration } from '../sqlite/database.ts';
import { DatabaseError, type Trouble } from '../sqlite/database-error.ts';
import { openDatabase } from '../sqlite/open.ts';
import type { Waiting } from '../wait/retry-while.ts';

/** What opening a database of this machine's state depends on. */
export interface OpenOptions {
  readonly waiting?: Waiting;
  readonly tell?: Tell;
  readonly beforeFirst?: () => void;
  /** What helps where it is damaged. */
  readonly damagedAdvice?: Pick<ErrorFacts, 'hint' | 'next'>;
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
  explain: (error) => storageError(file, error, options.damagedAdvice ?? { hint: hints.damaged }),
  // What is in doubt can be read where nothing can be written; nothing is sent then.
  unwritable: 'refuse',
});

/** Another folder is no remedy: what is in doubt is known in this one. */
const hints: Readonly<Record<Trouble, string>> = {
  busy: 'Wait for the other errand to end, then try again.',
  full: 'Free some space, then try again.',
  read_only: 'Make it writable, then try again.',
  not_opened: 'Make it readable and writable, with its folder, then try again.',
  damaged: 'Move it aside to keep it, then try again.',
  newer: 'Update errand.',
  unlockable: 'Move its folder, with all that is in it, to a file system that grants locks.',
  failing: 'Look at the disk, then try again.',
  not_private: 'Put the file itself back in its place, then try again.',
};

/** SQLITE_ERROR: its message is about a statement of ours, which says nothing to a user. */
const sqliteError = 1;

function storageError(file: string, cause: unknown, damagedAdvice: ErrorFacts): StorageError {
  if (cause instanceof StorageError) return cause;
  if (cause instanceof DatabaseError && cause.trouble !== 'damaged')
    return new StorageError(cause.message, { cause, hint: hints[cause.trouble] });
  const message = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof DatabaseError) return new DamagedError(message, { cause, ...damagedAdvice });
  // A statement of ours that SQLite does not understand speaks of tables that are no longer as they were made.
  const isOfSqlite = cause instanceof Error && 'errcode' in cause;
  if (!isOfSqlite) return new StorageError(`${file} cannot be used: ${message}`, { cause });
  const why = Number(cause.errcode) === sqliteError ? 'it is damaged' : message;
  return new DamagedError(`${file} cannot be used: ${why}`, { cause, ...damagedAdvice });
}
