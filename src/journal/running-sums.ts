import type { Database, SqlValue, StoredRow } from '../platform/sqlite/database.ts';
import { type ReservationSum, sumReservations } from './journal-facts.ts';
import { factSql, type OrderId, type ReservedFacts, type SummedLimit, summedSql } from './summed-limit.ts';

/** How long the sums of past periods are stored, in ms. */
const retentionMs = 62 * 24 * 3600 * 1000;

/**
 * Value of the column `place` in `reserved_products`: the recipient of the order. Reservations from before the
 * canonical form have an address instead.
 */
export const placeOf = ({ recipient, address }: Pick<ReservedFacts, 'recipient' | 'address'>): string =>
  recipient ?? `earlier ${address}`;

const placeSql = (row: string): string =>
  `CASE WHEN json_valid(${row}.facts) THEN coalesce(json_extract(${row}.facts, '$.recipient'),
     'earlier ' || coalesce(json_extract(${row}.facts, '$.address'), 'undefined')) ELSE '' END`;

/**
 * Rows of one reservation in `reserved_products`: one row per product, and one row with an empty product that stands
 * for all of them.
 */
const productsSql = (row: string): string =>
  `SELECT product, ${placeSql(row)}, ${row}.at, ${row}.rehearsal, ${row}.key, ${row}.base_url, ${row}.account
   FROM (SELECT '' AS product UNION SELECT value FROM json_each(${factSql(row, 'products')}))`;

const add = (row: string, sign: '+' | '-'): string =>
  `UPDATE limit_sums SET cents = cents ${sign} ${row}.counted, inverse = inverse ${sign === '+' ? '-' : '+'} ${row}.counted
     WHERE ${row}.counted <> 0 AND ${summedSql(row)};
   UPDATE reservation_totals SET rows = rows ${sign} 1, times = times ${sign} ${row}.at`;

const note = (row: string): string =>
  `INSERT OR REPLACE INTO reservation_changes (place, key, base_url, account)
     SELECT ${row}.rowid, ${row}.key, ${row}.base_url, ${row}.account FROM reservation_totals WHERE quiet = 0`;

const enter = (row: string): string =>
  `${add(row, '+')}; INSERT OR REPLACE INTO reserved_products ${productsSql(row)}; ${note(row)}`;

const leave = (row: string): string =>
  `${add(row, '-')}; DELETE FROM reserved_products WHERE (product, place, at, rehearsal, key, base_url, account) IN (${productsSql(row)}); ${note(row)}`;

/** Rows of all reservations in `reserved_products`. */
const productsOfAll = `SELECT value AS product, ${placeSql('one')} AS place, one.at, one.rehearsal, one.key, one.base_url, one.account
   FROM reservations AS one, json_each(${factSql('one', 'products')})
   UNION SELECT '', ${placeSql('one')}, one.at, one.rehearsal, one.key, one.base_url, one.account FROM reservations AS one`;

/** SQL that computes, from the reservations, the sum in a row of `limit_sums`. */
const recountedSql = `SELECT coalesce(sum(one.counted), 0) FROM reservations AS one INDEXED BY reservations_at
   WHERE one.at >= limit_sums.begins AND one.at < limit_sums.ends AND one.counted <> 0 AND ${summedSql('one')}`;

const recountSql = `WITH limit_sums (rehearsal, begins, ends, retailer, metadata) AS (VALUES (?, ?, ?, ?, ?))
   SELECT (${recountedSql}) AS cents FROM limit_sums`;

/**
 * Creates tables that are derived from the reservations. Triggers in the database file update these tables on every
 * write, even by an earlier version of errand. The tables are not part of a shared database; each machine has its own.
 */
const createSql = [
  `CREATE TABLE reservation_totals (
     id INTEGER PRIMARY KEY CHECK (id = 1), rows INTEGER NOT NULL, times INTEGER NOT NULL, quiet INTEGER NOT NULL) STRICT`,
  `CREATE TABLE limit_sums (
     rehearsal INTEGER NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL, retailer TEXT NOT NULL,
     metadata TEXT NOT NULL, cents NOT NULL, inverse NOT NULL,
     PRIMARY KEY (rehearsal, begins, ends, retailer, metadata)) WITHOUT ROWID`,
  `CREATE TABLE reserved_products (
     product TEXT NOT NULL, place TEXT NOT NULL, at INTEGER NOT NULL, rehearsal INTEGER NOT NULL, key TEXT NOT NULL,
     base_url TEXT NOT NULL, account TEXT NOT NULL,
     PRIMARY KEY (product, place, rehearsal, at, key, base_url, account)) STRICT, WITHOUT ROWID`,
  "CREATE INDEX reserved_products_at ON reserved_products (product, rehearsal, at, key) WHERE product <> ''",
  `CREATE TABLE reservation_changes (
     serial INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL, key TEXT NOT NULL, base_url TEXT NOT NULL, account TEXT NOT NULL,
     UNIQUE (key, base_url, account)) STRICT`,
  // INSERT OR REPLACE fires no DELETE trigger for the row that it replaces, so delete that row here.
  `CREATE TRIGGER reservations_replaced BEFORE INSERT ON reservations BEGIN
     DELETE FROM reservations WHERE key = NEW.key AND base_url = NEW.base_url AND account = NEW.account; END`,
  `CREATE TRIGGER reservations_inserted AFTER INSERT ON reservations BEGIN ${enter('NEW')}; END`,
  `CREATE TRIGGER reservations_updated AFTER UPDATE ON reservations BEGIN ${leave('OLD')}; ${enter('NEW')}; END`,
  `CREATE TRIGGER reservations_deleted AFTER DELETE ON reservations BEGIN ${leave('OLD')}; END`,
  `CREATE TABLE reservation_marks (
     signers TEXT PRIMARY KEY, number INTEGER NOT NULL, hash TEXT NOT NULL, serial INTEGER NOT NULL, mac TEXT NOT NULL)
     STRICT`,
  `CREATE TABLE reservation_entries (
     of TEXT NOT NULL, number INTEGER NOT NULL, key TEXT, PRIMARY KEY (of, number)) STRICT, WITHOUT ROWID`,
  `INSERT INTO reserved_products SELECT product, place, at, rehearsal, key, base_url, account FROM (${productsOfAll})`,
];

/**
 * How far reservations have been verified: up to an entry of the audit chain, and up to the serial number of a change.
 */
export interface StoredMark {
  readonly number: number;
  readonly hash: string;
  readonly serial: number;
  readonly mac: string;
}

/** Running sums of limits, and the products reserved, stored beside the reservations. */
export class RunningSums {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether the tables exist. When a copy of a shared database is rebuilt, the copy loses them. */
  get exist(): boolean {
    return this.#database.get("SELECT 1 AS found FROM sqlite_master WHERE name = 'limit_sums'") !== undefined;
  }

  /** Creates the tables from the existing reservations. Call within a transaction. */
  create(): void {
    for (const sql of createSql) this.#database.run(sql);
    const { rows, times } = sumReservations(this.#database);
    this.#database.run(
      `INSERT INTO reservation_totals VALUES (1, CAST(? AS INTEGER), CAST(? AS INTEGER), 0)`,
      String(rows),
      String(times),
    );
  }

  /**
   * Runs writes that need no verification later. They are therefore not listed as changes. Call within a transaction.
   */
  quietly(write: () => void): void {
    const { exist } = this;
    if (exist) this.#database.run('UPDATE reservation_totals SET quiet = 1');
    write();
    if (exist) this.#database.run('UPDATE reservation_totals SET quiet = 0');
  }

  /** Number of reservations, and the sum of the times at which they were made. */
  totals(): ReservationSum {
    const row = this.#database.get(
      'SELECT CAST(rows AS TEXT) AS rows, CAST(times AS TEXT) AS times FROM reservation_totals WHERE id = 1',
    );
    return { rows: BigInt(String(row?.rows ?? -1)), times: BigInt(String(row?.times ?? -1)) };
  }

  /** Reservations written after a serial number. Writes in `quietly` are not included. */
  changes(after: number): readonly Change[] {
    return this.#database
      .all('SELECT * FROM reservation_changes WHERE serial > ? ORDER BY serial', after)
      .map(({ place, key, base_url, account }) => ({
        ...{ place: Number(place), key: String(key), baseUrl: String(base_url), account: String(account) },
      }));
  }

  /** How far these signers have verified the reservations. */
  mark(signers: string): StoredMark | undefined {
    const row = this.#database.get('SELECT * FROM reservation_marks WHERE signers = ?', signers);
    return (
      row && {
        ...{ number: Number(row.number), hash: String(row.hash) },
        ...{ serial: Number(row.serial), mac: String(row.mac) },
      }
    );
  }

  /** Writes a mark, and deletes the changes that every signer has verified. Call within a transaction. */
  writeMark(signers: string, { number, hash, serial, mac }: StoredMark): void {
    this.#database.run(
      'INSERT OR REPLACE INTO reservation_marks VALUES (?, ?, ?, ?, ?)',
      ...[signers, number, hash, serial, mac],
    );
    this.#database.run(
      'DELETE FROM reservation_changes WHERE serial <= (SELECT min(serial) FROM reservation_marks)',
    );
  }

  /** Serial number of the newest change to a reservation. */
  lastSerial(): number {
    const row = this.#database.get("SELECT seq FROM sqlite_sequence WHERE name = 'reservation_changes'");
    return Number(row?.seq ?? 0);
  }

  /** Records that an entry of the audit chain is about an order or an intent. Call within a transaction. */
  note(of: string, number: number, key: string | undefined): void {
    this.#database.run(
      'INSERT OR REPLACE INTO reservation_entries VALUES (?, ?, ?)',
      of,
      number,
      key ?? null,
    );
  }

  /** Entries of the audit chain about an order or an intent. Each has the key of the order, if that is known. */
  entriesAbout(of: string): readonly { readonly number: number; readonly key: string | undefined }[] {
    return this.#database
      .all('SELECT number, key FROM reservation_entries WHERE of = ?', of)
      .map(({ number, key }) => ({
        number: Number(number),
        key: typeof key === 'string' ? key : undefined,
      }));
  }

  /** Stored sum of a limit, in cents; undefined if there is no sum, or if the sum was damaged. */
  of(limit: SummedLimit): number | undefined {
    const row = this.#database.get(
      `SELECT cents, cents + inverse AS rest FROM limit_sums
       WHERE rehearsal = ? AND begins = ? AND ends = ? AND retailer = ? AND metadata = ?`,
      ...keyOf(limit),
    );
    const isWhole = row?.rest === 0 && typeof row.cents === 'number' && Number.isSafeInteger(row.cents);
    return isWhole ? Number(row.cents) : undefined;
  }

  /** Adds up a limit anew. */
  recount(limit: SummedLimit): number {
    return Number(this.#database.get(recountSql, ...keyOf(limit))?.cents ?? 0);
  }

  /** Stores the sum of a limit. Also deletes sums of periods that ended long ago. Call within a transaction. */
  keep(limit: SummedLimit): void {
    this.#database.run('DELETE FROM limit_sums WHERE ends < ?', limit.begin - retentionMs);
    const cents = this.recount(limit);
    if (!Number.isSafeInteger(cents)) return;
    this.#database.run(
      'INSERT OR REPLACE INTO limit_sums VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...keyOf(limit),
      ...[cents, -cents],
    );
  }

  /**
   * The newest order since a time that has spent, or may have spent, money on the given product. If `place` is given,
   * considers only orders that went to that place, and an empty product means any product.
   * @param isExcluded tells which orders to leave out.
   */
  newest(
    { product, place, since, isRehearsal }: Looked,
    isExcluded: (order: OrderId) => boolean,
  ): OrderId | undefined {
    const [at, values] = place === undefined ? ["AND p.product <> ''", []] : ['AND p.place = ?', [place]];
    let page: readonly StoredRow[];
    for (let offset = 0; ; offset += page.length) {
      page = this.#database.all(
        `SELECT r.key, r.base_url, r.account FROM reserved_products AS p CROSS JOIN reservations AS r
           ON r.key = p.key AND r.base_url = p.base_url AND r.account = p.account
         WHERE p.product = ? ${at} AND p.rehearsal = ? AND p.at > ?
           AND NOT (r.state = 'released' OR (r.state = 'settled' AND r.counted <= r.fee))
         ORDER BY p.at DESC, p.key DESC LIMIT 20 OFFSET ?`,
        ...[product, ...values, isRehearsal ? 1 : 0, since, offset],
      );
      for (const { key, base_url, account } of page) {
        const order = { key: String(key), baseUrl: String(base_url), account: String(account) };
        if (!isExcluded(order)) return order;
      }
      if (page.length < 20) return undefined;
    }
  }

  /** Describes each sum that does not match the reservations. One line per sum. */
  problems(): string[] {
    if (!this.exist) return [];
    const { rows, times } = sumReservations(this.#database);
    const totals = this.totals();
    const found = this.#database
      .all(`SELECT *, (${recountedSql}) AS recounted FROM limit_sums WHERE ends > 0`)
      .filter(({ cents, inverse, recounted }) => cents !== recounted || inverse !== -Number(recounted))
      .map(
        ({ begins, ends, cents, recounted }) =>
          `a running sum of ${dayOf(begins)} to ${dayOf(ends)} is ${String(cents)} cents, and its reservations come to ${String(recounted)}`,
      );
    const listed = this.#database.get(`SELECT count(*) AS listed FROM reserved_products`)?.listed;
    const expected = this.#database.get(`SELECT count(*) AS expected FROM (${productsOfAll})`)?.expected;
    return [
      ...found,
      ...(totals.rows !== rows || totals.times !== times
        ? ['the running count of reservations is not that of the reservations']
        : []),
      ...(listed !== expected ? ['the list of reserved products is not that of the reservations'] : []),
    ];
  }
}

/** A reservation that somebody wrote. */
interface Change extends OrderId {
  /** Row id. Needed if a text of the row was changed on disk, because the key may then not find the row. */
  readonly place: number;
}

const dayOf = (time: unknown): string => new Date(Number(time)).toISOString().slice(0, 16);

/** What to look for among earlier orders. */
interface Looked {
  readonly product: string;
  readonly place: string | undefined;
  readonly since: number;
  readonly isRehearsal: boolean;
}

const keyOf = ({ isRehearsal, begin, end, retailer = '', metadata }: SummedLimit): SqlValue[] => [
  ...[isRehearsal ? 1 : 0, begin, end, retailer, JSON.stringify([...metadata].sort())],
];
