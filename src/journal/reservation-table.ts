import type { Database } from '../platform/sqlite/database.ts';
import {
  knownReservations,
  type ReservationSum,
  sumReservations,
  writeReservationSum,
} from './journal-facts.ts';
import { type Reservation, rowOf, writeReservation } from './reservation-row.ts';
import type { Tally } from './tally.ts';

/** Rows of reservations, and what they must add up to: one that is missing would let the same money be spent again. Within transactions. */
export class ReservationTable {
  readonly #database: Database;
  readonly #tally: Tally;

  constructor(database: Database, tally: Tally) {
    this.#database = database;
    this.#tally = tally;
  }

  /** Each in the place of the one with its key. @throws DamagedError. */
  write(reservations: readonly Reservation[]): void {
    let { rows, times } = this.#known();
    for (const reservation of reservations) {
      const { key, baseUrl, account, at } = reservation;
      const sql = 'SELECT at FROM reservations WHERE key = ? AND base_url = ? AND account = ?';
      const before = this.#database.get(sql, key, baseUrl, account);
      rows += before ? 0n : 1n;
      times += BigInt(at) - BigInt(Number(before?.at ?? 0));
      this.#database.run(writeReservation, ...rowOf(reservation));
    }
    writeReservationSum(this.#database, { rows, times });
  }

  /** Deletes what was reserved before a time, ms since the epoch. @throws DamagedError. */
  sweep(before: number): void {
    const { rows, times } = this.#known();
    const old = sumReservations(this.#database, before);
    if (old.rows === 0n) return;
    this.#database.run('DELETE FROM reservations WHERE at < ?', before);
    writeReservationSum(this.#database, { rows: rows - old.rows, times: times - old.times });
  }

  /** @throws DamagedError where one is missing, or was moved to another time. */
  check(): void {
    const [known, found] = [this.#known(), sumReservations(this.#database)];
    if (known.rows !== found.rows || known.times !== found.times)
      throw this.#tally.damaged('reservations are missing from it, or were changed');
  }

  #known(): ReservationSum {
    const known = knownReservations(this.#database);
    if (known) return known;
    throw this.#tally.damaged('the count of its reservations was changed');
  }
}
