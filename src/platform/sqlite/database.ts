import { retryWhile, type Waiting } from '../async.ts';
import { systemClock } from '../clock.ts';
import { RetryBudget } from '../poll.ts';
import type { Warn } from '../private-files.ts';
import { DatabaseError, databaseError, isBusy, isOfSqlite } from './database-error.ts';
import type { Sqlite, Statement } from './load.ts';

export type SqlValue = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/**
 * How fresh a read of a shared database must be. `lately`: pull changes unless they were pulled moments ago. `now`:
 * pull changes. `anew`: pull everything.
 */
export type Freshness = 'lately' | 'now' | 'anew';

/** A schema migration: SQL, or a function for what SQL alone cannot do. */
export type Migration = string | ((database: Database) => void);

export interface DatabaseOptions {
  /** Run in order, each once. */
  readonly migrations: readonly Migration[];
  /**
   * Indexes in addition to those of the migrations, by name. Opening the file creates the missing ones. They do not
   * change the schema version, so an earlier version of the program can still use the file.
   */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly waiting?: Waiting;
  /** Called before an empty database gets its first tables. Throws if the database must not be empty. */
  readonly beforeFirst?: () => void;
  /** Called after tightening the permissions of a file that others could access. */
  readonly warn?: Warn;
  /** Converts an error before it is thrown. By default, an error caused by the file becomes a DatabaseError. */
  readonly explain?: (error: unknown) => unknown;
  /**
   * How to treat a file that is readable but not writable. By default, opening it fails. With either value, a temporary
   * copy is opened instead: `refuse` rejects writes to the copy, `scratch` accepts and then discards them.
   */
  readonly unwritable?: 'refuse' | 'scratch';
}

/** Rejects asynchronous work at compile time, because a promise would outlive the lock. */
export type Synchronous<T> = [T] extends [never] ? [] : T extends PromiseLike<unknown> ? [never] : [];

/** Maximum time a read waits while another process recovers the file, ms. Signals are not handled meanwhile. */
const readWaitTimeoutMs = 200;

/** How long to wait before trying a database again after its file system has refused locks, ms. */
const restMs = 60_000;

/**
 * A SQLite database shared by several processes. It uses a WAL, and fsyncs every commit before the call resolves. Only
 * waiting for the lock is asynchronous; the work under the lock is synchronous and short.
 */
export class Database {
  readonly file: string;
  /** The error that made a copy necessary; undefined if the file itself is open. */
  readonly unwritable: unknown;
  /** How to wait for the lock. */
  readonly waiting: Waiting;
  readonly #sqlite: Sqlite;
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, Statement>();
  #isInTransaction = false;
  #rest: { readonly untilMs: number; readonly error: unknown } | undefined;

  /** Use `openDatabase`, which also prepares it. */
  constructor(file: string, sqlite: Sqlite, options: DatabaseOptions, unwritable?: unknown) {
    this.file = file;
    this.unwritable = unwritable;
    this.waiting = { retryBudget: new RetryBudget(), ...options.waiting, lock: file };
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

  /** Runs a write. Call it only within a transaction, because it does not wait for the lock. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    if (!this.#isInTransaction) throw new Error(`outside of a transaction: ${sql}`);
    const { changes, lastInsertRowid } = this.#guarded(() => this.#statement(sql).run(...values));
    return { changes: Number(changes), lastId: Number(lastInsertRowid) };
  }

  /** Same as `get`, for a write with a RETURNING clause. */
  returning(sql: string, ...values: SqlValue[]): StoredRow | undefined {
    if (!this.#isInTransaction) throw new Error(`outside of a transaction: ${sql}`);
    return this.get(sql, ...values);
  }

  /** Runs a statement that SQLite allows only outside a transaction, such as VACUUM; waits for the lock. */
  async perform(sql: string, ...values: SqlValue[]): Promise<void> {
    await this.#waited(() => this.#sqlite.prepare(sql).run(...values));
  }

  /**
   * Runs `work` atomically and exclusively. Its writes are durable once the call resolves. @param work may run again
   * after a rollback.
   */
  transaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#waited(() => this.#attempt(work));
  }

  /**
   * Same as `transaction`, for work derived only from the database and the time. The commit is not fsynced, because
   * running the work again after a power cut gives the same result.
   */
  unsyncedTransaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#waited(() => {
      this.#sqlite.exec('PRAGMA synchronous = NORMAL');
      try {
        return this.#attempt(work);
      } finally {
        this.#sqlite.exec('PRAGMA synchronous = FULL');
      }
    });
  }

  /**
   * Same as `unsyncedTransaction`, for tables that are derived from other tables. If the database is shared between
   * machines, these tables are not: each machine writes its own.
   */
  derivedTransaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.unsyncedTransaction(work, ..._);
  }

  /** Runs part of a transaction: if `work` throws, only that part is rolled back. */
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

  /** Identity of a database shared between machines; undefined on a local one. */
  get id(): string | undefined {
    return undefined;
  }

  /** This process's lease on a database shared between machines; undefined on a local one. */
  get lease(): string | undefined {
    return undefined;
  }

  /** On a shared database, pulls other machines' writes. No-op on a local one. */
  async refresh(_when?: Freshness): Promise<void> {}

  close(): void | Promise<void> {
    this.#statements.clear();
    this.#sqlite.close();
  }

  /** Configures the database and runs pending migrations. Every step is idempotent. @throws SQLite errors. */
  prepare(): void {
    this.configure();
    const latest = this.#options.migrations.length;
    if (this.version() > latest) throw new DatabaseError(this.file, 'newer', 'a newer errand has changed it');
    if (this.version() < latest) this.#attempt(() => this.migrate());
    this.index();
  }

  /** Makes the indexes that are missing. */
  protected index(): void {
    const wanted = Object.entries(this.#options.indexes ?? {});
    const count =
      "SELECT count(*) AS found FROM sqlite_master WHERE type = 'index' AND name IN (SELECT value FROM json_each(?))";
    const names = JSON.stringify(wanted.map(([name]) => name));
    if (wanted.length === 0 || this.get(count, names)?.found === wanted.length) return;
    try {
      this.#attempt(() => {
        for (const [name, on] of wanted) this.execute(`CREATE INDEX IF NOT EXISTS ${name} ON ${on}`);
      });
    } catch {
      // Without the index, reads are slower. The next program that opens the file creates it.
    }
  }

  protected configure(): void {
    this.#sqlite.exec('PRAGMA busy_timeout = 0');
    this.#sqlite.exec('PRAGMA journal_mode = WAL');
    this.#sqlite.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  }

  /** Number of migrations already run on the file. */
  protected version(): number {
    const row: unknown = this.#sqlite.prepare('PRAGMA user_version').get();
    return isRow(row) ? Number(row.user_version) : 0;
  }

  /** Runs pending migrations within a transaction. Another process may have run them first. */
  protected migrate(): void {
    const { migrations, beforeFirst } = this.#options;
    if (this.version() === 0) beforeFirst?.();
    for (const migration of migrations.slice(this.version())) {
      if (typeof migration === 'string') this.execute(migration);
      else migration(this);
    }
    this.execute(`PRAGMA user_version = ${migrations.length}`);
  }

  /** Runs one or more trusted statements without parameters. */
  protected execute(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** Tries a transaction once, without waiting for the lock. */
  protected attempt<T>(work: () => T): T {
    return this.#attempt(work);
  }

  /**
   * With a WAL, EXCLUSIVE equals IMMEDIATE. Without a WAL, EXCLUSIVE takes all locks now, so that the COMMIT never
   * waits.
   */
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

  /**
   * Ignores errors of the rollback, because SQLite may have rolled back already when the disk was full. The first error
   * is the one to report.
   */
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

  /** Runs a read. An open WAL is never removed, so a read waits only while another process recovers the WAL. */
  #read<T>(work: () => T): T {
    return this.#guarded(() => {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || this.#isInTransaction) throw error;
      }
      this.#sqlite.exec(`PRAGMA busy_timeout = ${readWaitTimeoutMs}`);
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

  /** Errors thrown by the work itself pass through unchanged. */
  #explained(cause: unknown): unknown {
    const { explain = (error: unknown) => error } = this.#options;
    const error = databaseError(this.file, cause) ?? (isOfSqlite(cause) ? cause : undefined);
    if (error === undefined) return cause;
    const explained = explain(error);
    if (error instanceof DatabaseError && error.problem === 'unlockable')
      this.#rest = { untilMs: this.#monotonic() + restMs, error: explained };
    return explained;
  }

  /** Rethrows a recent lock error, because another attempt would block for ten seconds without handling signals. */
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
