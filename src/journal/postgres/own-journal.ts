import { DamagedError, ErrandError } from '../../platform/errors.ts';
import type { Database } from '../../platform/sqlite/database.ts';
import { type OpenOptions, openStateDatabase } from '../database.ts';
import { readRecordCount, recordCountFileOf } from '../integrity.ts';
import { recordOf } from '../intent-row.ts';
import { IntentTable } from '../intents.ts';
import type { JournalRecord } from '../journal-record.ts';
import { journalFile, journalMigrations } from '../journal-tables.ts';
import { ownOpenText } from '../owner.ts';

/** Advice for a damaged local journal. With a database configured, other commands use the database instead. */
export const ownDamagedAdvice = {
  hint: 'It is the journal that this machine kept before a database was named, and may name orders in doubt, so nothing is ordered from here. Repair it where no database is named: without ERRAND_DATABASE_URL, and with a profile that names none.',
  next: [
    {
      command: 'env -u ERRAND_DATABASE_URL errand order journal repair',
      when: 'to keep what is intact and set the rest aside',
    },
    { command: 'errand order journal move', when: 'to take what it has open into the database then' },
    { command: 'errand order list', when: 'to see what was ordered' },
  ],
} as const;

/** Adds `ownDamagedAdvice` to an error about a damaged local journal. */
export const ownFailure = (error: unknown): unknown =>
  error instanceof DamagedError
    ? new DamagedError(error.message, { ...error.facts, ...ownDamagedAdvice, cause: error })
    : error;

/** The local journal of a machine, which is used when no database is configured. */
export class OwnJournal {
  readonly #database: Database;
  readonly #table: IntentTable;

  private constructor(database: Database) {
    this.#database = database;
    this.#table = new IntentTable(database);
  }

  /** @param folder is the state folder. @throws StorageError. */
  static async open(folder: string, options: OpenOptions): Promise<OwnJournal> {
    const opening = { ...options, damagedAdvice: ownDamagedAdvice };
    return new OwnJournal(await openStateDatabase(journalFile(folder), journalMigrations, opening));
  }

  /** The journal's in-doubt and unreported records, oldest first. @throws DamagedError. */
  open(): JournalRecord[] {
    try {
      this.#table.tally.check(readRecordCount(recordCountFileOf(this.#database.file)));
      return this.#table.unfinished().map(recordOf);
    } catch (error) {
      throw ownFailure(error);
    }
  }

  close(): void {
    void this.#database.close();
  }
}

const maxNamed = 10;

/**
 * The error for open records that the shared journal does not have. One journal must know all open records, or orders
 * could be duplicated.
 */
export function openRecords(records: readonly JournalRecord[], shown: string): ErrandError {
  const them = records.length === 1 ? 'it' : 'them';
  return new ErrandError(
    'conflict',
    `${ownOpenText(records)}, and the database ${shown} does not know of ${them}; nothing was sent`,
    {
      code: 'open_in_own_journal',
      outcome: 'not_sent',
      retryable: false,
      details: { keys: records.slice(0, maxNamed).map(({ key }) => key) },
      hint: 'Take it into the database; or settle it without one: `errand order journal resume --all` where ERRAND_DATABASE_URL is not set and the profile names none.',
      next: [{ command: 'errand order journal move', when: 'to take all of it into the database' }],
    },
  );
}
