import { retryWhile, type Waiting } from '../async.ts';
import { systemClock } from '../clock.ts';
import { RetryBudget } from '../poll.ts';
import type { Warn } from '../private-files.ts';
import { DatabaseError, databaseError, isBusy, isOfSqlite } from './database-error.ts';
import type { Sqlite, Statement } from './load.ts';

export type SqlValue = string | number | null;
export type StoredRow = Readonly<Record<string, unknown>>;

/**
 * How fresh a read of a shared database must be. `lately`: pull changes, unless this was done moments ago. `now`: pull
 * changes. `anew`: pull everything.
 */
export type Freshness = 'lately' | 'now' | 'anew';

/** A migration of the schema: SQL, or a function for changes that SQL alone cannot make. */
export type Migration = string | ((database: Database) => void);

export interface DatabaseOptions {
  /** Run in order, each once. */
  readonly migrations: readonly Migration[];
  /**
   * Indexes in addition to those of the migrations, keyed by name. When the file is opened, missing ones are created.
   * They do not change the schema version, so an earlier version of the program can still use the file.
   */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly waiting?: Waiting;
  /** Called before an empty database gets its first tables. Throws if the database must not be empty. */
  readonly beforeFirst?: () => void;
  /** Called after the permissions of a file that others could access were tightened. */
  readonly warn?: Warn;
  /** Converts an error before it is thrown. By default, an error that the file has caused becomes a DatabaseError. */
  readonly explain?: (error: unknown) => unknown;
  /**
   * What to do with a file that is readable but not writable. By default, opening the file fails. With either value, a
   * temporary copy is opened instead. `refuse` rejects writes to the copy. `scratch` accepts writes, and discards them
   * later.
   */
  readonly unwritable?: 'refuse' | 'scratch';
}

/** Rejects asynchronous work at compile time, because the work would continue after the lock is released. */
export type Synchronous<T> = [T] extends [never] ? [] : T extends PromiseLike<unknown> ? [never] : [];

/**
 * Maximum time, in ms, for which a read waits while another process recovers the file. Signals are not handled during
 * this time.
 */
const readWaitTimeoutMs = 200;

/** How long to wait before the next attempt, in ms, if the file system of a database has refused locks. */
const restMs = 60_000;

/**
 * A SQLite database that several processes share. It uses a WAL, and each commit is fsynced before the call resolves.
 * Only the wait for the lock is asynchronous. The work under the lock is synchronous and short.
 */
export class Database {
  readonly file: string;
  /** The error because of which a copy is used. Undefined if the file itself is open. */
  readonly unwritable: unknown;
  /** How to wait for the lock. */
  readonly waiting: Waiting;
  readonly #sqlite: Sqlite;
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, Statement>();
  #isInTransaction = false;
  #rest: { readonly untilMs: number; readonly error: unknown } | undefined;

  /** Do not call this directly, but use `openDatabase`, which also prepares the database. */
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

  /** Runs a write. Must be called only within a transaction, because it does not wait for the lock. */
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

  /** Waits for the lock, and runs a statement that SQLite allows only outside a transaction, such as VACUUM. */
  async perform(sql: string, ...values: SqlValue[]): Promise<void> {
    await this.#waited(() => this.#sqlite.prepare(sql).run(...values));
  }

  /**
   * Runs `work` atomically and exclusively. Its writes are durable once the call resolves.
   * @param work may run again after a rollback.
   */
  transaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#waited(() => this.#attempt(work));
  }

  /**
   * Same as `transaction`, but the commit is not fsynced. For work that depends only on the database and the time.
   * After a power cut, running such work again gives the same result.
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
   * Same as `unsyncedTransaction`, but for tables that are derived from other tables. If machines share the database,
   * they do not share these tables. Each machine writes its own.
   */
  derivedTransaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.unsyncedTransaction(work, ..._);
  }

  /** Runs part of a transaction. If `work` throws, only that part is rolled back. */
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

  /** Identity of a database that machines share. Undefined for a local database. */
  get id(): string | undefined {
    return undefined;
  }

  /** This process's lease on a database that machines share. Undefined for a local database. */
  get lease(): string | undefined {
    return undefined;
  }

  /** Pulls the writes of other machines if the database is shared. Does nothing for a local database. */
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
      // Continue without the index, which only makes reads slower. The next program that opens the file tries again.
    }
  }

  protected configure(): void {
    this.#sqlite.exec('PRAGMA busy_timeout = 0');
    this.#sqlite.exec('PRAGMA journal_mode = WAL');
    this.#sqlite.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  }

  /** Number of migrations that were already run on the file. */
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

  /** Runs one or more trusted statements, which have no parameters. */
  protected execute(sql: string): void {
    this.#sqlite.exec(sql);
  }

  /** Tries a transaction once, without waiting for the lock. */
  protected attempt<T>(work: () => T): T {
    return this.#attempt(work);
  }

  /**
   * With a WAL, EXCLUSIVE is the same as IMMEDIATE. Without a WAL, EXCLUSIVE takes all locks now, so that the COMMIT
   * never has to wait.
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
   * Rolls back, and ignores any error of the rollback. SQLite may already have rolled back, for example when the disk
   * was full. The first error is the one to report.
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

  /**
   * Runs a read. Since an open WAL is never removed, the read has to wait only while another process recovers the WAL.
   */
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

  /**
   * Throws a recent lock error again. Another attempt would block for ten seconds, during which signals are not
   * handled.
   */
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
