import { dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import { StorageError } from '../../errors.ts';
import { Database, type DatabaseOptions, type Synchronous } from '../../sqlite/database.ts';
import type { Sqlite } from '../../sqlite/load.ts';
import { keepBook } from '../owner.ts';
import { ConnectionLost, newId } from './connect.ts';
import {
  allRows,
  applyChange,
  applyPulled,
  copyState,
  type Pulled,
  touchedRows,
  watchSql,
  writeCopyState,
} from './copy.ts';
import { Leases } from './leases.ts';
import { OvertakenError, type Remote } from './remote.ts';
import type { Mirror } from './tables.ts';
import { isDamage, result, type Tried } from './tried.ts';

export interface SharedOptions extends DatabaseOptions {
  readonly remote: Remote;
  readonly mirror: Mirror;
  readonly clock: Clock;
  /** The longest that a request may take, ms. */
  readonly longestRequestMs?: number;
}

/** For so long what was read last is taken as it was, ms. */
const freshMs = 3000;

/** Nobody knows whether what was committed last is in the database. */
export class UnsettledCommit extends ConnectionLost {}

/**
 * A database that several machines share, in PostgreSQL. This machine has a copy of it in a SQLite file, on which reads and
 * the work of a transaction run; what the work has changed is then committed in PostgreSQL, if nobody else was there in
 * between, and only then in the copy. So what is committed follows from what was there, and a copy may be lost at any time.
 * A transaction costs one round trip; where another was faster, three.
 */
export class SharedDatabase extends Database {
  readonly leases: Leases;
  readonly #remote: Remote;
  readonly #options: SharedOptions;
  readonly #forgetBook: () => void;
  #last: Promise<unknown> = Promise.resolve();
  #hasLease = false;
  #pulledAt = Number.NEGATIVE_INFINITY;

  constructor(file: string, sqlite: Sqlite, options: SharedOptions, unwritable?: unknown) {
    super(file, sqlite, options, unwritable);
    this.#options = options;
    this.#remote = options.remote;
    this.leases = new Leases(this, options.clock);
    if (options.longestRequestMs !== undefined) this.leases.expectRequests(options.longestRequestMs);
    this.#forgetBook = keepBook(this.leases);
  }

  override get lease(): string {
    return this.leases.id;
  }

  /** A copy of another version is begun anew: what it holds is in the database. */
  override prepare(): void {
    this.configure();
    this.execute('PRAGMA synchronous = NORMAL');
    if (this.version() !== this.#options.migrations.length) this.attempt(() => this.#beginAnew());
    this.execute(watchSql(this.#options.mirror));
  }

  /** Reads what has changed; where nothing was ever written, writes what a new journal holds. @throws StorageError. */
  catchUp(): Promise<void> {
    // Where it fails, it is not tried again at once.
    this.#pulledAt = this.#options.clock.monotonic();
    return this.#serially(async () => {
      const { head } = await this.#apply(await this.#remote.pull(this.#seq()));
      if (head.seq === 0) await this.#begin();
    });
  }

  /** @param isAnew all of it is read, whatever the copy holds; else only what is new, and not more often than it is worth. @throws StorageError. */
  override async refresh(isAnew = false): Promise<void> {
    if (isAnew) await this.#serially(() => this.#readAnew());
    else if (this.#options.clock.monotonic() - this.#pulledAt > freshMs) await this.catchUp();
  }

  override transaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#serially(() => this.#commit(work));
  }

  override derived<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#serially(() => this.#commit(work));
  }

  /** The lease ends with it, so that nobody need wait for that. */
  override async close(): Promise<void> {
    await this.#last;
    if (this.#hasLease) await this.#remote.endLease(this.lease);
    this.#forgetBook();
    this.#remote.close();
    super.close();
  }

  /** One after the other: there is one connection. */
  #serially<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  async #commit<T>(work: () => T): Promise<T> {
    const turn = newId();
    const seq = this.#seq();
    const tried = await this.#try(work, turn);
    if (tried.changes.length === 0) {
      // What came of it holds if nothing has changed meanwhile.
      const { head } = await this.#apply(await this.#remote.patientPull(seq));
      return head.seq === seq && !isDamage(tried) ? result(tried) : this.#locked(work, turn);
    }
    try {
      await this.#remote.push(seq, tried.changes);
    } catch (error) {
      if (error instanceof OvertakenError) return this.#locked(work, turn);
      if (error instanceof ConnectionLost) return this.#resolved(work, turn, tried, error);
      throw error;
    }
    return this.#taken(seq, tried);
  }

  /** The same while nobody else can write. */
  async #locked<T>(work: () => T, turn: string): Promise<T> {
    const pulled = await this.#remote.lock(this.#seq());
    return this.#finish(work, turn, pulled);
  }

  /** Ends what was begun under the lock. */
  async #finish<T>(work: () => T, turn: string, pulled: Pulled): Promise<T> {
    let isCommitted = false;
    try {
      await this.#apply(pulled);
      let tried = await this.#try(work, turn);
      if (isDamage(tried)) {
        // It may be the copy alone that is damaged.
        await this.#readAnew();
        tried = await this.#try(work, turn);
      }
      if (tried.changes.length === 0) return result(tried);
      const seq = this.#seq();
      try {
        await this.#remote.pushLocked(seq, tried.changes);
        isCommitted = true;
      } catch (error) {
        if (error instanceof ConnectionLost) return await this.#resolved(work, turn, tried, error);
        throw error;
      }
      return await this.#taken(seq, tried);
    } finally {
      if (!isCommitted) await this.#remote.unlock();
    }
  }

  /** No response came to a commit: under the lock it shows whether it was done. @throws UnsettledCommit. */
  async #resolved<T>(work: () => T, turn: string, tried: Tried<T>, cause: ConnectionLost): Promise<T> {
    let pulled: Pulled;
    try {
      pulled = await this.#remote.lock(this.#seq());
      await this.#apply(pulled);
    } catch (error) {
      const why = error instanceof Error ? error.message : cause.message;
      throw new UnsettledCommit(this.#remote.shown, why, { cause });
    }
    // An upload is written again as it was.
    const isJournal = this.#options.mirror.name === 'journal';
    const own = isJournal ? this.get('SELECT turn FROM leases WHERE id = ?', this.lease) : undefined;
    if (own?.turn !== turn) return this.#finish(work, turn, pulled);
    await this.#remote.unlock();
    return result(tried);
  }

  /** Runs the work on the copy, and undoes it there. */
  async #try<T>(work: () => T, turn: string): Promise<Tried<T>> {
    let tried: Tried<T> | undefined;
    try {
      await super.transaction(() => {
        this.run('DELETE FROM temp.touched');
        tried = this.#worked(work, turn);
        throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    if (!tried) throw new Error('the work of a transaction did not end');
    return tried;
  }

  #worked<T>(work: () => T, turn: string): Tried<T> {
    const { mirror } = this.#options;
    const before = this.#written();
    try {
      const value = work();
      const hasChanged = this.get('SELECT 1 AS found FROM temp.touched LIMIT 1') !== undefined;
      if (!hasChanged && this.#written() !== before)
        throw new StorageError(`another process made ${this.file} anew; nothing was sent`, {
          hint: 'Try again.',
        });
      if (hasChanged && mirror.name === 'journal') this.leases.renew(turn);
      return { outcome: { value }, changes: hasChanged ? touchedRows(this, mirror) : [] };
    } catch (error) {
      return { outcome: { error }, changes: [] };
    }
  }

  /** What is committed stands in the copy too, unless another process was faster there. */
  async #taken<T>(seq: number, tried: Tried<T>): Promise<T> {
    this.#hasLease ||= this.#options.mirror.name === 'journal';
    await super.transaction(() => {
      const state = copyState(this);
      if (state.seq !== seq) return;
      for (const change of tried.changes) applyChange(this, change);
      writeCopyState(this, state.of, seq + 1);
    });
    return result(tried);
  }

  /** How many rows this connection has ever written. */
  #written = (): unknown => this.get('SELECT total_changes() AS written')?.written;

  #seq = (): number => copyState(this).seq;

  /** The copy becomes what was read. @throws StorageError where it knows of what the database does not. */
  async #apply(pulled: Pulled): Promise<Pulled> {
    const { head } = pulled;
    this.leases.noteTime(head.time);
    this.#pulledAt = this.#options.clock.monotonic();
    const { of, seq } = copyState(this);
    if (of !== '' && of !== head.id) throw this.#wentBack('was made anew');
    // Another process has brought the copy further since this was asked.
    if (seq > head.seq && seq > pulled.since) return pulled;
    if (seq > head.seq) throw this.#wentBack('was brought back to an earlier state');
    if (seq < head.purged) return this.#readAnew();
    if (of !== head.id || seq !== head.seq)
      await super.transaction(() => {
        // Another process may have brought it further, from the same number on.
        if (this.#seq() >= pulled.since && this.#seq() <= head.seq)
          applyPulled(this, this.#options.mirror, pulled);
      });
    return pulled;
  }

  /** All of it, in the place of what the copy held. */
  async #readAnew(): Promise<Pulled> {
    const { mirror } = this.#options;
    const pulled = await this.#remote.pull(0);
    await super.transaction(() => {
      this.#beginAnew();
      applyPulled(this, mirror, pulled);
      this.execute(watchSql(mirror));
    });
    return pulled;
  }

  /** Within a transaction. */
  #beginAnew(): void {
    const found = this.all(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    for (const { name } of found) this.execute(`DROP TABLE "${String(name)}"`);
    this.execute('PRAGMA user_version = 0');
    this.migrate();
  }

  /** A new database gets what a new journal holds; another machine may be faster. */
  async #begin(): Promise<void> {
    const { head } = await this.#apply(await this.#remote.lock(this.#seq()));
    try {
      if (head.seq > 0) return;
      const changes = allRows(this, this.#options.mirror).filter(({ rows }) => rows.length > 0);
      await this.#remote.pushLocked(0, changes);
      await super.transaction(() => {
        if (this.#seq() === 0) writeCopyState(this, head.id, 1);
      });
    } finally {
      await this.#remote.unlock();
    }
  }

  /** What this machine knows and the database does not is not lost silently. */
  #wentBack(what: string): StorageError {
    return new StorageError(`the database ${this.#remote.shown} ${what} since this machine last used it`, {
      code: 'database_went_back',
      hint: `Orders may be missing in it, so nothing is sent. Restore a newer backup; or, to go on with the database as it is, move ${dirname(this.file)} aside, which holds what this machine knows.`,
      next: [{ command: 'errand order list', when: 'to see what was ordered' }],
    });
  }
}

const undone = Symbol('undone');
