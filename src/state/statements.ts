import { storageError } from './database.ts';
import type { Sqlite } from './sqlite.ts';

export type SqlValue = string | number | null;

/** Statements on one database file; a failed one is told with the file and the remedy. */
export class Statements {
  readonly #file: string;
  readonly #database: Sqlite;

  constructor(file: string, database: Sqlite) {
    this.#file = file;
    this.#database = database;
  }

  /** @throws StorageError. */
  run(sql: string, ...values: SqlValue[]): void {
    this.#told(() => this.#database.prepare(sql).run(...values));
  }

  /** @throws StorageError. */
  all(sql: string, ...values: SqlValue[]): Record<string, unknown>[] {
    return this.#told(() =>
      this.#database
        .prepare(sql)
        .all(...values)
        .map((row) => ({ ...(row as object) })),
    );
  }

  /** All or nothing, and nobody else in between. */
  transaction<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      // A full disk may have rolled back already; the first error is the one to tell.
      try {
        this.#database.exec('ROLLBACK');
      } catch {}
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #told<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storageError(this.#file, cause);
    }
  }
}
