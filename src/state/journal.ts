import { ErrandError, UsageError } from '../errors.ts';
import type { Database } from '../sqlite/database.ts';
import { bodyHash, canonicalJson } from './canonical.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { Grants, type StoredGrant } from './grants.ts';
import { type Intent, type IntentState, type JournalRecord, recordOf } from './journal-record.ts';
import { journalFile, journalMigrations } from './journal-tables.ts';
import { self } from './owner.ts';
import { beingPlaced, checkFree, checkSameIntent, checkUnpaid, isOthers, mayHaveMade } from './take-over.ts';

/** How long a settled record is kept, ms. */
const keptMs = 30 * 24 * 3600 * 1000;

/**
 * The money journal: what was asked and not yet answered survives timeouts, crashes and reboots. A record is durable
 * when `record` resolves; it is owned by a live process or free to be resumed. Shared safely by several processes.
 */
export class Journal {
  readonly grants: Grants;
  readonly #database: Database;
  readonly #now: () => number;

  private constructor(database: Database, now: () => number) {
    this.grants = new Grants(database, now);
    this.#database = database;
    this.#now = now;
  }

  /** @throws StorageError where the journal cannot be written; then nothing may be sent. */
  static async open(folder: string, now: () => number, options?: OpenOptions): Promise<Journal> {
    return new Journal(await openStateDatabase(journalFile(folder), journalMigrations, options), now);
  }

  /**
   * Writes an intent down, durably, before it is sent. A key that is open already, for the same body, is taken over.
   * @param twinsSince ms: no open record to do the very same may be younger; undefined where a second one is meant.
   * @returns whether an earlier process may have sent it.
   * @throws ErrandError conflict for a key in use by a live process, for another body or account, or of an order that would be paid again.
   */
  record(intent: Intent, twinsSince?: number): Promise<{ readonly mayBeSent: boolean }> {
    const hash = bodyHash(intent.body);
    return this.#database.transaction(() => {
      const before = this.#find(intent.key, intent.baseUrl);
      if (before?.state === 'open') {
        checkFree(before);
        checkSameIntent(before, intent, hash);
      }
      if (before && intent.payment) checkUnpaid(before);
      const [twin] = twinsSince === undefined ? [] : this.#twins(intent, twinsSince);
      if (twin) throw beingPlaced(twin);
      const { pid, started } = self();
      this.#database.run(
        `INSERT INTO intents (key, base_url, state, operation, profile, sent_with, body_hash, body, payment, pid, process_started, created_at)
         VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (key, base_url) DO UPDATE SET state = 'open', operation = excluded.operation, profile = excluded.profile,
           sent_with = excluded.sent_with, body_hash = excluded.body_hash, body = excluded.body, payment = excluded.payment, credential = NULL, pid = excluded.pid,
           process_started = excluded.process_started, order_id = NULL, code = NULL, message = NULL, settled_at = NULL,
           created_at = CASE WHEN state = 'open' THEN created_at ELSE excluded.created_at END`,
        intent.key,
        intent.baseUrl,
        intent.operation,
        intent.profile,
        intent.keyMasked,
        hash,
        canonicalJson(intent.body),
        intent.payment === undefined ? null : JSON.stringify(intent.payment),
        pid,
        started,
        this.#time(),
      );
      this.#database.run(
        'DELETE FROM intents WHERE settled_at < ?',
        new Date(this.#now() - keptMs).toISOString(),
      );
      return { mayBeSent: before !== undefined && mayHaveMade(before, intent.keyMasked) };
    });
  }

  /** The service has the order; `grant` is what an order paid by challenge came with. */
  settle(key: string, baseUrl: string, orderId: string, grant?: StoredGrant): Promise<void> {
    return this.#database.transaction(() => {
      this.#end(key, baseUrl, 'settled', { order_id: orderId });
      if (grant) this.grants.write(orderId, baseUrl, grant);
    });
  }

  /** Keeps what pays for an open intent, durably, before it is sent. */
  async keepCredential(key: string, baseUrl: string, credential: string): Promise<void> {
    const sql = "UPDATE intents SET credential = ? WHERE key = ? AND base_url = ? AND state = 'open'";
    await this.#database.transaction(() => this.#database.run(sql, credential, key, baseUrl));
  }

  /** What pays for an open intent; undefined where none was made. */
  credentialOf(key: string, baseUrl: string): string | undefined {
    const [row] = this.#database.all(
      'SELECT credential FROM intents WHERE key = ? AND base_url = ?',
      key,
      baseUrl,
    );
    return typeof row?.credential === 'string' ? row.credential : undefined;
  }

  /** The service surely has no order of this intent. What has an order by now keeps it. */
  refuse(
    key: string,
    baseUrl: string,
    reason: { readonly code: string; readonly message: string },
  ): Promise<void> {
    return this.#database.transaction(() => this.#end(key, baseUrl, 'refused', reason));
  }

  /** The user gives the intent up; whether an order came of it is theirs to know. */
  forget(key: string, baseUrl: string): Promise<void> {
    return this.#database.transaction(() => this.#end(key, baseUrl, 'forgotten', {}));
  }

  /** The open record of a key, if there is one. */
  findOpen(key: string, baseUrl: string): JournalRecord | undefined {
    const record = this.#find(key, baseUrl);
    return record?.state === 'open' ? record : undefined;
  }

  /** The order that a key has led to at a service, if it is known. With `sentWith` only where it was sent with that key: accounts know nothing of each other's. */
  settledOrder(key: string, baseUrl: string, sentWith?: string): string | undefined {
    const record = this.#find(key, baseUrl);
    if (record?.state !== 'settled' || (sentWith ?? record.sent_with) !== record.sent_with) return undefined;
    return record.order_id ?? undefined;
  }

  /** The record that has led to an order or a batch. */
  madeBy(id: string, baseUrl: string): JournalRecord | undefined {
    return this.#database
      .all('SELECT * FROM intents WHERE order_id = ? AND base_url = ?', id, baseUrl)
      .map(recordOf)[0];
  }

  /** Records in doubt, oldest first; with `all` the ended ones too. */
  list(all = false): JournalRecord[] {
    const rows = this.#database.all(
      `SELECT * FROM intents ${all ? '' : "WHERE state = 'open'"} ORDER BY created_at, key`,
    );
    return rows.map(recordOf);
  }

  /** How many records are in doubt whose process is no longer at work on them. */
  countInDoubt(): number {
    return this.list().filter(({ pid, process_started }) => !isOthers({ pid, process_started })).length;
  }

  /** The record of a key, or of a prefix of one that names a single record; of several services' the one at `baseUrl`. @throws ErrandError not_found, UsageError. */
  get(key: string, baseUrl: string): JournalRecord {
    const rows = this.#database.all(
      'SELECT * FROM intents WHERE substr(key, 1, length(?)) = ? ORDER BY created_at',
      key,
      key,
    );
    const records = rows.map(recordOf);
    const exact = records.filter((record) => record.key === key);
    const named = exact.length > 0 ? exact : records;
    const here = named.filter((record) => record.base_url === baseUrl);
    const [record, ...more] = here.length > 0 ? here : named;
    if (!record)
      throw new ErrandError('not_found', `the journal has no record of ${key}`, {
        hint: 'Where the journal was lost, the same order with --idempotency-key and the whole key settles it just as well.',
        next: [listStep],
      });
    if (more.length === 0) return record;
    throw new UsageError(`${key} names ${records.length} records of the journal; give the whole key`, {
      next: [listStep],
    });
  }

  /** An open record to do the very same at the same service that no live process works on, not older than `sinceMs`. */
  findTwin(intent: Intent, sinceMs: number): JournalRecord | undefined {
    return this.#twins(intent, sinceMs).find((record) => !isOthers(record));
  }

  #twins(intent: Intent, sinceMs: number): JournalRecord[] {
    const rows = this.#database.all(
      `SELECT * FROM intents WHERE state = 'open' AND body_hash = ? AND base_url = ? AND profile = ? AND operation = ?
       AND key <> ? AND created_at >= ? ORDER BY created_at`,
      bodyHash(intent.body),
      intent.baseUrl,
      intent.profile,
      intent.operation,
      intent.key,
      new Date(sinceMs).toISOString(),
    );
    return rows.map(recordOf);
  }

  /**
   * Takes an open record over, to resume it. One that has ended since it was read is left as it is.
   * @returns the record as it is now. @throws ErrandError conflict where a live process works on it.
   */
  claim(read: JournalRecord): Promise<JournalRecord> {
    const { key, base_url } = read;
    return this.#database.transaction(() => {
      const record = this.#find(key, base_url) ?? read;
      if (record.state !== 'open') return record;
      checkFree(record);
      const { pid, started } = self();
      this.#database.run(
        'UPDATE intents SET pid = ?, process_started = ? WHERE key = ? AND base_url = ?',
        pid,
        started,
        key,
        base_url,
      );
      return record;
    });
  }

  close(): void {
    this.#database.close();
  }

  #end(
    key: string,
    baseUrl: string,
    state: IntentState,
    facts: { order_id?: string; code?: string; message?: string },
  ): void {
    const { order_id = null, code = null, message = null } = facts;
    this.#database.run(
      `UPDATE intents SET state = ?, order_id = ?, code = ?, message = ?, settled_at = ?, credential = NULL
       WHERE key = ? AND base_url = ? AND (state = 'open' OR ? = 'settled')`,
      state,
      order_id,
      code,
      message,
      this.#time(),
      key,
      baseUrl,
      state,
    );
  }

  #find(key: string, baseUrl: string): JournalRecord | undefined {
    return this.#database
      .all('SELECT * FROM intents WHERE key = ? AND base_url = ?', key, baseUrl)
      .map(recordOf)[0];
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

const listStep = { command: 'errand order journal list', when: 'to see what is in doubt' };
