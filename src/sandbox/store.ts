import { checkPrivateFile, makePrivateDatabase, type Tell } from '../private-files.ts';
import { loadSqlite, type Sqlite, type Statement } from '../sqlite/load.ts';
import { migrations } from './migrations.ts';
import { patiently } from './patiently.ts';
import { openTrouble, StoreError, storeTrouble } from './store-error.ts';

export { StoreError } from './store-error.ts';

type Value = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/** Beside a store stands the key that its secrets are sealed with. */
export const keyFileOf = (file: string): string => `${file}.key`;

const mostCached = 10_000;

interface Waiting {
  /** Does the work; the function given back tells of it once it is durable. */
  run(): () => void;
  reject(error: unknown): void;
}

/**
 * SQLite shared by several processes; every commit is on disk before the call returns.
 * Every method throws StoreError where the file is to blame (full disk, read-only, held by another process).
 */
export class Store {
  readonly database: Sqlite;
  readonly file: string;
  readonly #statements = new Map<string, Statement>();
  readonly #cache = new Map<string, unknown>();
  #depth = 0;
  #waiting: Waiting[] = [];
  /** What the cache holds true for: the last change of another connection, and this one's own. */
  #cachedVersion: unknown;
  #isCacheChecked = false;

  private constructor(database: Sqlite, file: string) {
    this.database = database;
    this.file = file;
  }

  /**
   * @param file path, or `:memory:`. @param tell is told where the file was open to others and is not any more.
   * @throws StoreError where it cannot be opened or written.
   */
  static async open(file: string, tell: Tell = () => {}): Promise<Store> {
    const Database = loadSqlite();
    let database: Sqlite | undefined;
    try {
      if (file !== ':memory:') {
        makePrivateDatabase(file, tell);
        checkPrivateFile(keyFileOf(file), tell);
      }
      database = new Database(file);
      const opened = database;
      opened.exec('PRAGMA busy_timeout = 15000');
      patiently(() => opened.exec('PRAGMA journal_mode = WAL'));
      opened.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
      const store = new Store(opened, file);
      patiently(() => store.#migrate());
      return store;
    } catch (cause) {
      database?.close();
      throw openTrouble(file, cause);
    }
  }

  get(sql: string, ...values: Value[]): StoredRow | undefined {
    const row: unknown = this.#guarded(() => this.#statement(sql).get(...values.map(whole)));
    return isRow(row) ? row : undefined;
  }

  all(sql: string, ...values: Value[]): StoredRow[] {
    return this.#guarded(() => this.#statement(sql).all(...values.map(whole))).filter(isRow);
  }

  run(sql: string, ...values: Value[]): { changes: number; lastId: number } {
    this.#cache.clear();
    const { changes, lastInsertRowid } = this.#guarded(() => this.#statement(sql).run(...values.map(whole)));
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  /** As `get`, of a statement that writes and gives back what it wrote. */
  returning(sql: string, ...values: Value[]): StoredRow | undefined {
    this.#cache.clear();
    return this.get(sql, ...values);
  }

  /** What `load` reads in this store, kept until anyone changes the store. @param name of what is read. */
  cached<T>(name: string, load: () => T): T {
    if (!this.#isCacheChecked) this.#checkCache();
    if (!this.#cache.has(name)) this.#cache.set(name, load());
    return this.#cache.get(name) as T;
  }

  /** Runs `work` in one transaction, durable when this returns; nested calls join the outer one. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#exec('BEGIN IMMEDIATE');
    // Until it had begun another process may have changed the store.
    this.#isCacheChecked = false;
    this.#depth += 1;
    try {
      const result = work();
      this.#exec('COMMIT');
      this.#cache.clear();
      return result;
    } catch (error) {
      this.#cache.clear();
      // A full disk may have rolled back already; the first error is the one to tell.
      try {
        this.database.exec('ROLLBACK');
      } catch {}
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /**
   * Runs `work` in a transaction that it shares with others asked for in the same moment, so that they wait for the disk
   * once. Resolves when it is durable; what it throws undoes its own work alone.
   */
  grouped<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        run: () => {
          const value = this.attempt(work);
          return () => resolve(value);
        },
        reject,
      });
      if (this.#waiting.length === 1) setImmediate(() => this.#runGroup());
    });
  }

  #runGroup(): void {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    const done: (() => void)[] = [];
    try {
      this.transaction(() => {
        for (const { run, reject } of group) {
          try {
            done.push(run());
          } catch (error) {
            // Of the file's own trouble nothing of the group is kept.
            if (error instanceof StoreError) throw error;
            done.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const tell of done) tell();
  }

  /**
   * As `transaction`, for work that follows from the store and the time alone: it is not waited for until it is on disk,
   * because after a loss of power the same comes of it again.
   */
  derived<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#exec('PRAGMA synchronous = NORMAL');
    try {
      return this.transaction(work);
    } finally {
      this.#exec('PRAGMA synchronous = FULL');
    }
  }

  /** Within a transaction: runs `work` so that nothing of it stays if it throws, and the rest can go on. */
  attempt<T>(work: () => T): T {
    this.#exec('SAVEPOINT attempt');
    try {
      const result = work();
      this.#exec('RELEASE attempt');
      return result;
    } catch (error) {
      this.#cache.clear();
      // A full disk may have rolled the whole transaction back already; the first error is the one to tell.
      try {
        this.database.exec('ROLLBACK TO attempt; RELEASE attempt');
      } catch {}
      throw error;
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
    this.#runGroup();
    this.#statements.clear();
    this.database.close();
  }

  /** Once for all that runs in one turn: another process may have changed the store since the last. */
  #checkCache(): void {
    const version = this.get('PRAGMA data_version')?.data_version;
    if (version !== this.#cachedVersion || this.#cache.size > mostCached) this.#cache.clear();
    this.#cachedVersion = version;
    this.#isCacheChecked = true;
    setImmediate(() => {
      this.#isCacheChecked = false;
    });
  }

  #exec(sql: string): void {
    this.#guarded(() => this.database.exec(sql));
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storeTrouble(this.file, cause) ?? cause;
    }
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
    if (version() > migrations.length) throw new StoreError(this.file, 'a newer errand has changed it');
    if (version() === migrations.length) return;
    this.transaction(() => {
      // Another process may have been faster.
      for (const migration of migrations.slice(version())) this.database.exec(migration);
      this.database.exec(`PRAGMA user_version = ${migrations.length}`);
    });
  }
}

const isRow = (row: unknown): row is StoredRow => typeof row === 'object' && row !== null;

/** What SQLite would cut short (at NUL) or merge (surrogates without their other half) is kept as JSON writes it. */
const whole = (value: Value): Value =>
  typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    ? JSON.stringify(value)
    : value;
