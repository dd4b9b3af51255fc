import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import { hiddenText, sumColumns, Tally } from './integrity.ts';
import { duplicateNumber, type IntentRow, intentColumns, isIntact } from './intent-row.ts';
import type { Intent } from './journal-record.ts';

/** Retention of finished intents, ms. */
const retentionMs = 30 * 24 * 3600 * 1000;
/** Number of intents between two cleanups. */
const intentsPerSweep = 64;

/** Whether to clean up after recording an intent. @param count is the number of intents recorded. */
export const isSweepDue = (count: number): boolean => count % intentsPerSweep === 0;

/**
 * Rows of intents with checksums, and the tally of the rows that must exist. Use within transactions of the journal.
 */
export class IntentTable {
  readonly tally: Tally;
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    this.tally = new Tally(database);
  }

  find(key: string, baseUrl: string): IntentRow | undefined {
    return this.#rows(`${stored} WHERE key = ? AND base_url = ?`, key, baseUrl)[0];
  }

  /** @throws StorageError if the row is missing or altered. */
  intact(key: string, baseUrl: string): IntentRow {
    const row = this.find(key, baseUrl);
    if (row && isIntact(row)) return row;
    throw this.tally.damaged(`the record of ${key} ${row ? 'was changed' : 'is missing'}`);
  }

  /** Equivalent intents that have another key, at the same service, and are unreported or recent; oldest first. */
  duplicates(
    { operation, baseUrl, key }: Pick<Intent, 'operation' | 'baseUrl' | 'key'>,
    bodyHash: string,
  ): IntentRow[] {
    const number = duplicateNumber({ operation, base_url: baseUrl, body_hash: bodyHash });
    const found = this.#rows(
      `${stored} INDEXED BY intents_live WHERE live > 0 AND twin = ? AND key <> ? ORDER BY created_at`,
      number,
      key,
    );
    if (found.some((row) => isIntact(row) && row.twin !== number))
      throw this.tally.damaged('an index leads to other records');
    return found;
  }

  /** @throws DamagedError if SQLite stores more text in a row than SQLite returns. */
  checkTexts(): void {
    const sql = `SELECT 1 AS found FROM (SELECT ${hiddenText(intentColumns)} FROM intents) WHERE hides_text LIMIT 1`;
    if (this.#database.get(sql)) throw this.tally.damaged('a record was changed');
  }

  /** Intents still to be reported to the user, oldest first. */
  unfinished(): IntentRow[] {
    return this.#rows(
      `${stored} INDEXED BY intents_live WHERE live > 0 AND live = 2 ORDER BY created_at, key`,
    );
  }

  /** Intents that are unreported, and intents that were reported recently. */
  live(): IntentRow[] {
    return this.#rows(`${stored} INDEXED BY intents_live WHERE live > 0`);
  }

  all(): IntentRow[] {
    return this.#rows(`${stored} NOT INDEXED ORDER BY created_at, key`);
  }

  /** Keys recorded for a service since a time, newest first. @param since is in ISO 8601. */
  keysSince(baseUrl: string, since: string): string[] {
    const sql =
      'SELECT key FROM intents NOT INDEXED WHERE base_url = ? AND created_at >= ? ORDER BY created_at DESC, key';
    return this.#database.all(sql, baseUrl, since).map(({ key }) => String(key));
  }

  /** Intents whose key has this prefix. */
  named(prefix: string): IntentRow[] {
    const sql = `${stored} NOT INDEXED WHERE substr(key, 1, length(?)) = ? ORDER BY created_at`;
    return this.#rows(sql, prefix, prefix);
  }

  elsewhere(key: string, baseUrl: string): IntentRow[] {
    return this.#rows(`${stored} WHERE key = ? AND base_url <> ?`, key, baseUrl);
  }

  /** Intents that led to an order or batch. */
  madeBy(id: string, baseUrl: string): IntentRow[] {
    return this.#rows(`${stored} WHERE order_id = ? AND base_url = ?`, id, baseUrl);
  }

  /** Same as `madeBy`, but at any service. */
  madeAnywhere(id: string): IntentRow[] {
    return this.#rows(`${stored} WHERE order_id IN (?, ?)`, id, id.toLowerCase());
  }

  credentialOf(key: string, baseUrl: string): string | undefined {
    const { credential } = this.intact(key, baseUrl);
    return typeof credential === 'string' ? credential : undefined;
  }

  /** Inserts a row, or replaces the row that has the same key. */
  write(row: IntentRow, before: IntentRow | undefined): void {
    const columns = intentColumns.join(', ');
    const values = intentColumns.map((name) => row[name]);
    const { changes } = this.#database.run(
      `INSERT INTO intents (${columns}) VALUES (${values.map(() => '?').join(', ')})
       ON CONFLICT (key, base_url) DO UPDATE SET ${intentColumns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
      ...values,
    );
    if (changes !== 1) throw this.tally.damaged(`the record of ${row.key} cannot be written`);
    this.tally.change(before, row);
  }

  /**
   * Cleans up periodically. Intents reported before `recentSince` no longer count as recent, and old intents are
   * deleted.
   * @param nowMs is in ms since the epoch.
   */
  sweep(count: number, nowMs: number, recentSince: number): void {
    if (!isSweepDue(count)) return;
    const past = 'live = 1 AND live > 0 AND settled_at < ?';
    const since = new Date(recentSince).toISOString();
    const sums = this.#database.get(
      `SELECT ${sumColumns} FROM intents INDEXED BY intents_live WHERE ${past}`,
      since,
    );
    if (sums && sums.rows !== '0') {
      this.#database.run(`UPDATE intents INDEXED BY intents_live SET live = 0 WHERE ${past}`, since);
      this.tally.sweep(sums);
    }
    this.#database.run(
      'DELETE FROM intents WHERE live = 0 AND settled_at < ?',
      new Date(nowMs - retentionMs).toISOString(),
    );
  }

  #rows(sql: string, ...values: (string | number)[]): IntentRow[] {
    return this.#database.all(sql, ...values).map(rowOf);
  }
}

/** Selects all columns, plus a flag that is set if SQLite stores more text than it returns. */
const stored = `SELECT *, ${hiddenText(intentColumns)} FROM intents`;

/**
 * The cast is safe, because the table is STRICT and has only these columns. A row with hidden text loses its checksum.
 */
function rowOf({ hides_text: hidesText, ...row }: StoredRow): IntentRow {
  return (hidesText === 1 ? { ...row, checksum: '' } : row) as unknown as IntentRow;
}

/** What this process knows about the result of an intent that it has recorded in the journal. */
export interface RunIntent {
  readonly key: string;
  readonly baseUrl: string;
  readonly operation: string;
  /** Hash of the intent's content. */
  readonly contentHash?: string | undefined;
  /** Id of what the service made; undefined until the service responds. */
  readonly madeId: string | undefined;
}

/**
 * Intents of this run that were not yet reported to the user. They are kept in memory, so that they are known even if
 * the disk fails.
 */
export class RunIntents {
  readonly #intents = new Map<string, RunIntent>();

  /**
   * Adds an intent that may be sent from now on. If `madeId` is given, the service has responded. Does not store the
   * body, because it may be large.
   */
  note({ key, baseUrl, operation, contentHash }: Omit<RunIntent, 'madeId'>, madeId?: string): void {
    this.#intents.set(idOf({ key, baseUrl }), { key, baseUrl, operation, contentHash, madeId });
  }

  respond(intent: Pick<RunIntent, 'key' | 'baseUrl'>, madeId: string): void {
    const known = this.#intents.get(idOf(intent));
    if (known) this.#intents.set(idOf(intent), { ...known, madeId });
  }

  /** Removes an intent that had no effect, or whose result was reported to the user. */
  drop(intent: Pick<RunIntent, 'key' | 'baseUrl'>): void {
    this.#intents.delete(idOf(intent));
  }

  /** In the order recorded. */
  all(): readonly RunIntent[] {
    return [...this.#intents.values()];
  }
}

const idOf = ({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>): string => JSON.stringify([baseUrl, key]);
