import { ErrandError } from '../../errors.ts';
import type { Database } from '../../sqlite/database.ts';
import { type OpenOptions, openStateDatabase } from '../database.ts';
import { recordOf } from '../intent-row.ts';
import { IntentTable } from '../intent-table.ts';
import type { JournalRecord } from '../journal-record.ts';
import { journalFile, journalMigrations } from '../journal-tables.ts';
import { readSeal, sealOf } from '../seal.ts';
import { damagedAdvice } from '../tally.ts';

/** The journal that a machine keeps of its own where no database is named. */
export class OwnJournal {
  readonly #database: Database;
  readonly #table: IntentTable;

  private constructor(database: Database) {
    this.#database = database;
    this.#table = new IntentTable(database);
  }

  /** @param folder of the state. @throws StorageError. */
  static async open(folder: string, options: OpenOptions): Promise<OwnJournal> {
    const opening = { ...options, damagedAdvice };
    return new OwnJournal(await openStateDatabase(journalFile(folder), journalMigrations, opening));
  }

  /** What is in doubt or untold in it, oldest first. @throws DamagedError. */
  open(): JournalRecord[] {
    this.#table.tally.check(readSeal(sealOf(this.#database.file)));
    return this.#table.owed().map(recordOf);
  }

  close(): void {
    void this.#database.close();
  }
}

const mostNamed = 10;

/** One journal must know of all that is open, or the same may be ordered twice. */
export function openRecords(records: readonly JournalRecord[], shown: string): ErrandError {
  const [what, are, them] =
    records.length === 1 ? ['one order', 'is', 'it'] : [`${records.length} orders`, 'are', 'them'];
  return new ErrandError(
    'conflict',
    `${what} of this machine's own journal ${are} in doubt or untold, and the database ${shown} does not know of ${them}; nothing was sent`,
    {
      code: 'open_in_own_journal',
      outcome: 'not_sent',
      retryable: false,
      details: { keys: records.slice(0, mostNamed).map(({ key }) => key) },
      hint: 'Or settle it where no database is named: without ERRAND_DATABASE_URL, by a profile that has none, `errand order journal resume --all`.',
      next: [{ command: 'errand order journal move', when: 'to take all of it into the database' }],
    },
  );
}
