import { randomUUID } from 'node:crypto';
import type { Sql } from 'postgres';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { backoffMs, InTurn } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import { ErrandError, StorageError, toError } from '../../platform/errors.ts';
import { unsettledCode } from '../booked.ts';

/** How long a connection may take, ms. */
const connectMs = 5000;
/** How long the database may take to respond, ms: longer than anybody may hold a lock. */
const responseMs = 20_000;
/** After the abort, what is under way gets this long, ms; a commit longer, or its outcome would stay unknown. */
const readGraceMs = 300;
const writeGraceMs = 1500;
/** How long a transaction of another may be waited for, and how long one may lie idle, ms. */
const lockMs = 12_000;
const idleMs = 10_000;

/** How long an unused connection is kept, seconds. */
const idleConnectionS = 10;

export type DatabaseRow = Readonly<Record<string, unknown>>;

/** A client of the database with one connection, made when it is first used. The library is loaded here alone. */
export async function connect({ url }: DatabaseAddress): Promise<Sql> {
  const { default: postgres } = await import('postgres');
  return postgres(url, {
    max: 1,
    connect_timeout: connectMs / 1000,
    // A server has few connections, and a command may wait for days.
    idle_timeout: idleConnectionS,
    max_lifetime: null,
    backoff: false,
    // Its own look at the types would be a round trip.
    fetch_types: false,
    prepare: false,
    onnotice: () => {},
    connection: {
      application_name: 'errand',
      client_encoding: 'UTF8',
      standard_conforming_strings: true,
      synchronous_commit: 'on',
      lock_timeout: lockMs,
      idle_in_transaction_session_timeout: idleMs,
    },
  });
}

/** What PostgreSQL said of a statement, by its code. */
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
  readonly isPassing?: boolean;
  readonly mayHaveArrived?: boolean;
}

/** The database did not respond: what was asked of it may have been done, unless it was not even connected. */
export class ConnectionLost extends StorageError {
  /** Whether the server said that it will soon give connections again. */
  readonly isPassing: boolean;
  /** Whether what was asked may have reached it. */
  readonly mayHaveArrived: boolean;
  readonly why: string;

  constructor(shown: string, why: string, options: Loss = {}) {
    const { isPassing = false, mayHaveArrived = true, ...facts } = options;
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
    this.isPassing = isPassing;
    this.mayHaveArrived = mayHaveArrived;
  }
}

/** Nobody knows whether what was committed last is in the database. */
export class UnsettledCommit extends ConnectionLost {
  constructor(shown: string, why: string, options?: ErrorOptions) {
    super(shown, why, { ...options, code: unsettledCode });
  }
}

/** The same of what the database took, and this machine's copy of it did not. @param cause why. */
export function uncopied(shown: string, cause: unknown): StorageError {
  const { message, category, facts } = toError(cause);
  return new StorageError(
    `the copy here of the database ${shown} was not written (${message})`,
    { hint: facts.hint, code: unsettledCode, retryable: true, cause },
    category,
  );
}

/** What PostgreSQL refuses and nobody can mend here, for the user. */
export const refusedBy = (shown: string, cause: Error): StorageError =>
  new StorageError(`the database ${shown} refused: ${cause.message}`, { cause });

/** Statements without parameters, each call one round trip. Not for two callers at once. */
export class Connection {
  readonly address: DatabaseAddress;
  readonly #signal: AbortSignal | undefined;
  #sql: Sql | undefined;
  #hasResponded = false;
  /** Nobody waits for it any more, and it did not respond in the time that it was given all the same. */
  #isGivenUp = false;

  /** @param signal aborted when nobody waits for it any more: what is under way is given a moment. */
  constructor(address: DatabaseAddress, signal?: AbortSignal) {
    this.address = address;
    this.#signal = signal;
  }

  /**
   * @param sql statements of ours; values stand in it as `jsonText` or `literal` writes them.
   * @param writes whether it may be done though nobody hears of it.
   * @returns the rows of all of them. @throws ConnectionLost; StatementError; StorageError for what no trying again mends;
   * what the signal was aborted with, of what only reads.
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
      // What is asked after the abort writes down how things ended: it gets as long as a commit.
      const isKept = writes || signal?.aborted === true;
      const end = isKept ? silent : (): void => reject(signal?.reason);
      stop = () => timers.push(setTimeout(end, isKept ? writeGraceMs : readGraceMs));
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
      // The state of a connection that failed is not known: the next one begins anew.
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

  /** Cuts the connection: what was not committed is undone. */
  drop(): void {
    const used = this.#sql;
    this.#sql = undefined;
    used?.end({ timeout: 0 }).catch(() => {});
  }

  /** A server without TLS ends a connection that begins with it. */
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
    // EPIPE has the form of a code of PostgreSQL.
    if (!/^[0-9A-Z]{5}$/.test(code) || code in networkWords) {
      const mayHaveArrived = !unconnected.has(code);
      const why = `${whyLost(code, cause.message)}${this.#withoutTls(code)}`;
      return new ConnectionLost(shown, why, { cause, mayHaveArrived });
    }
    const refusal = refusals[code];
    if (refusal) return new StorageError(`the database ${shown} ${refusal}`, { cause, hint: doctorHint });
    if (lost.has(code) || code.startsWith('08'))
      return new ConnectionLost(shown, cause.message, { cause, isPassing: passing.has(code) });
    return new StatementError(code, cause.message, { cause });
  }
}

const doctorHint = 'Nothing was sent. `errand doctor` says what the database lacks.';

/** Codes that speak of the role or the database, not of a statement. */
const refusals: Readonly<Record<string, string>> = {
  '28P01': 'refuses the password',
  '28000': 'refuses this user',
  '3D000': 'does not exist on that server',
  '42501': 'gives this user too few rights',
  '25006': 'is read-only: it may be a standby',
  '53100': 'has no room left',
};

/** The server goes down or comes up, gives no connection, or ended one; a wait for another's lock ends so too. */
const lost = new Set(['57P01', '57P02', '57P03', '53300', '25P03', '55P03', '57014']);

/** It starts, or has no connection left at the moment. */
const passing = new Set(['57P03', '53300']);

/** There was no connection yet. */
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

/** A text of the library may hold the address with its password. */
const whyLost = (code: string, message: string): string =>
  networkWords[code] ?? (/^[A-Z_]+$/.test(code) ? code : withoutAddresses(message));

function rowsOf(results: unknown): DatabaseRow[] {
  if (!Array.isArray(results)) return [];
  const all: unknown[] = 'command' in results ? results : results.flat();
  return all.filter((row): row is DatabaseRow => typeof row === 'object' && row !== null);
}

/** SQL for a text: base64 holds nothing that could end it. */
export const literal = (text: string): string =>
  `convert_from(decode('${Buffer.from(text, 'utf8').toString('base64')}', 'base64'), 'UTF8')`;

/** SQL for a JSON value. */
export const jsonText = (value: unknown): string => `${literal(JSON.stringify(value))}::json`;

/** A new id, of a lease or a turn. */
export const newId = (): string => randomUUID();

/** After so long no other attempt is begun, ms; the second always is: the connection may have died, and not the database. */
const patienceMs = 6_000;
const backoff = { firstMs: 100, longestMs: 3_000, jitter: 0.5 };

/** A connection for what can be asked twice: it asks again where it was cut. Several callers may ask, one after the other. */
export class PatientConnection {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #inTurn = new InTurn();
  /** How the database was given up, and when; until it responds again it is asked once, and after the abort not at all. */
  #lost: { readonly error: ConnectionLost; readonly at: number } | undefined;

  /** @param signal ends the patience, and soon what is asked at that moment. */
  constructor(address: DatabaseAddress, signal: AbortSignal) {
    this.#connection = new Connection(address, signal);
    this.#signal = signal;
  }

  get address(): DatabaseAddress {
    return this.#connection.address;
  }

  /** @throws StorageError; what the signal was aborted with. */
  ask(sql: string): Promise<readonly DatabaseRow[]> {
    const askedAt = systemClock.monotonic();
    return this.#inTurn.run(() => this.#asked(sql, askedAt));
  }

  drop(): void {
    this.#connection.drop();
  }

  async #asked(sql: string, askedAt: number): Promise<readonly DatabaseRow[]> {
    // Whoever stood in line behind what was given up has waited as long.
    if (this.#lost && (this.#lost.at >= askedAt || this.#signal.aborted)) throw this.#lost.error;
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

/** What PostgreSQL refuses, in words for the user. */
export const explained = (error: unknown, { shown }: DatabaseAddress): unknown =>
  error instanceof StatementError ? refusedBy(shown, error) : error;

/** Does what can be done twice, again where the database was away. @param signal ends the patience. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const began = systemClock.monotonic();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isOver = attempt > 1 && systemClock.monotonic() - began >= patienceMs;
      if (!(error instanceof ConnectionLost) || isOver || signal.aborted) throw error;
      await systemClock.sleep(backoffMs(attempt, Math.random, backoff));
    }
  }
}
