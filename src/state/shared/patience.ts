import { systemClock } from '../../clock.ts';
import { backoffMs } from '../../wait/backoff.ts';
import type { DatabaseAddress } from './address.ts';
import { Connection, ConnectionLost, type DatabaseRow } from './connect.ts';

const mostAttempts = 5;
const backoff = { firstMs: 100, longestMs: 3_000, jitter: 0.5 };

/** A connection for what can be asked twice: it asks again where it was cut. Several callers may ask, one after the other. */
export class PatientConnection {
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  #last: Promise<unknown> = Promise.resolve();

  /** @param signal ends the patience, and soon what is asked at that moment. */
  constructor(address: DatabaseAddress, signal: AbortSignal) {
    this.#connection = new Connection(address, signal);
    this.#signal = signal;
  }

  get address(): DatabaseAddress {
    return this.#connection.address;
  }

  /** @throws as `Connection.ask`. */
  ask(sql: string): Promise<readonly DatabaseRow[]> {
    const patiently = (): Promise<readonly DatabaseRow[]> => this.#patiently(sql);
    const next = this.#last.then(patiently, patiently);
    this.#last = next.catch(() => {});
    return next;
  }

  drop(): void {
    this.#connection.drop();
  }

  #patiently(sql: string): Promise<readonly DatabaseRow[]> {
    return patiently(() => this.#connection.ask(sql), this.#signal);
  }
}

/** Does what can be done twice, again where the database was away. @param signal ends the patience. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ConnectionLost) || attempt === mostAttempts || signal.aborted) throw error;
      await systemClock.sleep(backoffMs(attempt, Math.random, backoff));
    }
  }
}
