import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { sha256 } from '../format/canonical.ts';
import { DamagedError } from '../platform/errors.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { IntentRow } from './intent-row.ts';

/** Path of the file with the record count, next to the journal. */
export const recordCountFileOf = (journal: string): string => `${journal}-seal`;

/**
 * Reads the record count, which is stored next to the journal. The count reveals lost data, because SQLite silently
 * drops the contents of a damaged WAL: if the journal counts fewer intents than this file, the journal has lost some.
 * The file is written after the commit and without fsync, so its count may lag behind the journal but never exceeds it.
 */
export function readRecordCount(file: string): number | undefined {
  try {
    const text = readPrivateFile(file, () => {})?.toString('latin1') ?? '';
    const [count = '', check] = text.trimEnd().split(' ');
    return check === checkOfCount(count) ? Number(count) : undefined;
  } catch {
    // Without a record count, the journal's records are still protected by their checksums.
    return undefined;
  }
}

/** Writes the record count on a best-effort basis, because a full disk must not block an order. */
export function writeRecordCount(file: string, count: number): void {
  const text = String(count).padStart(12, '0');
  try {
    const { O_WRONLY, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    const opened = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      // Fixed length, so that the new text overwrites the old text completely.
      writeSync(opened, `${text} ${checkOfCount(text)}\n`, 0);
    } finally {
      closeSync(opened);
    }
  } catch {}
}

const checkOfCount = (count: string): string => sha256(`seal ${count}`).slice(0, 16);

/**
 * SQL for a column `hides_text`: 1 if a text in the row continues after a NUL. The SQLite binding cuts texts at NUL, so
 * text appended after a NUL would be invisible.
 */
export const hiddenText = (columns: readonly string[]): string =>
  `instr(CAST(${columns.map((name) => `coalesce(${name}, '')`).join(' || ')} AS BLOB), x'00') > 0 AS hides_text`;

/** Replaces NULs, which SQLite cannot return; a service may send any text. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

/**
 * Totals over counted rows: the number of rows, the sum of `live`, and the sum of `twin`. A row's `live` is 2 if it is
 * not yet reported, and 1 if it was reported recently.
 */
interface Sums {
  readonly rows: bigint;
  readonly live: bigint;
  readonly twins: bigint;
}

/** SQL for the totals. Returns the totals as text, because a total may exceed a JavaScript number. */
export const sumColumns = ['count(*)', 'coalesce(sum(live), 0)', 'coalesce(sum(twin), 0)']
  .map((sum, at) => `CAST(${sum} AS TEXT) AS ${['rows', 'live', 'twins'][at]}`)
  .join(', ');

interface Verified {
  /** Number of intents recorded. */
  readonly count: number;
  readonly sums: Sums;
}

type Counted = Pick<IntentRow, 'live' | 'twin'>;

/**
 * Checksum totals over open and recent intents. If damage deletes a row, or an index misses it, an order could be
 * placed twice. The totals then disagree with the rows, and the journal is not used.
 */
export class Tally {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param recordCount is the minimum count that the journal must have reached.
   * @throws DamagedError if records are missing or were changed.
   */
  check(recordCount: number | undefined): void {
    // One statement gives a consistent snapshot despite concurrent writers.
    const row = this.#database.get(
      `SELECT tally.*, found.rows AS found_rows, found.live AS found_live, found.twins AS found_twins FROM tally,
         (SELECT ${sumColumns} FROM intents INDEXED BY intents_live WHERE live > 0) AS found WHERE id = 1`,
    );
    const { count, sums } = this.#verified(row);
    if (recordCount !== undefined && count < recordCount) throw this.damaged('its last entries are missing');
    const found = { rows: row?.found_rows, live: row?.found_live, twins: row?.found_twins };
    if (textOf(sumsOf(found)) !== textOf(sums))
      throw this.damaged('records are missing from it or were changed');
  }

  /** Number of intents recorded. Not verified; `check` does that. */
  count(): number {
    return Number(this.#database.get('SELECT count FROM tally WHERE id = 1')?.count ?? 0);
  }

  /** Counts one more intent. @returns the new count. */
  next(): number {
    const { count, sums } = this.#read();
    this.#write(count + 1, sums);
    return count + 1;
  }

  /** Updates the totals for a row that is new, or that replaces another row. */
  change(before: Counted | undefined, after: Counted): void {
    const { count, sums } = this.#read();
    this.#write(count, plus(plus(sums, weight(before), -1n), weight(after), 1n));
  }

  /** Subtracts rows that are no longer recent from the totals. */
  sweep(swept: Readonly<Record<string, unknown>>): void {
    const { count, sums } = this.#read();
    this.#write(count, plus(sums, sumsOf(swept), -1n));
  }

  /** Recomputes the totals from the given rows. */
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

/** Advice for a journal that fails verification. */
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

/** Parses a total; -1 if damage has left text that is not a whole number. */
const whole = (value: unknown): bigint => (/^-?\d{1,30}$/.test(String(value)) ? BigInt(String(value)) : -1n);

const textOf = ({ rows, live, twins }: Sums): string => `${rows} ${live} ${twins}`;

const checkOfTally = (count: number, sums: Sums): string =>
  sha256(`tally ${count} ${textOf(sums)}`).slice(0, 32);
