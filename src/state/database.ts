import { chmodSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StorageError } from '../errors.ts';
import { patiently } from './patiently.ts';
import { loadSqlite, type Sqlite } from './sqlite.ts';

/**
 * Opens a database that several processes share: WAL, every commit synced to disk, folder 0700 and file 0600.
 * @param migrations run in order, once each. @throws StorageError naming the file and the remedy.
 */
export async function openDatabase(file: string, migrations: readonly string[]): Promise<Sqlite> {
  const Database = await loadSqlite();
  const unlink = refuseLink(file);
  if (unlink) throw unlink;
  let database: Sqlite | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    chmodSync(dirname(file), 0o700);
    database = new Database(file);
    chmodSync(file, 0o600);
    const opened = database;
    opened.exec('PRAGMA busy_timeout = 10000');
    patiently(() => opened.exec('PRAGMA journal_mode = WAL'));
    opened.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    patiently(() => migrate(opened, migrations));
    return opened;
  } catch (cause) {
    database?.close();
    throw storageError(file, cause);
  }
}

/** A failed statement as an error that names the file and what can be done. */
export function storageError(file: string, cause: unknown): StorageError {
  if (cause instanceof StorageError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  const known = troubles.find(([pattern]) => pattern.test(message));
  const [, what, hint] = known ?? [undefined, message, 'Name another folder with ERRAND_STATE_DIR.'];
  return new StorageError(`${file} cannot be used: ${what}`, { cause, hint });
}

const troubles: readonly (readonly [RegExp, string, string])[] = [
  [/disk is full|ENOSPC|EFBIG/i, 'the disk is full', 'Free some space, then try again; nothing was sent.'],
  [
    /readonly|read-only|EROFS/i,
    'it is read-only',
    'Make it writable, or name another folder with ERRAND_STATE_DIR.',
  ],
  [
    /not a database|malformed|corrupt/i,
    'it is damaged',
    'It may name orders in doubt: move it aside to keep it, then try again.',
  ],
  [
    /newer version/,
    'a newer errand has written it',
    'Update errand, or name another folder with ERRAND_STATE_DIR.',
  ],
  [/locked|busy/i, 'another process holds it', 'Wait for the other errand to end, then try again.'],
  [
    /unable to open|EACCES|EPERM|ENOTDIR|ENOENT/i,
    'it cannot be opened',
    'Make its folder writable, or name another with ERRAND_STATE_DIR.',
  ],
];

function refuseLink(file: string): StorageError | undefined {
  if (!existsSync(file) || !lstatSync(file).isSymbolicLink()) return undefined;
  return new StorageError(`${file} is a link; errand does not follow links to its own files`, {
    hint: 'Remove the link, or name another folder with ERRAND_STATE_DIR.',
  });
}

function migrate(database: Sqlite, migrations: readonly string[]): void {
  const version = () => Number(Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0]);
  if (version() > migrations.length) throw new Error('it is of a newer version');
  if (version() === migrations.length) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of migrations.slice(version())) database.exec(migration);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
