import { StorageError } from './errors.ts';
import { loadSqlite, type Sqlite } from './sqlite/load.ts';

interface TimedText {
  /** Ms since the epoch. */
  readonly at: number;
  readonly text: string;
}

/** Number of texts that memory holds before they go to the disk. */
const heldAtOnce = 20_000;

/** Texts that are read in order of time; those of one time in the order in which they were added. */
export class SortedTexts {
  #held: TimedText[] = [];
  #onDisk: Sqlite | undefined;
  #flushed = 0;

  get count(): number {
    return this.#flushed + this.#held.length;
  }

  /** @throws StorageError if there are many, and the temporary folder has no room. */
  add(text: TimedText): void {
    this.#held.push(text);
    if (this.#held.length >= heldAtOnce) this.#flush();
  }

  /** Yields all texts. May be called once. */
  *read(): Generator<string> {
    const database = this.#onDisk;
    if (!database) {
      for (const { text } of this.#held.sort((one, other) => one.at - other.at)) yield text;
      return;
    }
    this.#flush();
    const rows = database.prepare('SELECT text FROM texts ORDER BY time DESC, place DESC').iterate();
    try {
      for (const row of rows) yield String(Object(row).text);
    } finally {
      database.close();
    }
  }

  /**
   * Moves the texts to a temporary database, which SQLite unlinks as it opens it. Lists begin with the newest order, so
   * most times come in descending order. Rows are cheapest to add at the end, so each row is stored under its negative
   * time.
   */
  #flush(): void {
    this.#onDisk ??= temporary();
    if (!this.#onDisk) return;
    try {
      const insert = this.#onDisk.prepare('INSERT INTO texts VALUES (?, ?, ?)');
      this.#onDisk.exec('BEGIN');
      for (const { at, text } of this.#held) {
        this.#flushed += 1;
        insert.run(-at, -this.#flushed, text);
      }
      this.#onDisk.exec('COMMIT');
      this.#held = [];
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new StorageError(`the entries cannot be sorted in the temporary folder (${why})`, { cause });
    }
  }
}

/** Undefined where errand was installed without SQLite, so that memory holds all. */
function temporary(): Sqlite | undefined {
  try {
    const database = new (loadSqlite())('');
    database.exec(
      'PRAGMA journal_mode = OFF; CREATE TABLE texts (time INTEGER, place INTEGER, text TEXT, PRIMARY KEY (time, place)) WITHOUT ROWID',
    );
    return database;
  } catch {
    return undefined;
  }
}
