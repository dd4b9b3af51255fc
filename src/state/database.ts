import { StorageError } from '../errors.ts';
import type { Tell } from '../private-files.ts';
import type { Waiting } from '../retry-while.ts';
import type { Database } from '../sqlite/database.ts';
import { DatabaseError, type Trouble } from '../sqlite/database-error.ts';
import { openDatabase } from '../sqlite/open.ts';

/** What opening a database of this machine's state depends on. */
export interface OpenOptions {
  readonly waiting?: Waiting;
  readonly tell?: Tell;
}

/** Opens a database of this machine's state. @throws StorageError naming the file and the remedy, then and later. */
export const openStateDatabase = (
  file: string,
  migrations: readonly string[],
  options: OpenOptions = {},
): Promise<Database> =>
  openDatabase(file, {
    ...options,
    migrations,
    explain: (error) => storageError(file, error),
    // What is in doubt can be read where nothing can be written; nothing is sent then.
    unwritable: 'refuse',
  });

const makeWritable = 'Make it writable, or name another folder with ERRAND_STATE_DIR.';
const anotherFolder = 'Name another folder with ERRAND_STATE_DIR.';

const hints: Readonly<Record<Trouble, string>> = {
  busy: 'Wait for the other errand to end, then try again.',
  full: 'Free some space, then try again; nothing was sent.',
  read_only: makeWritable,
  not_opened: makeWritable,
  damaged: 'It may name orders in doubt: move it aside to keep it, then try again.',
  newer: 'Update errand, or name another folder with ERRAND_STATE_DIR.',
  unlockable: 'Put it on a file system that grants locks: name its folder with ERRAND_STATE_DIR.',
  failing: anotherFolder,
  not_private: 'Move it away, or name another folder with ERRAND_STATE_DIR.',
};

function storageError(file: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  if (cause instanceof DatabaseError)
    return new StorageError(cause.message, { cause, hint: hints[cause.trouble] });
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StorageError(`${file} cannot be used: ${message}`, { cause, hint: anotherFolder });
}
