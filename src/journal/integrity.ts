import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { sha256 } from '../format/canonical.ts';
import { DamagedError } from '../platform/errors.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { IntentRow } from './intent-row.ts';

/** The seal's file, beside that of the journal. */
export const sealOf = (journal: string): string => `${journal}-seal`;

/**
 * How many intents were recorded, kept beside the journal. SQLite drops what a damaged WAL held without a word; a journal
 * that counts less than its seal has lost something. The seal is written after the commit and not synced, so it may count
 * less than the journal, and never more.
 */
export function readSeal(file: string): number | undefined {
  try {
    const text = readPrivateFile(file, () => {})?.toString('latin1') ?? '';
    const [count = '', check] = text.trimEnd().split(' ');
    return check === checkOfCount(count) ? Number(count) : undefined;
  } catch {
    // Without a seal the journal still vouches for each of its records.
    return undefined;
  }
}

/** A disk that has no room for it does not stop an order. */
export function writeSeal(file: string, count: number): void {
  const text = String(count).padStart(12, '0');
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const opened = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      // Always of one length, so that nothing is left of what stood there.
      writeSync(opened, `${text} ${checkOfCount(text)}\n`, 0);
    } finally {
      closeSync(opened);
    }
  } catch {}
}

const checkOfCount = (count: string): string => sha256(`seal ${count}`).slice(0, 16);

/**
 * SQL for a column `hides_text`: 1 where a text of a row goes on behind a NUL. The binding of SQLite ends it there, so that
 * what was added to it would be read as never written.
 */
export const hiddenText = (columns: readonly string[]): string =>
  `instr(CAST(${columns.map((name) => `coalesce(${name}, '')`).join(' || ')} AS BLOB), x'00') > 0 AS hides_text`;

/** A text as SQLite gives it back: a service may send any. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

/** Rows that count: whether it has still to be reported (2), or was reported a short while ago (1), and their twin numbers. */
interface Sums {
  readonly rows: bigint;
  readonly live: bigint;
  readonly twins: bigint;
}

/** The sums of rows in SQL; as text, since they may be larger than a number of ours. */
export const sumColumns = ['count(*)', 'coalesce(sum(live), 0)', 'coalesce(sum(twin), 0)']
  .map((sum, at) => `CAST(${sum} AS TEXT) AS ${['rows', 'live', 'twins'][at]}`)
  .join(', ');

interface Verified {
  /** How many intents were recorded. */
  readonly count: number;
  readonly sums: Sums;
}

type Counted = Pick<IntentRow, 'live' | 'twin'>;

/**
 * What the intents that are owed or recent must add up to. A row that damage hides, or an index that no longer finds it,
 * would let the same order be placed again; the sums no longer agree then, and the journal is not used.
 */
export class Tally {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param seal the count that the journal must have reached. @throws DamagedError where something is missing or was changed.
   */
  check(seal: number | undefined): void {
    // One statement sees one moment, whatever other processes write meanwhile.
    const row = this.#database.get(
      `SELECT tally.*, found.rows AS found_rows, found.live AS found_live, found.twins AS found_twins FROM tally,
         (SELECT ${sumColumns} FROM intents INDEXED BY intents_live WHERE live > 0) AS found WHERE id = 1`,
    );
    const { count, sums } = this.#verified(row);
    if (seal !== undefined && count < seal) throw this.damaged('its last entries are missing');
    const found = { rows: row?.found_rows, live: row?.found_live, twins: row?.found_twins };
    if (textOf(sumsOf(found)) !== textOf(sums))
      throw this.damaged('records are missing from it or were changed');
  }

  /** How many intents were recorded; whether that was changed since is for `check` to say. */
  count(): number {
    return Number(this.#database.get('SELECT count FROM tally WHERE id = 1')?.count ?? 0);
  }

  /** One more intent is recorded. @returns how many were. */
  next(): number {
    const { count, sums } = this.#read();
    this.#write(count + 1, sums);
    return count + 1;
  }

  /** A row takes the place of another, or of none. */
  change(before: Counted | undefined, after: Counted): void {
    const { count, sums } = this.#read();
    this.#write(count, plus(plus(sums, weight(before), -1n), weight(after), 1n));
  }

  /** Rows are no longer recent. */
  sweep(swept: Readonly<Record<string, unknown>>): void {
    const { count, sums } = this.#read();
    this.#write(count, plus(sums, sumsOf(swept), -1n));
  }

  /** Takes the rows that are there as what must be there. */
  renew(count: number, rows: readonly Counted[]): void {
    this.#write(
      count,
      rows.reduce((sums, row) => plus(sums, weight(row), 1n), nothing),
    );
  }

  #read(): Verified {
    return this.#verified(this.#database.get('SELECT * FROM tally WHERE id = 1'));
  }

  #verified(row: Readonly<Record<string, unknown>> | undefined): Verified {
    const verified = { count: Number(row?.count), sums: sumsOf(row ?? {}) };
    if (row?.checksum === checkOfTally(verified.count, verified.sums)) return verified;
    throw this.damaged('its tally was changed');
  }

  #write(count: number, sums: Sums): void {
    this.#database.run(
      'INSERT OR REPLACE INTO tally (id, count, rows, live, twins, checksum) VALUES (1, ?, ?, ?, ?, ?)',
      count,
      String(sums.rows),
      String(sums.live),
      String(sums.twins),
      checkOfTally(count, sums),
    );
  }

  damaged(what: string): DamagedError {
    return new DamagedError(`${this.#database.file} is damaged: ${what}`, damagedAdvice);
  }
}

/** What helps where the journal cannot vouch for itself. */
export const damagedAdvice = {
  hint: 'It may name orders in doubt, so it is not used as it is. An earlier command may have ordered: look first.',
  next: [
    { command: 'errand order journal repair', when: 'to keep what is intact and set the rest aside' },
    { command: 'errand order list', when: 'to see what was ordered' },
  ],
} as const;

const nothing: Sums = { rows: 0n, live: 0n, twins: 0n };

function weight(row: Counted | undefined): Sums {
  if (!row || Number(row.live) === 0) return nothing;
  return { rows: 1n, live: BigInt(Number(row.live)), twins: BigInt(Number(row.twin)) };
}

const plus = (a: Sums, b: Sums, sign: 1n | -1n): Sums => ({
  rows: a.rows + sign * b.rows,
  live: a.live + sign * b.live,
  twins: a.twins + sign * b.twins,
});

const sumsOf = ({ rows, live, twins }: Readonly<Record<string, unknown>>): Sums => ({
  rows: whole(rows),
  live: whole(live),
  twins: whole(twins),
});

/** Damage may have made anything of it. */
const whole = (value: unknown): bigint => (/^-?\d{1,30}$/.test(String(value)) ? BigInt(String(value)) : -1n);

const textOf = ({ rows, live, twins }: Sums): string => `${rows} ${live} ${twins}`;

const checkOfTally = (count: number, sums: Sums): string =>
  sha256(`tally ${count} ${textOf(sums)}`).slice(0, 32);
