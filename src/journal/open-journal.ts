import { copyFolder } from '../format/database-address.ts';
import { StorageError, unread } from '../platform/errors.ts';
import type { Database } from '../platform/sqlite/database.ts';
import { checkBirth } from './birth.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import type { JournalOptions } from './journal-options.ts';
import { journalFile, journalMigrations } from './journal-tables.ts';
import type { Beside } from './postgres/beside.ts';
import { damagedAdvice } from './tally.ts';

/** The journal's database: a file of this machine, or one that machines share, with what stands beside it. @throws StorageError. */
export async function openJournalDatabase(
  folder: string,
  { birth, shared, waiting, tell }: JournalOptions,
): Promise<{ readonly database: Database; readonly beside?: Beside }> {
  const options = { ...(waiting && { waiting }), ...(tell && { tell }), damagedAdvice, knowsOrders: true };
  if (!shared) {
    const file = journalFile(folder);
    const beforeFirst = (): void => checkBirth(file, birth);
    return { database: await openOwn(file, { ...options, beforeFirst }) };
  }
  const { openShared } = await import('./postgres/open.ts');
  const { Beside } = await import('./postgres/beside.ts');
  const file = journalFile(copyFolder(folder, shared.address));
  const database = await openShared(file, journalMigrations, 'journal', shared, options);
  return { database, beside: new Beside(database, folder, shared, options) };
}

/** One that is locked while it is opened cannot be read either. */
async function openOwn(file: string, options: OpenOptions): Promise<Database> {
  try {
    return await openStateDatabase(file, journalMigrations, options);
  } catch (error) {
    throw error instanceof StorageError && error.facts.outcome === 'not_sent' ? unread(error) : error;
  }
}
