import { InTurn } from '../../platform/async.ts';
import { DamagedError, StorageError } from '../../platform/errors.ts';
import type { Freshness, Synchronous } from '../../platform/sqlite/database.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { registerLeases } from '../owner.ts';
import { ConnectionLost, newId, refusedBy, UnsettledCommit, uncopied } from './connect.ts';
import {
  type AttemptSettings,
  allRows,
  applyChange,
  copyState,
  type Pulled,
  touchedRows,
  type Written,
  writeCopyState,
} from './copy.ts';
import { DatabaseCopy, type SharedOptions } from './database-copy.ts';
import { ContradictedError, OvertakenError } from './remote.ts';

/** How long the last pull counts as fresh, in ms. */
const freshMs = 3000;
/** Maximum number of attempts under the lock if every attempt conflicts. */
const maxAttempts = 3;

/**
 * A PostgreSQL database that several machines share. Each machine keeps a copy in SQLite. Reads and transactions run on
 * the copy. Changes are committed to PostgreSQL only if nobody else wrote meanwhile, and then applied to the copy. So a
 * commit is always based on the current state, and a copy may be lost at any time. A transaction takes one round trip,
 * or three after a conflict.
 */
export class SharedDatabase extends DatabaseCopy {
  #unregisterLeases = (): void => {};
  /** Serializes calls, because there is only one connection. */
  readonly #inTurn = new InTurn();
  #hasLease = false;
  #attempts: AttemptSettings | undefined;
  /** Further statements for the commit of the current transaction. */
  #others: readonly string[] = [];

  constructor(file: string, sqlite: Sqlite, options: SharedOptions, unwritable?: unknown) {
    super(file, sqlite, options, unwritable);
    if (options.maxRequestMs !== undefined) this.leases.expectRequests(options.maxRequestMs);
  }

  /** Identity of the database; a recreated one gets a new id. */
  override get id(): string {
    return copyState(this).of;
  }

  override get lease(): string {
    return this.leases.id;
  }

  /** Pulls changes; initializes an empty database. @throws StorageError. */
  catchUp(): Promise<void> {
    this.#unregisterLeases();
    // Register leases only for the journal's group of tables, because the table of leases belongs to that group.
    if (this.options.mirror.name === 'journal') this.#unregisterLeases = registerLeases(this.leases);
    // Set this first, so that a failed pull is not retried immediately.
    this.pulledAt = this.options.clock.monotonic();
    return this.#inTurn.run(async () => {
      const withAttempts = this.options.mirror.name === 'journal' && this.#attempts === undefined;
      const read = await this.options.remote.pull(this.seq(), { end: this.chainEnd(), withAttempts });
      this.#attempts ??= read.head.attempts;
      const { head } = await this.apply(read);
      if (head.seq === 0) await this.#begin();
    });
  }

  /** The settings of attempts, as read when the journal was opened. */
  attemptSettings(): AttemptSettings {
    if (this.#attempts) return this.#attempts;
    throw new Error('the journal was not opened');
  }

  /** Adds statements to the commit of the current transaction. The statements are for tables that are not mirrored. */
  commitWith(statements: readonly string[]): void {
    this.#others = statements;
  }

  /** @throws StorageError. */
  override async refresh(when: Freshness = 'lately'): Promise<void> {
    if (when === 'anew') await this.#inTurn.run(() => this.reload());
    else if (when === 'now' || this.options.clock.monotonic() - this.pulledAt > freshMs) await this.catchUp();
  }

  override transaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#inTurn.run(() => this.#commit(work));
  }

  override unsyncedTransaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    return this.#inTurn.run(() => this.#commit(work));
  }

  override derivedTransaction<T>(work: () => T, ..._: Synchronous<T>): Promise<T> {
    // Writes to a copy are not synced to disk, because a copy may be lost at any time.
    return this.#inTurn.run(() => super.transaction(work, ..._));
  }

  /** Also ends the lease, so that nobody has to wait until it expires. */
  override async close(): Promise<void> {
    await this.#inTurn.idle();
    if (this.#hasLease) await this.options.remote.endLease(this.lease);
    this.#unregisterLeases();
    this.options.remote.close();
    super.close();
  }

  async #commit<T>(work: () => T): Promise<T> {
    const turn = newId();
    const seq = this.seq();
    const tried = await this.#try(work, turn);
    if (isDamage(tried)) return this.#locked(work, turn);
    if (tried.changes.length === 0) {
      // The result of a read is valid only if nothing has changed meanwhile.
      const { head } = await this.apply(
        await this.options.remote.pullWithRetry(seq, { end: this.chainEnd() }),
      );
      return head.seq === seq ? result(tried) : this.#locked(work, turn);
    }
    try {
      await this.options.remote.push(seq, tried);
    } catch (error) {
      if (error instanceof OvertakenError) return this.#locked(work, turn);
      if (error instanceof ContradictedError) return this.#locked(work, turn, true);
      if (error instanceof ConnectionLost) return this.#resolved(work, turn, tried, { cause: error });
      throw error;
    }
    return this.#taken(seq, tried);
  }

  /** Same as `#commit`, but locks the group of tables first. */
  async #locked<T>(work: () => T, turn: string, needsReload = false, attempt = 1): Promise<T> {
    const pulled = await this.options.remote.lock(this.seq(), { end: this.chainEnd() });
    return this.#finish(work, turn, pulled, needsReload, attempt);
  }

  /**
   * Completes work started under the lock. @param needsReload tells whether to pull everything because the copy is not
   * trusted.
   */
  async #finish<T>(
    work: () => T,
    turn: string,
    pulled: Pulled,
    needsReload = false,
    attempt = 1,
  ): Promise<T> {
    let isCommitted = false;
    let isContradicted = false;
    try {
      if (needsReload) await this.reload();
      else await this.apply(pulled);
      let seq = this.seq();
      let tried = await this.#try(work, turn);
      if (isDamage(tried)) {
        // Perhaps only the copy is damaged. Replace the copy and try again.
        await this.reload();
        seq = this.seq();
        tried = await this.#try(work, turn);
      }
      if (tried.changes.length === 0) return result(tried);
      try {
        await this.options.remote.pushLocked(seq, tried);
        isCommitted = true;
      } catch (error) {
        if (error instanceof ConnectionLost)
          return await this.#resolved(work, turn, tried, { cause: error, attempt: attempt + 1 });
        throw error;
      }
      return await this.#taken(seq, tried);
    } catch (error) {
      // The server releases a lock that is held idle for too long. Another process may then write.
      if (!(error instanceof ContradictedError || error instanceof OvertakenError)) throw error;
      isContradicted = error instanceof ContradictedError;
      if (attempt === maxAttempts || (isContradicted && needsReload))
        throw refusedBy(this.options.remote.shown, error);
    } finally {
      if (!isCommitted) await this.options.remote.unlock();
    }
    return this.#locked(work, turn, isContradicted, attempt + 1);
  }

  /**
   * After a commit got no response, takes the lock and checks whether the commit took effect.
   * @param attempt is the number of the next attempt under the lock.
   * @throws UnsettledCommit; the cause if nothing of it can have arrived.
   */
  async #resolved<T>(
    work: () => T,
    turn: string,
    tried: Tried<T>,
    { cause, attempt = 1 }: { readonly cause: ConnectionLost; readonly attempt?: number },
  ): Promise<T> {
    let pulled: Pulled;
    try {
      pulled = await this.options.remote.lock(this.seq(), { end: this.chainEnd() });
      await this.apply(pulled);
    } catch (error) {
      // Roll back. Otherwise, later statements would run inside this open transaction.
      await this.options.remote.unlock();
      throw this.#unresolved(cause, error);
    }
    // For uploads, the outcome of the commit does not matter, because writing an upload twice is idempotent.
    const isJournal = this.options.mirror.name === 'journal';
    const own = isJournal ? this.get('SELECT turn FROM leases WHERE id = ?', this.lease) : undefined;
    if (own?.turn !== turn && attempt <= maxAttempts) return this.#finish(work, turn, pulled, false, attempt);
    await this.options.remote.unlock();
    // What was sent on a connection that was lost may still arrive.
    if (own?.turn !== turn) throw this.#unresolved(cause);
    this.leases.confirm();
    return result(tried);
  }

  #unresolved(lost: ConnectionLost, cause: unknown = lost): ConnectionLost {
    return lost.mayHaveArrived ? new UnsettledCommit(this.options.remote.shown, lost.why, { cause }) : lost;
  }

  /** Runs the work on the copy, and then rolls the copy back. */
  async #try<T>(work: () => T, turn: string): Promise<Tried<T>> {
    let tried: Tried<T> | undefined;
    try {
      await super.transaction(() => {
        this.run('DELETE FROM temp.touched');
        this.#others = [];
        tried = this.#worked(work, turn);
        throw rollback;
      });
    } catch (error) {
      if (error !== rollback) throw error;
    }
    if (!tried) throw new Error('the work of a transaction did not end');
    return tried;
  }

  #worked<T>(work: () => T, turn: string): Tried<T> {
    const { mirror } = this.options;
    const before = this.#written();
    try {
      const value = work();
      const hasChanged = this.get('SELECT 1 AS found FROM temp.touched LIMIT 1') !== undefined;
      if (!hasChanged && this.#written() !== before)
        throw new StorageError(`another process made ${this.file} anew; nothing was sent`, {
          hint: 'Try again.',
        });
      if (hasChanged && mirror.name === 'journal') {
        this.leases.renew(turn);
        // Even if the response to the commit is lost, the lease may have been stored.
        this.#hasLease = true;
      }
      return {
        outcome: { value },
        changes: hasChanged ? touchedRows(this, mirror) : [],
        others: this.#others,
      };
    } catch (error) {
      return { outcome: { error }, changes: [], others: [] };
    }
  }

  /**
   * Applies a commit to the copy, unless another process has already advanced the copy.
   * @throws StorageError `isUnsettled` if the copy cannot be written. Without the copy, this process cannot record the
   * outcome, so it must not send anything.
   */
  async #taken<T>(seq: number, tried: Tried<T>): Promise<T> {
    this.leases.confirm();
    try {
      await super.transaction(() => {
        const state = copyState(this);
        if (state.seq !== seq) return;
        for (const change of tried.changes) applyChange(this, change);
        writeCopyState(this, state.of, seq + 1);
      });
    } catch (error) {
      throw uncopied(this.options.remote.shown, error);
    }
    return result(tried);
  }

  /** Number of rows this connection has written so far. */
  #written = (): unknown => this.get('SELECT total_changes() AS written')?.written;

  /** Writes the initial rows of a journal to an empty database, unless another machine does so first. */
  async #begin(): Promise<void> {
    const pulled = await this.options.remote.lock(this.seq());
    try {
      const { head } = await this.apply(pulled);
      if (head.seq > 0) return;
      const changes = allRows(this, this.options.mirror).filter(({ rows }) => rows.length > 0);
      await this.options.remote.pushLocked(0, { changes, others: [] });
      await super.transaction(() => {
        if (this.seq() === 0) writeCopyState(this, head.id, 1);
      });
    } finally {
      await this.options.remote.unlock();
    }
  }
}

const rollback = Symbol('undone');

/** Result of a transaction's work on the copy, after the copy was rolled back. */
interface Tried<T> extends Written {
  readonly outcome: { readonly value: T } | { readonly error: unknown };
}

const isDamage = ({ outcome }: Tried<unknown>): boolean =>
  'error' in outcome && outcome.error instanceof DamagedError;

/** @returns the work's value. @throws the work's error. */
function result<T>({ outcome }: Tried<T>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
