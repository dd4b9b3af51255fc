import { rmSync } from 'node:fs';
import type { Sharing } from '../../format/database-address.ts';
import { systemClock } from '../../platform/clock.ts';
import { DamagedError } from '../../platform/errors.ts';
import type { Database, Migration } from '../../platform/sqlite/database.ts';
import { openKind } from '../../platform/sqlite/open.ts';
import { type OpenOptions, stateOptions } from '../database.ts';
import { isIntact } from '../intent-row.ts';
import { IntentTable } from '../intents.ts';
import { Connection } from './connect.ts';
import { createCopy } from './copy.ts';
import { SharedDatabase } from './database.ts';
import type { SharedOptions } from './database-copy.ts';
import { Remote } from './remote.ts';
import { createLeases, journalMirror, type Mirror, uploadsMirror } from './tables.ts';

/**
 * Opens a table group of a shared database and updates this machine's copy.
 * @param file is the copy's path. @param migrations create the same tables in SQLite. @throws StorageError if the
 * database cannot be used.
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
  const remote = (): Remote =>
    new Remote(new Connection(sharing.address, options.waiting?.signal), mirror, options.waiting);
  const shared: SharedOptions = {
    ...stateOptions(file, all, options),
    remote: remote(),
    mirror,
    clock: sharing.clock ?? systemClock,
    ...(sharing.maxRequestMs !== undefined && { maxRequestMs: sharing.maxRequestMs }),
  };
  try {
    return await opened(file, shared);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    // Delete only the copy. The database still has the copy's data.
    for (const companion of ['', '-wal', '-shm']) rmSync(file + companion, { force: true });
    return opened(file, { ...shared, remote: remote() });
  }
}

async function opened(file: string, options: SharedOptions): Promise<SharedDatabase> {
  const database = await openKind(SharedDatabase, file, options);
  try {
    await database.catchUp();
    if (options.mirror.name === 'journal' && !vouches(database)) await database.refresh('anew');
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Whether the open and recent records in the copy of the journal pass verification. */
function vouches(database: Database): boolean {
  const table = new IntentTable(database);
  try {
    table.tally.check(undefined);
    return table.live().every(isIntact);
  } catch (error) {
    if (error instanceof DamagedError) return false;
    throw error;
  }
}
