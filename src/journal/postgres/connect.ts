import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { backoffMs, InTurn } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import { ErrandError, StorageError, toError } from '../../platform/errors.ts';
import { unsettledCode } from '../record-result.ts';

/** Connect timeout, ms. */
const connectMs = 5000;
/** Response timeout, in ms. Longer than any wait for a lock. */
const responseMs = 20_000;
/**
 * How long a pending statement may continue after an abort, in ms. A commit may continue longer, because otherwise its
 * outcome would be unknown.
 */
const readGraceMs = 300;
const writeGraceMs = 1500;
/** Lock timeout and idle-in-transaction timeout, in ms. */
const lockMs = 12_000;
const idleMs = 10_000;

/** Number of seconds after which an unused connection is closed. */
const idleConnectionS = 10;

export type DatabaseRow = Readonly<Record<string, unknown>>;

/**
 * Creates a client with a single connection, which is opened on first use. Only this function imports the driver, and
 * only when it is called.
 */
export async function connect({ url }: DatabaseAddress): Promise<Sql> {
  const { default: postgres } = await import('postgres');
  return postgres(url, {
    max: 1,
    connect_timeout: connectMs / 1000,
    // A server has few connections, so a command that waits for days must not hold one.
    idle_timeout: idleConnectionS,
    max_lifetime: null,
    backoff: false,
    // Without this, the driver looks up types, which costs a round trip.
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: {
      application_name: 'errand',
      client_encoding: 'UTF8',
      standard_conforming_strings: true,
      synchronous_commit: 'on',
      // A statement must see what was committed while it waited for a lock, whatever the role's own default is.
      default_transaction_isolation: 'read committed',
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: idleMs,
    },
  });
}

/** A statement error from PostgreSQL, with its code. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  /** `SQLSTATE`. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface Loss extends ErrorOptions {
  readonly code?: string;
  readonly isTransient?: boolean;
  readonly mayHaveArrived?: boolean;
}

/** The database did not respond. The statement may have run, unless the connection was never made. */
export class ConnectionLost extends StorageError {
  /** Whether the server says that it will soon accept connections again. */
  readonly isTransient: boolean;
  /** Whether the statement may have reached the server. */
  readonly mayHaveArrived: boolean;
  readonly why: string;

  constructor(shown: string, why: string, options: Loss = {}) {
    const { isTransient = false, mayHaveArrived = true, ...facts } = options;
    super(
      `the database ${shown} cannot be reached: ${why}`,
      {
        code: 'database_unreachable',
        retryable: true,
        ...facts,
        hint: 'No order is sent without it. See that it runs and that this machine reaches it, then try again.',
        next: [{ command: 'errand doctor', when: 'to see what is wrong' }],
      },
      'unavailable',
    );
    this.why = why;
    this.isTransient = isTransient;
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** The connection was lost, and it is unknown whether the last commit reached the database. */
export class UnsettledCommit extends ConnectionLost {
  constructor(shown: string, why: string, options?: ErrorOptions) {
    super(shown, why, { ...options, code: unsettledCode });
  }
}

/**
 * The error for a commit that the database has and this machine's copy lacks. @param cause tells why the copy was not
 * written.
 */
export function uncopied(shown: string, cause: unknown): StorageError {
  const { message, category, facts } = toError(cause);
  return new StorageError(
    `the copy here of the database ${shown} was not written (${message})`,
    { hint: facts.hint, code: unsettledCode, retryable: true, cause },
    category,
  );
}

/** An error from PostgreSQL that the program cannot recover from, worded for the user. */
export const refusedBy = (shown: string, cause: Error): StorageError =>
  new StorageError(`the database ${shown} refused: ${cause.message}`, { cause });

/** Runs statements without parameters. Each call takes one round trip. Not safe for concurrent callers. */
export class Connection {
  readonly address: DatabaseAddress;
  readonly #signal: AbortSignal | undefined;
  #sql: Sql | undefined;
  #hasResponded = false;
  /** True once the signal was aborted and a statement then got no response within its grace period. */
  #isGivenUp = false;

  /** @param signal aborts the connection. A pending statement then gets a short grace period. */
  constructor(address: DatabaseAddress, signal?: AbortSignal) {
    this.address = address;
    this.#signal = signal;
  }

  /**
   * @param sql holds trusted statements. Embed values with `jsonText` or `literal`.
   * @param writes tells whether the statement may take effect even if its response is lost.
   * @returns the rows of all statements. @throws ConnectionLost; StatementError; StorageError if a retry cannot help;
   * the signal's abort reason if the statement only reads.
   */
  async ask(sql: string, writes = false): Promise<readonly DatabaseRow[]> {
    const silence = (mayHaveArrived: boolean): ConnectionLost =>
      new ConnectionLost(this.address.shown, 'it does not respond', { mayHaveArrived });
    if (this.#isGivenUp) throw silence(false);
    this.#sql ??= await connect(this.address);
    const used = this.#sql;
    const signal = this.#signal;
    const timers: NodeJS.Timeout[] = [];
    let stop = (): void => {};
    const late = new Promise<never>((_, reject) => {
      const silent = (): void => {
        this.#isGivenUp = signal?.aborted === true;
        reject(silence(true));
      };
      timers.push(setTimeout(silent, responseMs));
      // A statement that is issued after the abort records how the work ended, so it gets the grace period of a commit.
      const hasGracePeriod = writes || signal?.aborted === true;
      const end = hasGracePeriod ? silent : (): void => reject(signal?.reason);
      stop = () => timers.push(setTimeout(end, hasGracePeriod ? writeGraceMs : readGraceMs));
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    try {
      const results: unknown = await Promise.race([used.unsafe(sql).simple(), late]);
      this.#hasResponded = true;
      return rowsOf(results);
    } catch (cause) {
      if (signal?.aborted && cause === signal.reason) {
        this.drop();
        throw cause;
      }
      const error = cause instanceof ErrandError ? cause : this.#explained(cause);
      // The state of a failed connection is unknown, so the next call reconnects.
      if (error instanceof ConnectionLost) this.drop();
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      for (const timer of timers) clearTimeout(timer);
    }
  }

  get isOpen(): boolean {
    return this.#sql !== undefined;
  }

  /** Closes the connection; an open transaction is rolled back. */
  drop(): void {
    const used = this.#sql;
    this.#sql = undefined;
    used?.end({ timeout: 0 }).catch(() => {});
  }

  /**
   * A hint for a handshake that the server dropped. A server without TLS closes a connection that starts with a TLS
   * handshake.
   */
  #withoutTls(code: string): string {
    const wantsTls = /[?&]sslmode=(?:require|verify-full)/.test(this.address.url);
    const isCut = networkWords[code] === networkWords.ECONNRESET;
    return wantsTls && isCut && !this.#hasResponded
      ? '; it may not offer TLS, which its address wants (sslmode=disable is for a network that you trust)'
      : '';
  }

  #explained(cause: unknown): Error {
    const { shown } = this.address;
    if (!(cause instanceof Error)) return new StorageError(`the database ${shown} failed`, { cause });
    const code = 'code' in cause ? String(cause.code) : '';
    // EPIPE has the form of a PostgreSQL code, but is a network error.
    if (!/^[0-9A-Z]{5}$/.test(code) || code in networkWords) {
      const mayHaveArrived = !unconnected.has(code);
      const why = `${whyLost(code, cause.message)}${this.#withoutTls(code)}`;
      return new ConnectionLost(shown, why, { cause, mayHaveArrived });
    }
    const problem = refusals[code];
    if (problem) return new StorageError(`the database ${shown} ${problem}`, { cause, hint: doctorHint });
    // A lock is waited for before the commit, so the transaction was rolled back.
    if (code === lockTimeoutCode)
      return new ConnectionLost(shown, 'another session holds a lock there for too long', {
        cause,
        mayHaveArrived: false,
      });
    if (lost.has(code) || code.startsWith('08'))
      return new ConnectionLost(shown, cause.message, { cause, isTransient: transientCodes.has(code) });
    return new StatementError(code, cause.message, { cause });
  }
}

const doctorHint = 'Nothing was sent. `errand doctor` says what the database lacks.';

/** Codes that concern the role or the database rather than the statement. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password',
  '28000': 'refuses this user',
  '3D000': 'does not exist on that server',
  '42501': 'gives this user too few rights',
  '25006': 'is read-only: it may be a standby',
  '53100': 'has no room left',
};

/**
 * The server is shutting down, is starting or has no connection left, or it closed this connection. Statement timeouts
 * are included.
 */
const lost = new Set(['57P01', '57P02', '57P03', '53300', '25P03', '57014']);
const lockTimeoutCode = '55P03';

/** The server is starting, or has no connection left for the moment. */
const transientCodes = new Set(['57P03', '53300']);

/** Errors raised before a connection existed. */
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'CONNECT_TIMEOUT']);

const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host is not known at the moment',
  CONNECT_TIMEOUT: 'it does not respond',
  CONNECTION_CLOSED: 'the connection was cut',
  CONNECTION_ENDED: 'the connection was cut',
  CONNECTION_DESTROYED: 'the connection was cut',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that is not known here',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

const withoutAddresses = (text: string): string =>
  text
    .split(/\s/)
    .map((word) => (word.includes('://') ? '…' : word))
    .join(' ');

/** Removes URLs from the driver's message, because a URL may be the database's address with the password. */
const whyLost = (code: string, message: string): string =>
  networkWords[code] ?? (/^[A-Z_]+$/.test(code) ? code : withoutAddresses(message));

function rowsOf(results: unknown): DatabaseRow[] {
  if (!Array.isArray(results)) return [];
  const all: unknown[] = 'command' in results ? results : results.flat();
  return all.filter((row): row is DatabaseRow => typeof row === 'object' && row !== null);
}

/** SQL expression for a string. Base64 prevents injection. */
export const literal = (text: string): string =>
  `convert_from(decode('${Buffer.from(text, 'utf8').toString('base64')}', 'base64'), 'UTF8')`;

/** SQL expression for a JSON value. */
export const jsonText = (value: unknown): string => `${literal(JSON.stringify(value))}::json`;

/** A new id for a lease or a turn. */
export const newId = (): string => randomUUID();

/**
 * Time after which no further attempt starts, in ms. A second attempt is always made, because perhaps only the
 * connection failed.
 */
const retryBudgetMs = 6_000;
const backoff = { firstMs: 100, maxMs: 3_000, jitter: 0.5 };

/**
 * A connection for idempotent statements. It retries when the connection is lost, and runs the calls of concurrent
 * callers one after another.
 */
export class RetryingConnection {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #inTurn = new InTurn();
  /**
   * The last failure and the time of that failure. Until the database responds again, each statement gets only one
   * attempt. After an abort, a statement gets none.
   */
  #lost: { readonly error: ConnectionLost; readonly at: number } | undefined;

  /** @param signal aborts the work. Retries then stop at once, and the statement in progress stops soon after. */
  constructor(address: DatabaseAddress, signal: AbortSignal) {
    this.#connection = new Connection(address, signal);
    this.#signal = signal;
  }

  get address(): DatabaseAddress {
    return this.#connection.address;
  }

  /** @throws StorageError; the signal's abort reason. */
  ask(sql: string): Promise<readonly DatabaseRow[]> {
    const requestedAt = systemClock.monotonic();
    return this.#inTurn.run(() => this.#execute(sql, requestedAt));
  }

  drop(): void {
    this.#connection.drop();
  }

  async #execute(sql: string, requestedAt: number): Promise<readonly DatabaseRow[]> {
    // A call that waited behind the failed call has waited just as long, so it fails too.
    if (this.#lost && (this.#lost.at >= requestedAt || this.#signal.aborted)) throw this.#lost.error;
    try {
      const ask = () => this.#connection.ask(sql);
      const rows = await (this.#lost ? ask() : patiently(ask, this.#signal));
      this.#lost = undefined;
      return rows;
    } catch (error) {
      if (error instanceof ConnectionLost) this.#lost = { error, at: systemClock.monotonic() };
      throw explained(error, this.address);
    }
  }
}

/** Wraps PostgreSQL errors in a message for the user. */
export const explained = (error: unknown, { shown }: DatabaseAddress): unknown =>
  error instanceof StatementError ? refusedBy(shown, error) : error;

/** Runs idempotent work, retrying while the database is unreachable. @param signal stops the retries. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const startedAt = systemClock.monotonic();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isOver = attempt > 1 && systemClock.monotonic() - startedAt >= retryBudgetMs;
      if (!(error instanceof ConnectionLost) || isOver || signal.aborted) throw error;
      await systemClock.sleep(backoffMs(attempt, Math.random, backoff));
    }
  }
}
