import { join } from 'node:path';
import { ErrandError, UsageError } from '../errors.ts';
import { bodyHash, canonicalJson } from './canonical.ts';
import { openDatabase, storageError } from './database.ts';
import { isAlive, self } from './owner.ts';
import type { Sqlite } from './sqlite.ts';

/** What is about to be asked of the service, once. */
export interface Intent {
  readonly key: string;
  readonly operation: string;
  readonly profile: string;
  readonly baseUrl: string;
  readonly keyMasked: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type IntentState = 'open' | 'settled' | 'refused' | 'forgotten';

/** A journal record, as `order journal list` shows it. Times ISO 8601. */
export interface JournalRecord {
  readonly key: string;
  readonly state: IntentState;
  readonly operation: string;
  readonly profile: string;
  readonly base_url: string;
  readonly sent_with: string;
  readonly body_hash: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly order_id: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly pid: number;
  readonly process_started: string;
  readonly created_at: string;
  readonly settled_at: string | null;
  readonly [field: string]: unknown;
}

const migrations = [
  `CREATE TABLE intents (
     key TEXT NOT NULL, base_url TEXT NOT NULL, state TEXT NOT NULL, operation TEXT NOT NULL, profile TEXT NOT NULL,
     sent_with TEXT NOT NULL, body_hash TEXT NOT NULL, body TEXT NOT NULL, order_id TEXT, code TEXT, message TEXT,
     pid INTEGER NOT NULL, process_started TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT,
     PRIMARY KEY (key, base_url)) STRICT;
   CREATE INDEX intents_open ON intents (created_at) WHERE state = 'open';
   CREATE INDEX intents_twin ON intents (body_hash, base_url) WHERE state = 'open';
   CREATE INDEX intents_settled ON intents (settled_at) WHERE settled_at IS NOT NULL`,
];

/** The journal's file in the state folder. */
export const journalFile = (folder: string): string => join(folder, 'journal.db');

/** How long a settled record is kept, ms. */
const keptMs = 30 * 24 * 3600 * 1000;

/**
 * The money journal: what was asked and not yet answered survives timeouts, crashes and reboots. A record is durable
 * when `record` returns; it is owned by a live process or free to be resumed. Shared safely by several processes.
 */
export class Journal {
  readonly #file: string;
  readonly #database: Sqlite;
  readonly #now: () => number;

  private constructor(file: string, database: Sqlite, now: () => number) {
    this.#file = file;
    this.#database = database;
    this.#now = now;
  }

  /** @throws StorageError where the journal cannot be written; then nothing may be sent. */
  static async open(folder: string, now: () => number): Promise<Journal> {
    const file = journalFile(folder);
    return new Journal(file, await openDatabase(file, migrations), now);
  }

  /**
   * Writes an intent down, durably, before it is sent. A key that is open already, for the same body, is taken over.
   * @returns whether an earlier process may have sent it.
   * @throws ErrandError conflict for a key in use by a live process or for another body.
   */
  record(intent: Intent): { readonly mayBeSent: boolean } {
    const hash = bodyHash(intent.body);
    return this.#transaction(() => {
      const before = this.#find(intent.key, intent.baseUrl);
      if (before?.state === 'open') this.#checkTakeOver(before, hash);
      const { pid, started } = self();
      this.#run(
        `INSERT INTO intents (key, base_url, state, operation, profile, sent_with, body_hash, body, pid, process_started, created_at)
         VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (key, base_url) DO UPDATE SET state = 'open', operation = excluded.operation, profile = excluded.profile,
           sent_with = excluded.sent_with, body_hash = excluded.body_hash, body = excluded.body, pid = excluded.pid,
           process_started = excluded.process_started, order_id = NULL, code = NULL, message = NULL, settled_at = NULL`,
        [
          intent.key,
          intent.baseUrl,
          intent.operation,
          intent.profile,
          intent.keyMasked,
          hash,
          canonicalJson(intent.body),
          pid,
          started,
          this.#time(),
        ],
      );
      this.#run('DELETE FROM intents WHERE settled_at < ?', [new Date(this.#now() - keptMs).toISOString()]);
      return { mayBeSent: before?.state === 'open' || before?.state === 'forgotten' };
    });
  }

  /** The service has the order. */
  settle(key: string, baseUrl: string, orderId: string): void {
    this.#end(key, baseUrl, 'settled', { order_id: orderId });
  }

  /** The service surely has no order of this intent. */
  refuse(key: string, baseUrl: string, reason: { readonly code: string; readonly message: string }): void {
    this.#end(key, baseUrl, 'refused', reason);
  }

  /** The user gives the intent up; whether an order came of it is theirs to know. */
  forget(key: string, baseUrl: string): void {
    this.#end(key, baseUrl, 'forgotten', {});
  }

  /** The order that a key has led to at a service, if it is known. */
  settledOrder(key: string, baseUrl: string): string | undefined {
    const record = this.#find(key, baseUrl);
    return record?.state === 'settled' ? (record.order_id ?? undefined) : undefined;
  }

  /** The record that has led to an order or a batch. */
  madeBy(id: string, baseUrl: string): JournalRecord | undefined {
    return this.#all('SELECT * FROM intents WHERE order_id = ? AND base_url = ?', [id, baseUrl]).map(
      recordOf,
    )[0];
  }

  /** Records in doubt, oldest first; with `all` the ended ones too. */
  list(all = false): JournalRecord[] {
    const rows = this.#all(
      `SELECT * FROM intents ${all ? '' : "WHERE state = 'open'"} ORDER BY created_at, key`,
      [],
    );
    return rows.map(recordOf);
  }

  /** How many records are in doubt whose process is no longer at work on them. */
  countInDoubt(): number {
    return this.list().filter(({ pid, process_started }) => !isOthers({ pid, process_started })).length;
  }

  /** The record of a key, or of a prefix of one that names a single record. @throws ErrandError not_found, UsageError. */
  get(key: string): JournalRecord {
    const rows = this.#all('SELECT * FROM intents WHERE substr(key, 1, length(?)) = ? ORDER BY created_at', [
      key,
      key,
    ]);
    const records = rows.map(recordOf);
    const exact = records.filter((record) => record.key === key);
    const [record, ...more] = exact.length > 0 ? exact : records;
    if (!record)
      throw new ErrandError('not_found', `the journal has no record of ${key}`, { next: [listStep] });
    if (more.length === 0) return record;
    throw new UsageError(`${key} names ${records.length} records of the journal; give the whole key`, {
      next: [listStep],
    });
  }

  /** An open record to do the very same at the same service that no live process works on, not older than `sinceMs`. */
  findTwin(intent: Intent, sinceMs: number): JournalRecord | undefined {
    const rows = this.#all(
      `SELECT * FROM intents WHERE state = 'open' AND body_hash = ? AND base_url = ? AND profile = ? AND key <> ? AND created_at >= ?
       ORDER BY created_at`,
      [bodyHash(intent.body), intent.baseUrl, intent.profile, intent.key, new Date(sinceMs).toISOString()],
    );
    return rows.map(recordOf).find((record) => !isOthers(record));
  }

  /** Takes an open record over, to resume it. @throws ErrandError conflict where a live process works on it. */
  claim({ key, base_url }: JournalRecord): void {
    this.#transaction(() => {
      const record = this.#find(key, base_url);
      if (record?.state === 'open') this.#checkTakeOver(record, record.body_hash);
      const { pid, started } = self();
      this.#run('UPDATE intents SET pid = ?, process_started = ? WHERE key = ? AND base_url = ?', [
        pid,
        started,
        key,
        base_url,
      ]);
    });
  }

  close(): void {
    this.#database.close();
  }

  #checkTakeOver(record: JournalRecord, hash: string): void {
    if (isOthers(record)) {
      throw new ErrandError('conflict', `process ${record.pid} is at work on ${record.key}`, {
        idempotencyKey: record.key,
        outcome: 'not_sent',
        hint: 'Wait for it to end; the journal then tells what became of the order.',
      });
    }
    if (record.body_hash === hash) return;
    throw new ErrandError(
      'conflict',
      `${record.key} is in doubt for another order; it cannot be used for this one`,
      {
        idempotencyKey: record.key,
        outcome: 'not_sent',
        next: [{ command: `errand order journal resume ${record.key}`, when: 'to settle the other one' }],
      },
    );
  }

  #end(
    key: string,
    baseUrl: string,
    state: IntentState,
    facts: { order_id?: string; code?: string; message?: string },
  ): void {
    const { order_id = null, code = null, message = null } = facts;
    this.#transaction(() =>
      this.#run(
        'UPDATE intents SET state = ?, order_id = ?, code = ?, message = ?, settled_at = ? WHERE key = ? AND base_url = ?',
        [state, order_id, code, message, this.#time(), key, baseUrl],
      ),
    );
  }

  #find(key: string, baseUrl: string): JournalRecord | undefined {
    return this.#all('SELECT * FROM intents WHERE key = ? AND base_url = ?', [key, baseUrl]).map(recordOf)[0];
  }

  #transaction<T>(work: () => T): T {
    this.#run('BEGIN IMMEDIATE', []);
    try {
      const result = work();
      this.#run('COMMIT', []);
      return result;
    } catch (error) {
      // A full disk may have rolled back already; the first error is the one to tell.
      try {
        this.#database.exec('ROLLBACK');
      } catch {}
      throw error;
    }
  }

  #run(sql: string, values: readonly (string | number | null)[]): void {
    try {
      this.#database.prepare(sql).run(...values);
    } catch (cause) {
      throw storageError(this.#file, cause);
    }
  }

  #all(sql: string, values: readonly (string | number | null)[]): Record<string, unknown>[] {
    try {
      return this.#database
        .prepare(sql)
        .all(...values)
        .map((row) => ({ ...(row as object) }));
    } catch (cause) {
      throw storageError(this.#file, cause);
    }
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

const listStep = { command: 'errand order journal list', when: 'to see what is in doubt' };

const isOthers = ({ pid, process_started }: Pick<JournalRecord, 'pid' | 'process_started'>): boolean =>
  pid !== process.pid && isAlive({ pid, started: process_started });

function recordOf(row: Record<string, unknown>): JournalRecord {
  // The table's own columns, written above; the body is JSON of ours.
  return { ...row, body: JSON.parse(String(row.body)) } as unknown as JournalRecord;
}
