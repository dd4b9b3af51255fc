import type { Waiting } from '../../platform/async.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import { checkPrivateFile, type Warn } from '../../platform/private-files.ts';
import type { Database, SqlValue, StoredRow, Synchronous } from '../../platform/sqlite/database.ts';
import { DatabaseError, databaseError } from '../../platform/sqlite/database-error.ts';
import { openDatabase } from '../../platform/sqlite/open.ts';
import { migrations } from './migrations.ts';

export type { StoredRow } from '../../platform/sqlite/database.ts';

/** Path of the file with the key that encrypts a store's secrets. The file is next to the store. */
export const keyFileOf = (file: string): string => `${file}.key`;

/** All files of a store, including its key. */
export const filesOf = (file: string): string[] => [
  ...['', '-wal', '-shm'].map((suffix) => file + suffix),
  keyFileOf(file),
];

const maxCached = 10_000;

export interface StoreOptions {
  /**
   * Called with the path of a file if other users could access the file and its permissions were therefore tightened.
   */
  readonly warn?: Warn | undefined;
  readonly waiting?: Waiting | undefined;
  /** Whether to open a copy if the file is not writable. Writes to the copy are lost. */
  readonly readsCopy?: boolean | undefined;
}

interface Grouped {
  /** Performs the write. Call the returned function once the write is durable; it reports the result. */
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Signals that a group must be rolled back and run again. */
const halfDone = new Error('a part of a group failed after it had written');

/**
 * SQLite store shared by several processes. A commit is on disk before its promise resolves, except in an
 * `unsyncedTransaction`. Every method throws DatabaseError for file problems (disk full, read-only, locked by another
 * process).
 */
export class Store {
  readonly #database: Database;
  readonly #cache = new Map<string, unknown>();
  /** Cache entries that survive changes to the rest of the store. */
  readonly #lasting = new Map<string, unknown>();
  /** Number of writes so far. */
  #writes = 0;
  #waiting: Grouped[] = [];
  /** Serializes the groups in progress. */
  #groups: Promise<void> = Promise.resolve();
  /**
   * The version of the store for which the cache is valid. It combines the last change made by another connection with
   * the last change made by this connection.
   */
  #cachedVersion: unknown;
  #isCacheChecked = false;
  #generation = 0;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @param file path, or `:memory:`. @throws DatabaseError if the file cannot be opened or written. */
  static async open(
    file: string,
    { warn = () => {}, waiting = {}, readsCopy = false }: StoreOptions = {},
  ): Promise<Store> {
    try {
      if (file !== ':memory:') checkPrivateFile(keyFileOf(file), warn);
    } catch (cause) {
      throw databaseError(file, cause) ?? cause;
    }
    const unwritable = readsCopy ? { unwritable: 'scratch' as const } : {};
    return new Store(await openDatabase(file, { migrations, warn, waiting, ...unwritable }));
  }

  get file(): string {
    return this.#database.file;
  }

  /**
   * Why this store is only a temporary copy, which is lost when the store is closed; undefined if this store is the
   * original.
   */
  get unwritable(): unknown {
    return this.#database.unwritable;
  }

  get isInTransaction(): boolean {
    return this.#database.isInTransaction;
  }

  get(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    return this.#database.get(sql, ...values.map(whole));
  }

  all(sql: string, ...values: SqlValue[]): StoredRow[] {
    return this.#database.all(sql, ...values.map(whole));
  }

  /** Runs a write; must be called in a transaction. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    this.#noteWrite();
    return this.#database.run(sql, ...values.map(whole));
  }

  /** Like `get`, for a write with a RETURNING clause. */
  returning(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    this.#noteWrite();
    return this.#database.returning(sql, ...values.map(whole));
  }

  /** Runs a statement that SQLite does not allow in a transaction. */
  perform(sql: string, ...values: SqlValue[]): Promise<void> {
    return this.#database.perform(sql, ...values);
  }

  /** Caches the result of `load` until anyone changes the store. @param name cache key. */
  cached<T>(name: string, load: () => T): T {
    if (!this.#isCacheChecked) this.#checkCache();
    if (!this.#cache.has(name)) this.#cache.set(name, load());
    return this.#cache.get(name) as T;
  }

  /**
   * Like `cached`, but writes of this process do not clear the value. The value stays cached until `forget` is called.
   * Use it for values that change only after a call of `forget`, or through other processes.
   */
  lasting<T>(name: string, load: () => T): T {
    if (!this.#isCacheChecked) this.#checkCache();
    if (!this.#lasting.has(name)) this.#lasting.set(name, load());
    return this.#lasting.get(name) as T;
  }

  /** Clears the lasting cache. Call it before changing anything that the cache holds. */
  forget(): void {
    this.#lasting.clear();
  }

  /** Runs `work` in one transaction. Resolves once the transaction is durable. */
  transaction<T>(work: () => T, ...check: Synchronous<T>): Promise<T> {
    return this.#clearCacheOnFailure(this.#database.transaction(() => this.#uncached(work), ...check));
  }

  /**
   * Like `transaction`, but resolves without waiting for fsync. Use it for results that can be derived again from the
   * store and the time.
   */
  unsyncedTransaction<T>(work: () => T, ...check: Synchronous<T>): Promise<T> {
    return this.#clearCacheOnFailure(
      this.#database.unsyncedTransaction(() => this.#uncached(work), ...check),
    );
  }

  /**
   * Runs `work` in a savepoint of the current transaction. If `work` throws, its changes are rolled back and the
   * transaction can continue.
   */
  attempt<T>(work: () => T, ...check: Synchronous<T>): T {
    try {
      return this.#database.savepoint(work, ...check);
    } catch (error) {
      this.#cache.clear();
      this.#lasting.clear();
      throw error;
    }
  }

  /**
   * Runs `work` in a transaction that is shared with other calls made at the same moment. All these calls need only one
   * fsync. Resolves once the transaction is durable. If `work` throws, only its own changes are rolled back. @param
   * work may run again after a rollback.
   */
  grouped<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        run: () => {
          const value = work();
          return () => resolve(value);
        },
        reject,
      });
      if (this.#waiting.length === 1) setImmediate(() => this.#runGroup());
    });
  }

  /** A stored fact about the store itself, such as its seed or the clock offset. */
  meta(name: string): string | undefined {
    return this.lasting(`meta ${name}`, () => {
      const value = this.get('SELECT value FROM meta WHERE name = ?', name)?.value;
      return value === undefined ? undefined : String(value);
    });
  }

  setMeta(name: string, value: string): void {
    this.forget();
    this.run(
      'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      name,
      value,
    );
  }

  deleteMeta(name: string): void {
    this.forget();
    this.run('DELETE FROM meta WHERE name = ?', name);
  }

  /** Increases whenever this process empties the store or replaces its contents. */
  get generation(): number {
    return this.#generation;
  }

  noteReplaced(): void {
    this.#generation += 1;
    this.forget();
  }

  /** Closes the store after writing pending groups. */
  async close(): Promise<void> {
    await this.#runGroup();
    this.#database.close();
  }

  #runGroup(): Promise<void> {
    this.#groups = this.#groups.then(() => this.#writeGroup());
    return this.#groups;
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting;
    this.#waiting = [];
    if (group.length === 0) return;
    try {
      const apart = () => this.transaction(() => group.map((one) => this.#tried(one, true)));
      const done = (await this.#together(group)) ?? (await apart());
      for (const warn of done) warn();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /**
   * Runs a group without savepoints. A savepoint costs as much as a small write. Savepoints are rarely needed, because
   * work that fails has usually written nothing before.
   * @returns undefined if failed work had written something, so that the whole group was rolled back.
   */
  async #together(group: readonly Grouped[]): Promise<(() => void)[] | undefined> {
    try {
      return await this.transaction(() => group.map((one) => this.#tried(one, false)));
    } catch (error) {
      if (error === halfDone) return undefined;
      throw error;
    }
  }

  #tried({ run, reject }: Grouped, isApart: boolean): () => void {
    const before = this.#writes;
    try {
      return isApart ? this.attempt(run) : run();
    } catch (error) {
      // A storage error rolls back the whole group.
      if (error instanceof DatabaseError) throw error;
      if (!isApart && this.#writes !== before) throw halfDone;
      return () => reject(error);
    }
  }

  /** Clears the lasting cache if the transaction fails, because a rollback invalidates the cache. */
  async #clearCacheOnFailure<T>(transaction: Promise<T>): Promise<T> {
    try {
      return await transaction;
    } catch (error) {
      this.#lasting.clear();
      throw error;
    }
  }

  #noteWrite(): void {
    this.#writes += 1;
    this.#cache.clear();
  }

  /** Runs `work` without the cache, because another process may have changed the store before the transaction began. */
  #uncached<T>(work: () => T): T {
    this.#isCacheChecked = false;
    try {
      return work();
    } finally {
      this.#cache.clear();
    }
  }

  /** Checks once per event-loop turn whether another process has changed the store. */
  #checkCache(): void {
    const version = this.get('PRAGMA data_version')?.data_version;
    if (version !== this.#cachedVersion || this.#cache.size + this.#lasting.size > maxCached) {
      this.#cache.clear();
      this.#lasting.clear();
    }
    this.#cachedVersion = version;
    this.#isCacheChecked = true;
    setImmediate(() => {
      this.#isCacheChecked = false;
    });
  }
}

/** JSON-escapes a string that SQLite would truncate (at NUL) or alter (lone surrogates). */
const whole = (value: SqlValue): SqlValue =>
  typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    ? JSON.stringify(value)
    : value;
