import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { ErrandError } from '../errors.ts';
import { makePrivateDatabase } from '../private-files.ts';
import { retryWhile } from '../wait/retry-while.ts';
import { copyDatabase } from './copy.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { DatabaseError, databaseError, isBusy, type Trouble } from './database-error.ts';
import { loadSqlite, type Sqlite } from './load.ts';

/** With these a file that is there may be read all the same. */
const readable: ReadonlySet<Trouble> = new Set(['read_only', 'full', 'not_opened', 'failing']);

/** What is opened: a `Database`, or a kind of it that knows more. */
type Kind<D extends Database, O extends DatabaseOptions> = new (
  file: string,
  sqlite: Sqlite,
  options: O,
  unwritable?: unknown,
) => D;

/**
 * Opens a database that other processes may have open too, with all its migrations.
 * @param file path, or `:memory:`; made with its folder where there is none, for its owner alone.
 * @throws DatabaseError, or what `explain` makes of it.
 */
export function openDatabase(file: string, options: DatabaseOptions): Promise<Database> {
  return openKind(Database, file, options);
}

/** The same of a kind of its own. */
export async function openKind<D extends Database, O extends DatabaseOptions>(
  Made: Kind<D, O>,
  file: string,
  options: O,
): Promise<D> {
  const { explain = (error: unknown) => error, tell = () => {}, waiting, unwritable } = options;
  try {
    if (file !== ':memory:') makePrivateDatabase(file, tell);
    return await opened(Made, file, file, options);
  } catch (cause) {
    if (waiting?.signal?.aborted && cause === waiting.signal.reason) throw cause;
    // Why there may be no new database here: that is all that there is to say.
    if (cause instanceof ErrandError) throw cause;
    const error = openTrouble(file, cause);
    const explained = explain(error);
    const isReadable = error.trouble === 'read_only' || (readable.has(error.trouble) && existsSync(file));
    if (!unwritable || !isReadable) throw explained;
    return await copied(Made, file, options, explained);
  }
}

/** @param path of what is opened: the file, or a copy of it. @param why only a copy is. */
async function opened<D extends Database, O extends DatabaseOptions>(
  Made: Kind<D, O>,
  file: string,
  path: string,
  options: O,
  why?: unknown,
): Promise<D> {
  const Sqlite = loadSqlite();
  const sqlite = new Sqlite(path);
  try {
    const database = new Made(file, sqlite, options, why);
    await retryWhile(isBusy, () => database.prepare(), database.waiting);
    return database;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** @throws `why`, where no copy can be made either. */
async function copied<D extends Database, O extends DatabaseOptions>(
  Made: Kind<D, O>,
  file: string,
  options: O,
  why: unknown,
): Promise<D> {
  try {
    const { copy, remove } = copyDatabase(file);
    try {
      return await opened(Made, file, copy, options, why);
    } finally {
      // It lives on for as long as it is open, and no longer however this process ends.
      remove();
    }
  } catch {
    throw why;
  }
}

/** Whatever it was, the file is what the user can do something about. */
function openTrouble(file: string, cause: unknown): DatabaseError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = databaseError(file, cause) ?? new DatabaseError(file, 'not_opened', message, { cause });
  if (error.trouble !== 'not_opened') return error;
  try {
    accessSync(dirname(file), constants.W_OK);
    return error;
  } catch (why) {
    // SQLite does not say that it cannot keep its own files beside this one.
    const isReadOnly = why instanceof Error && 'code' in why && why.code === 'EROFS';
    return (isReadOnly && databaseError(file, why)) || error;
  }
}
