import { DamagedError } from '../errors.ts';
import type { Database } from '../sqlite/database.ts';
import { checkBirth } from './birth.ts';
import { openStateDatabase } from './database.ts';
import { isIntact } from './intent-row.ts';
import { IntentTable } from './intent-table.ts';
import type { JournalOptions } from './journal-options.ts';
import { journalFile, journalMigrations } from './journal-tables.ts';
import { copyFolder } from './shared/address.ts';
import { damagedAdvice } from './tally.ts';

/** The journal's database: a file of this machine, or one that machines share. @throws StorageError. */
export async function openJournalDatabase(
  folder: string,
  { birth, shared, waiting, tell }: JournalOptions,
): Promise<Database> {
  const options = { ...(waiting && { waiting }), ...(tell && { tell }), damagedAdvice };
  if (!shared) {
    const file = journalFile(folder);
    const beforeFirst = (): void => checkBirth(file, birth);
    return openStateDatabase(file, journalMigrations, { ...options, beforeFirst });
  }
  const { openShared } = await import('./shared/open.ts');
  const file = journalFile(copyFolder(folder, shared.address));
  const database = await openShared(file, journalMigrations, 'journal', shared, options);
  if (!vouches(database)) await database.refresh(true);
  return database;
}

/** Whether a copy can tell what is owed or recent. */
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
