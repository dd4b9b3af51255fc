import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import { hiddenText, sumColumns, Tally } from './integrity.ts';
import { type IntentRow, intentColumns, isIntact, twinNumber } from './intent-row.ts';
import type { Intent } from './journal-record.ts';

/** How long the record of what has ended is kept, ms. */
const keptMs = 30 * 24 * 3600 * 1000;
/** How many intents come between two times that what is past is swept away. */
const intentsPerSweep = 64;

/** Rows of intents, each with its checksum, and the tally that says which of them must be there. Within transactions of the journal. */
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

  /** @throws StorageError where damage hides it, or it is not what was written. */
  intact(key: string, baseUrl: string): IntentRow {
    const row = this.find(key, baseUrl);
    if (row && isIntact(row)) return row;
    throw this.tally.damaged(`the record of ${key} ${row ? 'was changed' : 'is missing'}`);
  }

  /** Rows that mean the very same at the same service, under another key, that are owed or recent; oldest first. */
  twins(
    { operation, baseUrl, key }: Pick<Intent, 'operation' | 'baseUrl' | 'key'>,
    bodyHash: string,
  ): IntentRow[] {
    const number = twinNumber({ operation, base_url: baseUrl, body_hash: bodyHash });
    const found = this.#rows(
      `${stored} INDEXED BY intents_live WHERE live > 0 AND twin = ? AND key <> ? ORDER BY created_at`,
      number,
      key,
    );
    if (found.some((row) => isIntact(row) && row.twin !== number))
      throw this.tally.damaged('an index leads to other records');
    return found;
  }

  /** @throws DamagedError where a text of a row goes on behind what is read of it. */
  checkTexts(): void {
    const sql = `SELECT 1 AS found FROM (SELECT ${hiddenText(intentColumns)} FROM intents) WHERE hides_text LIMIT 1`;
    if (this.#database.get(sql)) throw this.tally.damaged('a record was changed');
  }

  /** What the user has still to be shown, oldest first. */
  owed(): IntentRow[] {
    return this.#rows(
      `${stored} INDEXED BY intents_live WHERE live > 0 AND live = 2 ORDER BY created_at, key`,
    );
  }

  /** What is owed, or was reported a short while ago. */
  live(): IntentRow[] {
    return this.#rows(`${stored} INDEXED BY intents_live WHERE live > 0`);
  }

  all(): IntentRow[] {
    return this.#rows(`${stored} NOT INDEXED ORDER BY created_at, key`);
  }

  /** Keys of what was recorded for a service since a time, newest first. @param since ISO 8601. */
  keysSince(baseUrl: string, since: string): string[] {
    const sql =
      'SELECT key FROM intents NOT INDEXED WHERE base_url = ? AND created_at >= ? ORDER BY created_at DESC, key';
    return this.#database.all(sql, baseUrl, since).map(({ key }) => String(key));
  }

  /** Whose key begins so. */
  named(prefix: string): IntentRow[] {
    const sql = `${stored} NOT INDEXED WHERE substr(key, 1, length(?)) = ? ORDER BY created_at`;
    return this.#rows(sql, prefix, prefix);
  }

  elsewhere(key: string, baseUrl: string): IntentRow[] {
    return this.#rows(`${stored} WHERE key = ? AND base_url <> ?`, key, baseUrl);
  }

  /** What has led to an order or a batch. */
  madeBy(id: string, baseUrl: string): IntentRow[] {
    return this.#rows(`${stored} WHERE order_id = ? AND base_url = ?`, id, baseUrl);
  }

  /** The same at any service. */
  madeAnywhere(id: string): IntentRow[] {
    return this.#rows(`${stored} WHERE order_id IN (?, ?)`, id, id.toLowerCase());
  }

  credentialOf(key: string, baseUrl: string): string | undefined {
    const { credential } = this.intact(key, baseUrl);
    return typeof credential === 'string' ? credential : undefined;
  }

  /** Writes a row in the place of the one with its key. */
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

  /** Now and then, what was reported before `recentSince` is no longer recent, and what is long past is deleted. @param nowMs epoch. */
  sweep(count: number, nowMs: number, recentSince: number): void {
    if (count % intentsPerSweep !== 0) return;
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
      new Date(nowMs - keptMs).toISOString(),
    );
  }

  #rows(sql: string, ...values: (string | number)[]): IntentRow[] {
    return this.#database.all(sql, ...values).map(rowOf);
  }
}

/** Every column, and whether a text of the row is longer than it is read. */
const stored = `SELECT *, ${hiddenText(intentColumns)} FROM intents`;

/** The table is strict, and has these columns alone. A row that hides a text vouches for nothing. */
function rowOf({ hides_text: hidesText, ...row }: StoredRow): IntentRow {
  return (hidesText === 1 ? { ...row, checksum: '' } : row) as unknown as IntentRow;
}

/** What became, as far as this process knows, of something that it recorded in the journal. */
export interface RunIntent {
  readonly key: string;
  readonly baseUrl: string;
  readonly operation: string;
  /** Of what the service made; undefined while no response came. */
  readonly madeId: string | undefined;
}

/**
 * The intents of this run that the user has still to be shown. Kept in memory beside the journal, so that it is known
 * even where the disk has failed since.
 */
export class RunIntents {
  readonly #intents = new Map<string, RunIntent>();

  /** It may be sent from here on; with `madeId` the service has responded. Of what it asks for nothing is kept: that may be long. */
  note({ key, baseUrl, operation }: Omit<RunIntent, 'madeId'>, madeId?: string): void {
    this.#intents.set(idOf({ key, baseUrl }), { key, baseUrl, operation, madeId });
  }

  /** The service has responded to a noted intent. */
  respond(intent: Pick<RunIntent, 'key' | 'baseUrl'>, madeId: string): void {
    const known = this.#intents.get(idOf(intent));
    if (known) this.#intents.set(idOf(intent), { ...known, madeId });
  }

  /** Nothing came of it, or the user knows what did. */
  drop(intent: Pick<RunIntent, 'key' | 'baseUrl'>): void {
    this.#intents.delete(idOf(intent));
  }

  /** In the order in which they were recorded. */
  all(): readonly RunIntent[] {
    return [...this.#intents.values()];
  }
}

const idOf = ({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>): string => JSON.stringify([baseUrl, key]);
