import type { Database } from '../sqlite/database.ts';
import { checkBirth } from './birth.ts';
import { openStateDatabase } from './database.ts';
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
  return openShared(file, journalMigrations, 'journal', shared, options);
}
