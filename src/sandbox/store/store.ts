import type { Waiting } from '../../platform/async.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import { checkPrivateFile, type Tell } from '../../platform/private-files.ts';
import type { Database, SqlValue, StoredRow, Synchronous } from '../../platform/sqlite/database.ts';
import { DatabaseError, databaseError } from '../../platform/sqlite/database-error.ts';
import { openDatabase } from '../../platform/sqlite/open.ts';
import { migrations } from './migrations.ts';

export type { StoredRow } from '../../platform/sqlite/database.ts';

/** Beside a store stands the key that its secrets are sealed with. */
export const keyFileOf = (file: string): string => `${file}.key`;

/** All that a store is made of, and what stands beside it. */
export const filesOf = (file: string): string[] => [
  ...['', '-wal', '-shm'].map((suffix) => file + suffix),
  keyFileOf(file),
];

const mostCached = 10_000;

export interface StoreOptions {
  /** Receives the file if it was open to others and is not any more. */
  readonly tell?: Tell | undefined;
  readonly waiting?: Waiting | undefined;
  /** Opens a copy of a file that cannot be written: whatever is written to it is lost. */
  readonly readsCopy?: boolean | undefined;
}

interface Grouped {
  /** Does the work; the function given back reports it once it is durable. */
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** Why a group is undone and run again. */
const halfDone = new Error('a part of a group failed after it had written');

/**
 * SQLite shared by several processes; every commit is on disk before it resolves.
 * Every method throws DatabaseError where the file is to blame (full disk, read-only, held by another process).
 */
export class Store {
  readonly #database: Database;
  readonly #cache = new Map<string, unknown>();
  /** What is kept while the rest of the store changes. */
  readonly #lasting = new Map<string, unknown>();
  /** How often anything was written. */
  #writes = 0;
  #waiting: Grouped[] = [];
  /** The groups that were begun, one after the other. */
  #groups: Promise<void> = Promise.resolve();
  /** What the cache holds true for: the last change of another connection, and this one's own. */
  #cachedVersion: unknown;
  #isCacheChecked = false;

  private constructor(database: Database) {
    this.#database = database;
  }

  /** @param file path, or `:memory:`. @throws DatabaseError where it cannot be opened or written. */
  static async open(
    file: string,
    { tell = () => {}, waiting = {}, readsCopy = false }: StoreOptions = {},
  ): Promise<Store> {
    try {
      if (file !== ':memory:') checkPrivateFile(keyFileOf(file), tell);
    } catch (cause) {
      throw databaseError(file, cause) ?? cause;
    }
    const unwritable = readsCopy ? { unwritable: 'scratch' as const } : {};
    return new Store(await openDatabase(file, { migrations, tell, waiting, ...unwritable }));
  }

  get file(): string {
    return this.#database.file;
  }

  /** Why this is a copy that is lost once it is closed; undefined where it is the store itself. */
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

  /** Writes, within a transaction. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    this.#noteWrite();
    return this.#database.run(sql, ...values.map(whole));
  }

  /** As `get`, of a statement that writes and gives back what it wrote. */
  returning(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    this.#noteWrite();
    return this.#database.returning(sql, ...values.map(whole));
  }

  /** What SQLite does in no transaction. */
  perform(sql: string, ...values: SqlValue[]): Promise<void> {
    return this.#database.perform(sql, ...values);
  }

  /** What `load` reads in this store, kept until anyone changes the store. @param name of what is read. */
  cached<T>(name: string, load: () => T): T {
    if (!this.#isCacheChecked) this.#checkCache();
    if (!this.#cache.has(name)) this.#cache.set(name, load());
    return this.#cache.get(name) as T;
  }

  /** As `cached`, of what only `forget` and other processes change. */
  lasting<T>(name: string, load: () => T): T {
    if (!this.#isCacheChecked) this.#checkCache();
    if (!this.#lasting.has(name)) this.#lasting.set(name, load());
    return this.#lasting.get(name) as T;
  }

  /** Before anything changes that is kept as lasting. */
  forget(): void {
    this.#lasting.clear();
  }

  /** Runs `work` in one transaction, durable when this resolves. */
  transaction<T>(work: () => T, ...check: Synchronous<T>): Promise<T> {
    return this.#kept(this.#database.transaction(() => this.#uncached(work), ...check));
  }

  /** As `transaction`, for what comes of the store and the time alone: it is not waited for until it is on disk. */
  derived<T>(work: () => T, ...check: Synchronous<T>): Promise<T> {
    return this.#kept(this.#database.derived(() => this.#uncached(work), ...check));
  }

  /** Within a transaction: runs `work` so that nothing of it stays if it throws, and the rest can go on. */
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
   * Runs `work` in a transaction that it shares with others requested in the same moment, so that they wait for the disk
   * once. Resolves when it is durable; what it throws undoes its own work alone. @param work may be run again where it was
   * undone.
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

  /** A fact of the store itself: its seed, the clock's offset. */
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

  /** What was requested is written first. */
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
      for (const tell of done) tell();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  /**
   * Runs a group without savepoints, each of which costs as much as a small piece of work: what fails has nearly always
   * written nothing yet.
   * @returns undefined where one had, so that all were undone.
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
      // Of the file's own trouble nothing of the group is kept.
      if (error instanceof DatabaseError) throw error;
      if (!isApart && this.#writes !== before) throw halfDone;
      return () => reject(error);
    }
  }

  /** Of what was undone nothing is known any more. */
  async #kept<T>(transaction: Promise<T>): Promise<T> {
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

  /** Until the transaction had begun another process may have changed the store. */
  #uncached<T>(work: () => T): T {
    this.#isCacheChecked = false;
    try {
      return work();
    } finally {
      this.#cache.clear();
    }
  }

  /** Once for all that runs in one turn: another process may have changed the store since the last. */
  #checkCache(): void {
    const version = this.get('PRAGMA data_version')?.data_version;
    if (version !== this.#cachedVersion || this.#cache.size + this.#lasting.size > mostCached) {
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

/** What SQLite would cut short (at NUL) or merge (surrogates without their other half) is kept as JSON writes it. */
const whole = (value: SqlValue): SqlValue =>
  typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())
    ? JSON.stringify(value)
    : value;
