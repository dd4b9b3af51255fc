import { retryWhile, type Waiting } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import { StorageError } from '../../platform/errors.ts';
import { type Connection, ConnectionLost, type DatabaseRow, refusedBy, StatementError } from './connect.ts';
import {
  brokenChainCode,
  type ChainEnd,
  type Change,
  lockSql,
  newerCode,
  overtakenCode,
  type Pulled,
  pulledOf,
  pullSql,
  pushSql,
} from './copy.ts';
import { migrate, schemaVersion } from './schema.ts';
import type { Mirror } from './tables.ts';

/** Another process has written since what a commit follows from was read. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';
}

/** What was to be written contradicts what is there: the copy that it follows from is not what was read. */
export class ContradictedError extends Error {
  override readonly name = 'ContradictedError';
}

/** A group of tables of the shared database. Each call is one round trip. Not for two callers at once. */
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

  /** What has changed since a number; an older schema is brought up to date. @throws StorageError. */
  async pull(since: number, end?: ChainEnd): Promise<Pulled> {
    const sql = pullSql(this.#mirror, since, end);
    const ask = async () =>
      pulledOf(await retryWhile(isPassing, () => this.#connection.ask(sql), this.#waiting), since);
    try {
      const pulled = await ask();
      if (pulled.head.version >= schemaVersion) return this.#known(pulled);
    } catch (error) {
      // There is no schema, or no such table in it.
      if (!(error instanceof StatementError) || !missing.has(error.code)) throw this.#explained(error);
    }
    try {
      await migrate(this.#connection);
      return this.#known(await ask());
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** The same, with the lock that a transaction holds which begins here. A server that starts anew is waited for. */
  lock(since: number, end?: ChainEnd): Promise<Pulled> {
    return this.#patiently(async () => {
      try {
        const rows = await this.#asked(`${lockSql(this.#mirror)}; ${pullSql(this.#mirror, since, end)}`);
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

  /** As `pull`, for work that is under way: a server that starts anew is waited for. */
  patientPull(since: number, end?: ChainEnd): Promise<Pulled> {
    return this.#patiently(() => this.pull(since, end));
  }

  /** Commits what follows from what was read at `seq`. @throws OvertakenError; ConnectionLost where nobody knows whether it was done. */
  async push(seq: number, changes: readonly Change[]): Promise<void> {
    await this.#asked(pushSql(this.#mirror, seq, changes, schemaVersion), true);
  }

  /** The same under the lock, which ends with it. */
  async pushLocked(seq: number, changes: readonly Change[]): Promise<void> {
    await this.#asked(`${pushSql(this.#mirror, seq, changes, schemaVersion)}; COMMIT`, true);
  }

  /** Nobody waits for the lock any longer. */
  async unlock(): Promise<void> {
    if (this.#connection.isOpen) await this.#connection.ask('ROLLBACK', true).catch(() => {});
  }

  /** A lease that cannot be ended soon ends by itself. */
  async endLease(lease: string): Promise<void> {
    if (!this.#connection.isOpen) return;
    const { name } = this.#mirror;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, farewellMs);
    });
    const told = this.#connection.ask(
      `UPDATE errand.heads SET seq = seq + 1 WHERE name = '${name}';
       UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = '${name}')
         WHERE id = '${lease}'`,
      true,
    );
    await Promise.race([told.catch(() => {}), late]);
    clearTimeout(timer);
  }

  close(): void {
    this.#connection.drop();
  }

  async #asked(sql: string, writes = false): Promise<readonly DatabaseRow[]> {
    try {
      return await this.#connection.ask(sql, writes);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** A restarting server is asked again for 6 s: what it did not get was not done. One that was given up is tried once only for a minute. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const { clock = systemClock } = this.#waiting;
    const isGone = clock.monotonic() < (givenUp.get(this.shown) ?? Number.NEGATIVE_INFINITY) + restMs;
    const longestMs = isGone ? 0 : patienceMs;
    try {
      return await retryWhile(isLost, ask, { ...this.#waiting, longestMs });
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
    if (error.code === newerCode) return this.#newer();
    if (contradictions.has(error.code)) return new ContradictedError(error.message, { cause: error });
    return refusedBy(this.shown, error);
  }
}

/** So long is waited for the database to hear that a process ends, ms. */
const farewellMs = 1000;

const isPassing = (error: unknown): boolean => error instanceof ConnectionLost && error.isPassing;

/** A record that is there already, or does not follow. */
const contradictions = new Set(['23505', brokenChainCode]);

/** How long a server is waited for that may be starting anew, ms, and how long it is taken for gone after that. */
const patienceMs = 6000;
const restMs = 60_000;

/** When a server was given up, by its clock. */
const givenUp = new Map<string, number>();

const isLost = (error: unknown): boolean => error instanceof ConnectionLost;

const missing = new Set(['3F000', '42P01']);
