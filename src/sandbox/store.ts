import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { migrations } from './migrations.ts';
import { loadSqlite, type Sqlite, type Statement } from './sqlite.ts';

type Value = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/** The sandbox's store cannot be used; the message names the file. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** SQLite shared by several processes; every commit is on disk before the call returns. */
export class Store {
  readonly database: Sqlite;
  readonly file: string;
  readonly #statements = new Map<string, Statement>();
  #depth = 0;

  private constructor(database: Sqlite, file: string) {
    this.database = database;
    this.file = file;
  }

  /** @param file path, or `:memory:`. @throws StoreError where it cannot be opened or written. */
  static async open(file: string): Promise<Store> {
    const Database = await loadSqlite();
    let database: Sqlite | undefined;
    try {
      if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      database = new Database(file);
      if (file !== ':memory:') chmodSync(file, 0o600);
      database.exec(
        'PRAGMA busy_timeout = 15000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
      );
      const store = new Store(database, file);
      store.#migrate();
      return store;
    } catch (cause) {
      database?.close();
      throw storeError(file, cause);
    }
  }

  get(sql: string, ...values: Value[]): StoredRow | undefined {
    const row: unknown = this.#statement(sql).get(...values);
    return typeof row === 'object' && row !== null ? { ...row } : undefined;
  }

  all(sql: string, ...values: Value[]): StoredRow[] {
    return this.#statement(sql)
      .all(...values)
      .map((row: object) => ({ ...row }));
  }

  run(sql: string, ...values: Value[]): { changes: number; lastId: number } {
    const { changes, lastInsertRowid } = this.#statement(sql).run(...values);
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  /** Runs `work` in one transaction, durable when this returns; nested calls join the outer one. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.database.exec('BEGIN IMMEDIATE');
    this.#depth += 1;
    try {
      const result = work();
      this.database.exec('COMMIT');
      return result;
    } catch (error) {
      // A full disk may have rolled back already; the first error is the one to tell.
      try {
        this.database.exec('ROLLBACK');
      } catch {}
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /** A fact of the store itself: its seed, the clock's offset. */
  meta(name: string): string | undefined {
    const value = this.get('SELECT value FROM meta WHERE name = ?', name)?.value;
    return value === undefined ? undefined : String(value);
  }

  setMeta(name: string, value: string): void {
    this.run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const prepared = this.database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }

  #migrate(): void {
    const version = () => Number(this.get('PRAGMA user_version')?.user_version);
    if (version() >= migrations.length) return;
    this.transaction(() => {
      for (const migration of migrations.slice(version())) this.database.exec(migration);
      this.database.exec(`PRAGMA user_version = ${migrations.length}`);
    });
  }
}

function storeError(file: string, cause: unknown): StoreError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(`the sandbox's data ${file} cannot be used (${message})`, { cause });
}
