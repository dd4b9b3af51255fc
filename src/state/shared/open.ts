import { rmSync } from 'node:fs';
import { systemClock } from '../../clock.ts';
import { DamagedError } from '../../errors.ts';
import type { Migration } from '../../sqlite/database.ts';
import { openKind } from '../../sqlite/open.ts';
import { type OpenOptions, stateOptions } from '../database.ts';
import type { Sharing } from './address.ts';
import { Connection } from './connect.ts';
import { createCopy } from './copy.ts';
import { SharedDatabase, type SharedOptions } from './database.ts';
import { Remote } from './remote.ts';
import { createLeases, journalMirror, type Mirror, uploadsMirror } from './tables.ts';

/**
 * Opens a group of tables of a shared database, with this machine's copy up to date.
 * @param file of the copy. @param migrations of the same tables in SQLite. @throws StorageError where the database cannot be used.
 */
export async function openShared(
  file: string,
  migrations: readonly Migration[],
  name: Mirror['name'],
  sharing: Sharing,
  options: OpenOptions,
): Promise<SharedDatabase> {
  const isJournal = name === 'journal';
  const all = [...migrations, createCopy, ...(isJournal ? [createLeases] : [])];
  const mirror = isJournal ? journalMirror : uploadsMirror;
  const shared: SharedOptions = {
    ...stateOptions(file, all, options),
    remote: new Remote(new Connection(sharing.address), mirror, options.waiting),
    mirror,
    clock: sharing.clock ?? systemClock,
    ...(sharing.longestRequestMs !== undefined && { longestRequestMs: sharing.longestRequestMs }),
  };
  const database = await openCopy(file, shared);
  try {
    await database.catchUp();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A copy that cannot be read is made anew. */
async function openCopy(file: string, options: SharedOptions): Promise<SharedDatabase> {
  try {
    return await openKind(SharedDatabase, file, options);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    for (const companion of ['', '-wal', '-shm']) rmSync(file + companion, { force: true });
    return await openKind(SharedDatabase, file, options);
  }
}
