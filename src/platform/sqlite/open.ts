import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { retryWhile } from '../async.ts';
import { ErrandError, StorageError } from '../errors.ts';
import { makePrivateDatabase } from '../private-files.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { DatabaseError, type DatabaseProblem, databaseError, isBusy } from './database-error.ts';
import { loadSqlite, type Sqlite } from './load.ts';

/** Problems with which an existing file may still be readable. */
const readable: ReadonlySet<DatabaseProblem> = new Set(['read_only', 'full', 'not_opened', 'failing']);

/** The class to open: `Database`, or a subclass. */
type Kind<D extends Database, O extends DatabaseOptions> = new (
  file: string,
  sqlite: Sqlite,
  options: O,
  unwritable?: unknown,
) => D;

/**
 * Opens a database that other processes may also have open, and runs its migrations.
 * @param file is a path or `:memory:`. If the file is missing, it is created with its folder, and only its owner can
 * access it.
 * @throws DatabaseError, or what `explain` returns for it.
 */
export function openDatabase(file: string, options: DatabaseOptions): Promise<Database> {
  return openKind(Database, file, options);
}

/** Same for a subclass. */
export async function openKind<D extends Database, O extends DatabaseOptions>(
  Made: Kind<D, O>,
  file: string,
  options: O,
): Promise<D> {
  const { explain = (error: unknown) => error, warn = () => {}, waiting, unwritable } = options;
  try {
    if (file !== ':memory:') makePrivateDatabase(file, warn);
    return await opened(Made, file, file, options);
  } catch (cause) {
    if (waiting?.signal?.aborted && cause === waiting.signal.reason) throw cause;
    // This error already explains why no new database may be created.
    if (cause instanceof ErrandError) throw cause;
    const error = openError(file, cause);
    const explained = explain(error);
    const isReadable = error.problem === 'read_only' || (readable.has(error.problem) && existsSync(file));
    if (!unwritable || !isReadable) throw explained;
    return await copied(Made, file, options, explained);
  }
}

/**
 * SQLite, as a class with which to open databases.
 * @throws StorageError if this version of Node has none and no package is installed.
 */
export function installedSqlite(): ReturnType<typeof loadSqlite> {
  try {
    return loadSqlite();
  } catch (cause) {
    throw new StorageError(
      `this Node (${process.version}) has no SQLite, and errand was installed without it`,
      {
        hint: 'Use Node 22.13 or later, or install errand with its optional dependencies.',
        cause,
      },
    );
  }
}

/**
 * @param path is the file to open, which is either `file` itself or a copy.
 * @param why is the reason for using a copy.
 */
async function opened<D extends Database, O extends DatabaseOptions>(
  Made: Kind<D, O>,
  file: string,
  path: string,
  options: O,
  why?: unknown,
): Promise<D> {
  const Sqlite = installedSqlite();
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

/** @throws `why` if a copy cannot be made either. */
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
      // Unlink the copy now. It then disappears when it is closed, however this process ends.
      remove();
    }
  } catch {
    throw why;
  }
}

/** Converts any failure to an error about the file, because the file is what the user can do something about. */
function openError(file: string, cause: unknown): DatabaseError {
  const message = cause instanceof Error ? cause.message : String(cause);
  const error = databaseError(file, cause) ?? new DatabaseError(file, 'not_opened', message, { cause });
  if (error.problem !== 'not_opened') return error;
  try {
    accessSync(dirname(file), constants.W_OK);
    return error;
  } catch (why) {
    // SQLite does not say that it cannot create its companion files. Therefore check whether the file system is
    // read-only.
    const isReadOnly = why instanceof Error && 'code' in why && why.code === 'EROFS';
    return (isReadOnly && databaseError(file, why)) || error;
  }
}

/**
 * Copies a database that cannot be opened in place. An example is one on a read-only file system, where SQLite cannot
 * create its companion files. The copy includes the WAL, which has the latest commits.
 * @returns the path of the copy, in a temporary folder that the caller must remove. If the file is missing, there is
 * nothing at that path yet.
 */
function copyDatabase(file: string): { readonly copy: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'errand-read-'));
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Some systems cannot delete a file that is open, but they clean up their temporary folder themselves.
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

/**
 * Holds a read transaction during the copy, so that no other process checkpoints the WAL. If there is no WAL, no
 * process is writing.
 */
function pin(file: string): Sqlite | undefined {
  const Sqlite = installedSqlite();
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
