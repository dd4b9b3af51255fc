import { randomBytes } from 'node:crypto';
import { sha256 } from '../format/canonical.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { Tally } from './integrity.ts';

/** Facts about a journal, stored apart from its records: one text per name. */
type JournalFact = 'reservations' | 'chain_from' | 'address_salt' | 'policy';

/** Migration. Accepts existing data as it is. */
export function createFacts(database: Database): void {
  database.run('CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT');
  const first = database.get(`SELECT 1 AS found FROM audit WHERE kind IN ('intent', 'repaired') LIMIT 1`);
  const before = first ? 0 : Number(database.get('SELECT count FROM tally WHERE id = 1')?.count ?? 0);
  writeFact(database, 'chain_from', String(before));
  writeFact(database, 'address_salt', randomBytes(16).toString('hex'));
  const { rows, times } = sumReservations(database);
  writeFact(database, 'reservations', sumText(rows, times));
}

export function readFact(database: Database, name: JournalFact): string | undefined {
  const value = database.get('SELECT value FROM facts WHERE name = ?', name)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** Salt for all address hashes in the audit chain. @throws DamagedError. */
export function addressSalt(database: Database, tally: Tally): string {
  const salt = readFact(database, 'address_salt');
  if (salt === undefined) throw tally.damaged('a part of it is missing');
  return salt;
}

/** Call within a transaction. */
export function writeFact(database: Database, name: JournalFact, value: string): void {
  database.run('INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)', name, value);
}

/** Number of reservations, and the sum of their times, in ms. */
export interface ReservationSum {
  readonly rows: bigint;
  readonly times: bigint;
}

/**
 * Computes the actual sums from the reservations, using an index.
 * @param before limits the sums to reservations made before this time, in ms since the epoch.
 */
export function sumReservations(database: Database, before?: number): ReservationSum {
  const only = before === undefined ? '' : ' WHERE at < ?';
  const row = database.get(
    `SELECT CAST(count(*) AS TEXT) AS rows, CAST(coalesce(sum(at), 0) AS TEXT) AS times
     FROM reservations INDEXED BY reservations_at${only}`,
    ...(before === undefined ? [] : [before]),
  );
  return { rows: BigInt(String(row?.rows)), times: BigInt(String(row?.times)) };
}

/** The expected sums; undefined if they are unknown. */
export function knownReservations(database: Database): ReservationSum | undefined {
  return readSum(readFact(database, 'reservations'));
}

export function writeReservationSum(database: Database, { rows, times }: ReservationSum): void {
  writeFact(database, 'reservations', sumText(rows, times));
}

/** Parses the text of the `reservations` fact; undefined if altered. */
export function readSum(text: unknown): ReservationSum | undefined {
  const [, rows, times] = /^(-?\d{1,30}) (-?\d{1,30}) /.exec(String(text)) ?? [];
  if (rows === undefined || times === undefined) return undefined;
  const sum = { rows: BigInt(rows), times: BigInt(times) };
  return text === sumText(sum.rows, sum.times) ? sum : undefined;
}

const sumText = (rows: bigint, times: bigint): string =>
  `${rows} ${times} ${sha256(`reservations ${rows} ${times}`).slice(0, 32)}`;
