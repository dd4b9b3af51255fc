import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { retryWhile } from '../async.ts';
import { ErrandError } from '../errors.ts';
import { makePrivateDatabase } from '../private-files.ts';
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

/**
 * Copies a database that cannot be opened where it lies, such as on a read-only file system, where SQLite has no room for
 * what it keeps beside one. The write-ahead log goes with it: what another process committed last is in there.
 * @returns the copy, in a folder of its own that is to be removed; of a file that is not there, a place for an empty one.
 */
function copyDatabase(file: string): { readonly copy: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'errand-read-'));
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Some systems delete no file that is open; their temporary folder is cleared.
    }
  };
  const copy = join(folder, 'copy.db');
  const reader = pin(file);
  try {
    for (const end of ['', '-wal']) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    return { copy, remove };
  } catch (error) {
    remove();
    throw error;
  } finally {
    reader?.close();
  }
}

/** While it reads, no other process moves what is in the log into the file. Where there is no log, none writes. */
function pin(file: string): Sqlite | undefined {
  const Sqlite = loadSqlite();
  let reader: Sqlite | undefined;
  try {
    reader = new Sqlite(file, { readOnly: true });
    reader.exec('BEGIN; SELECT count(*) FROM sqlite_master');
    return reader;
  } catch {
    reader?.close();
    return undefined;
  }
}
