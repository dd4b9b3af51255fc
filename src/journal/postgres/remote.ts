import { retryWhile, type Waiting } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { OutdatedClaim, Overtaken } from '../attempts.ts';
import { type Connection, ConnectionLost, type DatabaseRow, refusedBy, StatementError } from './connect.ts';
import {
  brokenChainCode,
  lockSql,
  newAccountCode,
  newerCode,
  outdatedCode,
  overtakenCode,
  type Pulled,
  type PullOptions,
  pulledOf,
  pullSql,
  pushSql,
  type Written,
} from './copy.ts';
import { migrate, schemaVersion } from './schema.ts';
import type { Mirror } from './tables.ts';

/** Another process has written after the starting state of this commit was read. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';
}

/** A commit conflicts with existing rows. The copy that the commit is based on must be wrong. */
export class ContradictedError extends Error {
  override readonly name = 'ContradictedError';
}

/** Access to a table group of the shared database. Each call takes one round trip. Not safe for concurrent callers. */
export class Remote {
  readonly #connection: Connection;
  readonly #mirror: Mirror;
  readonly #waiting: Waiting;

  constructor(connection: Connection, mirror: Mirror, waiting: Waiting = {}) {
    this.#connection = connection;
    this.#mirror = mirror;
    this.#waiting = waiting;
  }

  get shown(): string {
    return this.#connection.address.shown;
  }

  /** Reads the changes since a sequence number. Migrates an older schema. @throws StorageError. */
  async pull(since: number, options?: PullOptions): Promise<Pulled> {
    const sql = pullSql(this.#mirror, since, options);
    const ask = async () =>
      pulledOf(await retryWhile(isTransient, () => this.#connection.ask(sql), this.#waiting), since);
    try {
      const pulled = await ask();
      if (pulled.head.version >= schemaVersion) return this.#known(pulled);
    } catch (error) {
      // The schema or a table is missing.
      if (!(error instanceof StatementError) || !missing.has(error.code)) throw this.#explained(error);
    }
    try {
      await migrate(this.#connection);
      return this.#known(await ask());
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Same as `pull`, but locks the group in a new transaction. If the server is restarting, waits for it. */
  lock(since: number, options?: PullOptions): Promise<Pulled> {
    return this.#patiently(async () => {
      try {
        const rows = await this.#execute(
          `${lockSql(this.#mirror)}; ${pullSql(this.#mirror, since, options)}`,
        );
        return this.#known(
          pulledOf(
            rows.filter((row) => !('locked' in row)),
            since,
          ),
        );
      } catch (error) {
        await this.unlock();
        throw error;
      }
    });
  }

  /** Same as `pull`, but waits if the server is restarting, because work is already in progress. */
  pullWithRetry(since: number, options?: PullOptions): Promise<Pulled> {
    return this.#patiently(() => this.pull(since, options));
  }

  /**
   * Commits changes that are based on the state at `seq`.
   * @throws OvertakenError; OutdatedClaim; ConnectionLost if the outcome is unknown.
   */
  async push(seq: number, written: Written): Promise<void> {
    await this.#execute(pushSql(this.#mirror, seq, written, schemaVersion), true);
  }

  /** Same as `push`, but under the lock. The commit releases the lock. */
  async pushLocked(seq: number, written: Written): Promise<void> {
    await this.#execute(`${pushSql(this.#mirror, seq, written, schemaVersion)}; COMMIT`, true);
  }

  /** Rolls back, releasing the lock. */
  async unlock(): Promise<void> {
    if (this.#connection.isOpen) await this.#connection.ask('ROLLBACK', true).catch(() => {});
  }

  /** Ends a lease early. If the database does not answer in time, the lease simply expires. */
  async endLease(lease: string): Promise<void> {
    if (!this.#connection.isOpen) return;
    const { name } = this.#mirror;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, farewellMs);
    });
    const request = this.#connection.ask(
      `UPDATE errand.heads SET seq = seq + 1 WHERE name = '${name}';
       UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = '${name}')
         WHERE id = '${lease}'`,
      true,
    );
    await Promise.race([request.catch(() => {}), late]);
    clearTimeout(timer);
  }

  close(): void {
    this.#connection.drop();
  }

  async #execute(sql: string, writes = false): Promise<readonly DatabaseRow[]> {
    try {
      return await this.#connection.ask(sql, writes);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /**
   * Retries for 6 s, because the server may be restarting. Retrying is safe, because a statement that never reached the
   * server was not run. For a minute after giving up on a server, makes only one attempt per call.
   */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { clock = systemClock } = this.#waiting;
    const isGone = clock.monotonic() < (givenUp.get(this.shown) ?? Number.NEGATIVE_INFINITY) + restMs;
    const maxMs = isGone ? 0 : retryBudgetMs;
    try {
      return await retryWhile(isLost, ask, { ...this.#waiting, maxMs });
    } catch (error) {
      if (isLost(error)) givenUp.set(this.shown, clock.monotonic());
      throw error;
    }
  }

  #known(pulled: Pulled): Pulled {
    if (pulled.head.version > schemaVersion) throw this.#newer();
    return pulled;
  }

  #newer = (): StorageError =>
    new StorageError(`the database ${this.shown} was changed by a newer errand`, {
      code: 'database_newer',
      hint: 'Nothing was sent. Update errand on this machine.',
    });

  #explained(error: unknown): unknown {
    if (!(error instanceof StatementError)) return error;
    if (error.code === overtakenCode) return new OvertakenError(error.message, { cause: error });
    if (error.code === outdatedCode) return new OutdatedClaim(error.message, { cause: error });
    if (error.code === newAccountCode) return new Overtaken(error.message, { cause: error });
    if (error.code === newerCode) return this.#newer();
    if (contradictions.has(error.code)) return new ContradictedError(error.message, { cause: error });
    return refusedBy(this.shown, error);
  }
}

/** Maximum wait for the database when a process exits, in ms. */
const farewellMs = 1000;

const isTransient = (error: unknown): boolean => error instanceof ConnectionLost && error.isTransient;

/** Error codes for a record that already exists, or that does not continue the audit chain. */
const contradictions = new Set(['23505', brokenChainCode]);

/** How long to wait for a server that may be restarting, and how long to treat it as down afterwards, in ms. */
const retryBudgetMs = 6000;
const restMs = 60_000;

/** When this process gave up on each server, by the monotonic clock. */
const givenUp = new Map<string, number>();

const isLost = (error: unknown): boolean => error instanceof ConnectionLost;

const missing = new Set(['3F000', '42P01']);
