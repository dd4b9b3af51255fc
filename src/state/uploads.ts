import { join } from 'node:path';
import type { Database } from '../sqlite/database.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';

/** How the rows of a batch stood in the file that they came from. */
export interface TableLayout {
  /** The columns of the file, in their order. */
  readonly headings: readonly string[];
  /** The number of each row of the batch as a spreadsheet shows it. */
  readonly numbers: readonly number[];
}

/** As long as the journal keeps what was sent, ms. */
const keptMs = 30 * 24 * 3600 * 1000;

const migrations = [
  `CREATE TABLE layouts (
     key TEXT PRIMARY KEY, headings TEXT NOT NULL, numbers TEXT NOT NULL, written_at TEXT NOT NULL) STRICT;
   CREATE INDEX layouts_written ON layouts (written_at)`,
];

/** What is known on this machine of the files that were uploaded, by the journal's key of each batch. */
export class Uploads {
  readonly #database: Database;
  readonly #now: () => number;

  private constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** @throws StorageError where it cannot be kept. */
  static async open(folder: string, now: () => number, options?: OpenOptions): Promise<Uploads> {
    return new Uploads(await openStateDatabase(join(folder, 'uploads.db'), migrations, options), now);
  }

  /** Keeps the layout of a batch; the same rows uploaded again have their latest. */
  keep(key: string, { headings, numbers }: TableLayout): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT OR REPLACE INTO layouts (key, headings, numbers, written_at) VALUES (?, ?, ?, ?)',
        key,
        JSON.stringify(headings),
        JSON.stringify(numbers),
        new Date(this.#now()).toISOString(),
      );
      this.#database.run(
        'DELETE FROM layouts WHERE written_at < ?',
        new Date(this.#now() - keptMs).toISOString(),
      );
    });
  }

  /** The layout of a batch; undefined where it was not uploaded from here, or too long ago. */
  layoutOf(key: string): TableLayout | undefined {
    const row = this.#database.get('SELECT headings, numbers FROM layouts WHERE key = ?', key);
    if (!row) return undefined;
    const [headings, numbers]: unknown[] = [row.headings, row.numbers].map((text) =>
      JSON.parse(String(text)),
    );
    return Array.isArray(headings) && Array.isArray(numbers)
      ? { headings: headings.map(String), numbers: numbers.map(Number) }
      : undefined;
  }

  close(): void {
    this.#database.close();
  }
}
