import type { DatabaseAddress } from '../../format/database-address.ts';
import { backoffMs, InTurn } from '../../platform/async.ts';
import { systemClock } from '../../platform/clock.ts';
import { Connection, ConnectionLost, type DatabaseRow, refusedBy, StatementError } from './connect.ts';

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
