import { retryWhile, type Waiting } from '../async.ts';
import { systemClock } from '../clock.ts';
import { Patience } from '../poll.ts';
import type { Tell } from '../private-files.ts';
import { DatabaseError, databaseError, isBusy, isOfSqlite } from './database-error.ts';
import type { Sqlite, Statement } from './load.ts';

export type SqlValue = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/** What is read where several machines share a database: what is new, unless that was asked a moment ago; what is new, now; all of it. */
export type Freshness = 'lately' | 'now' | 'anew';

/** A step from one schema to the next: SQL, or what SQL alone cannot do. */
export type Migration = string | ((database: Database) => void);

export interface DatabaseOptions {
  /** Run in order, once each. */
  readonly migrations: readonly Migration[];
  readonly waiting?: Waiting;
  /** Called before an empty database gets its first tables; what it throws is why it may not be empty. */
  readonly beforeFirst?: () => void;
  /** Called where the file was open to others and is not any more. */
  readonly tell?: Tell;
  /** Makes what is thrown of a failure; without it, a DatabaseError where the file is to blame. */
  readonly explain?: (error: unknown) => unknown;
  /**
   * What becomes of a file that can be read and not written. Without this it is refused; else a copy is opened that is
   * gone once it is closed: `refuse` refuses to write to it, `scratch` lets it be written to, and all of that is lost.
   */
  readonly unwritable?: 'refuse' | 'scratch';
}

/** What is done under a lock is synchronous: a promise that it returned would outlive the lock. */
export type Synchronous<T> = [T] extends [never] ? [] : T extends PromiseLike<unknown> ? [never] : [];

/** Longest that a read waits while another process puts the file in order, ms. No signal is heard meanwhile. */
const readPatienceMs = 200;

/** How long a database is left alone whose file system grants no locks, ms. */
const restMs = 60_000;

/**
 * A SQLite database that several processes share: WAL, and every commit is on disk before it resolves. Only taking the
 * lock may have to be waited for, so that alone is asynchronous: what is done under the lock is synchronous and short.
 */
export class Database {
  readonly file: string;
  /** Why this is only a copy of the file, as it would have been thrown; undefined where it is the file itself. */
  readonly unwritable: unknown;
  /** How it waits for its lock. */
  readonly waiting: Waiting;
  readonly #sqlite: Sqlite;
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, Statement>();
  #isInTransaction = false;
  #rest: { readonly untilMs: number; readonly error: unknown } | undefined;

  /** `openDatabase` makes one, and prepares it. */
  constructor(file: string, sqlite: Sqlite, options: DatabaseOptions, unwritable?: unknown) {
    this.file = file;
    this.unwritable = unwritable;
    this.waiting = { patience: new Patience(), ...options.waiting, lock: file };
    this.#sqlite = sqlite;
    this.#options = options;
  }

  get isInTransaction(): boolean {
    return this.#isInTransaction;
  }

  get(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    const row = this.#read(() => this.#statement(sql).get(...values));
    return isRow(row) ? row : undefined;
  }

  all(sql: string, ...values: SqlValue[]): StoredRow[] {
    return this.#read(() => this.#statement(sql).all(...values)).filter(isRow);
  }

  /** Writes; within a transaction alone, since nothing waits for the lock here. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    if (!this.#isInTransaction) throw new Error(`outside of a transaction: ${sql}`);
    const { changes, lastInsertRowid } = this.#guarded(() => this.#statement(sql).run(...values));
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  /** As `get`, of a statement that writes and gives back what it wrote. */
  returning(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    if (!this.#isInTransaction) throw new Error(`outside of a transaction: ${sql}`);
    return this.get(sql, ...values);
  }

  /** What SQLite does in no transaction, such as VACUUM; waits for the lock. */
  async perform(sql: string, ...values: SqlValue[]): Promise<void> {
    await this.#waited(() => this.#sqlite.prepare(sql).run(...values));
  }

  /** All or nothing, nobody else in between, and durable once this resolves. @param work may be run again where it was undone. */
  transaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#waited(() => this.#attempt(work));
  }

  /**
   * As `transaction`, for work that follows from the database and the time alone: it is not on disk at once, because
   * after a loss of power the same comes of it again.
   */
  derived<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#waited(() => {
      this.#sqlite.exec('PRAGMA synchronous = NORMAL');
      try {
        return this.#attempt(work);
      } finally {
        this.#sqlite.exec('PRAGMA synchronous = FULL');
      }
    });
  }

  /** Within a transaction: nothing of `work` stays if it throws, and the rest can go on. */
  savepoint<T>(work: () => T, ..._: Synchronous<T>): T {
    this.#guarded(() => this.#sqlite.exec('SAVEPOINT attempt'));
    try {
      const result = work();
      this.#guarded(() => this.#sqlite.exec('RELEASE attempt'));
      return result;
    } catch (error) {
      this.#undo('ROLLBACK TO attempt; RELEASE attempt');
      throw error;
    }
  }

  /** The lease that stands for this process where several machines share what is written; undefined on one machine. */
  get lease(): string | undefined {
    return undefined;
  }

  /** Where several machines share it: what they have written since is read. On one machine there is nothing to do. */
  async refresh(_when?: Freshness): Promise<void> {}

  close(): void | Promise<void> {
    this.#statements.clear();
    this.#sqlite.close();
  }

  /** Settings, then the migrations that the file has not had. Every step can be done again. @throws as SQLite does. */
  prepare(): void {
    this.configure();
    const latest = this.#options.migrations.length;
    if (this.version() > latest) throw new DatabaseError(this.file, 'newer', 'a newer errand has changed it');
    if (this.version() < latest) this.#attempt(() => this.migrate());
  }

  protected configure(): void {
    this.#sqlite.exec('PRAGMA busy_timeout = 0');
    this.#sqlite.exec('PRAGMA journal_mode = WAL');
    this.#sqlite.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  }

  /** How many migrations the file has had. */
  protected version(): number {
    const row: unknown = this.#sqlite.prepare('PRAGMA user_version').get();
    return isRow(row) ? Number(row.user_version) : 0;
  }

  /** Within a transaction. Another process may have been faster. */
  protected migrate(): void {
    const { migrations, beforeFirst } = this.#options;
    if (this.version() === 0) beforeFirst?.();
    for (const migration of migrations.slice(this.version())) {
      if (typeof migration === 'string') this.execute(migration);
      else migration(this);
    }
    this.execute(`PRAGMA user_version = ${migrations.length}`);
  }

  /** Statements of ours without values, one or several. */
  protected execute(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** A transaction that is tried once, for what is prepared before anybody waits. */
  protected attempt<T>(work: () => T): T {
    return this.#attempt(work);
  }

  /** EXCLUSIVE is the same as IMMEDIATE where there is a WAL; elsewhere no wait is left for the COMMIT. */
  #attempt<T>(work: () => T): T {
    if (this.#isInTransaction) throw new Error('a transaction within a transaction');
    this.#sqlite.exec('BEGIN EXCLUSIVE');
    this.#isInTransaction = true;
    try {
      const result = work();
      this.#sqlite.exec('COMMIT');
      return result;
    } catch (error) {
      this.#undo('ROLLBACK');
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** A full disk may have rolled back already; the first error is the one to report. */
  #undo(sql: string): void {
    try {
      this.#sqlite.exec(sql);
    } catch {}
  }

  async #waited<T>(attempt: () => T): Promise<T> {
    if (this.unwritable !== undefined && this.#options.unwritable === 'refuse') throw this.unwritable;
    this.#checkRest();
    try {
      return await retryWhile(isBusy, attempt, this.waiting);
    } catch (cause) {
      throw this.#explained(cause);
    }
  }

  /** An open WAL is held from being taken away, so that a read waits for nothing but a process that recovers it. */
  #read<T>(work: () => T): T {
    return this.#guarded(() => {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || this.#isInTransaction) throw error;
      }
      this.#sqlite.exec(`PRAGMA busy_timeout = ${readPatienceMs}`);
      try {
        return work();
      } finally {
        this.#sqlite.exec('PRAGMA busy_timeout = 0');
      }
    });
  }

  #guarded<T>(work: () => T): T {
    this.#checkRest();
    try {
      return work();
    } catch (cause) {
      throw this.#explained(cause);
    }
  }

  /** What the work itself has thrown is none of the database's business. */
  #explained(cause: unknown): unknown {
    const { explain = (error: unknown) => error } = this.#options;
    const error = databaseError(this.file, cause) ?? (isOfSqlite(cause) ? cause : undefined);
    if (error === undefined) return cause;
    const explained = explain(error);
    if (error instanceof DatabaseError && error.trouble === 'unlockable')
      this.#rest = { untilMs: this.#monotonic() + restMs, error: explained };
    return explained;
  }

  /** Before SQLite gives up on the locks it sleeps for ten seconds, deaf to every signal: once is enough. */
  #checkRest(): void {
    if (this.#rest && this.#monotonic() < this.#rest.untilMs) throw this.#rest.error;
  }

  #monotonic(): number {
    return (this.waiting.clock ?? systemClock).monotonic();
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const prepared = this.#sqlite.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

const isRow = (row: unknown): row is StoredRow => typeof row === 'object' && row !== null;
