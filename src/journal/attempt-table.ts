import type { Database } from '../platform/sqlite/database.ts';
import {
  type Attempt,
  type AttemptChange,
  type AttemptClaim,
  type AttemptNeed,
  type AttemptScope,
  type Attempts,
  accountOf,
  akinOf,
  attemptColumns,
  attemptOf,
  byScope,
  type Claim,
  type EarlierAttempt,
  type IntentEnd,
  inChunks,
  isSweepable,
  type Lookup,
  lookupOf,
  type NeedNumbers,
  type NewAttempt,
  needNumbers,
  needsAtOnce,
  newSecret,
  Overtaken,
  type Reference,
  relatedOf,
  type StoredAccount,
  type StoredAttempt,
  scopeOf,
  sweptAtOnce,
  wholeClaim,
} from './attempts.ts';

/** Migration. Older records are imported when the table is first used. */
export function createAttempts(database: Database): void {
  database.run(
    `CREATE TABLE attempt_accounts (
       id INTEGER PRIMARY KEY, service TEXT NOT NULL, account TEXT NOT NULL, test INTEGER NOT NULL,
       UNIQUE (service, account, test)) STRICT`,
  );
  database.run(
    `CREATE TABLE attempts (
       serial INTEGER PRIMARY KEY, account INTEGER NOT NULL, whole INTEGER NOT NULL, namespace TEXT, reference TEXT,
       run TEXT, number INTEGER NOT NULL, key TEXT NOT NULL, operation TEXT NOT NULL, upload TEXT, order_id TEXT,
       state TEXT NOT NULL, made_at INTEGER NOT NULL, seen_at INTEGER) STRICT`,
  );
  database.run('CREATE INDEX attempts_whole ON attempts (whole)');
  database.run('CREATE INDEX attempts_reference ON attempts (reference) WHERE reference IS NOT NULL');
  // The index leaves out the rows of uploads, because those are found by their upload. Otherwise each row would add a
  // random index entry.
  database.run('CREATE INDEX attempts_key ON attempts (key) WHERE upload IS NULL');
  database.run('CREATE INDEX attempts_upload ON attempts (upload) WHERE upload IS NOT NULL');
  database.run(`CREATE INDEX attempts_ended ON attempts (made_at) WHERE ${isSweepable}`);
  database.run('CREATE TABLE attempt_parts (part INTEGER NOT NULL, attempt INTEGER NOT NULL) STRICT');
  database.run('CREATE INDEX attempt_parts_part ON attempt_parts (part)');
  database.run(
    'CREATE TABLE attempt_settings (id INTEGER PRIMARY KEY CHECK (id = 1), secret TEXT NOT NULL, imported INTEGER NOT NULL) STRICT',
  );
  database.run('INSERT INTO attempt_settings VALUES (1, ?, 0)', newSecret());
}

/** Attempts in SQLite. Writes must run inside a transaction. */
export class AttemptTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  related(scope: AttemptScope, needs: readonly AttemptNeed[]): (readonly Attempt[])[] {
    const accounts = this.#accounts(scope);
    const secret = this.#secret();
    return [...inChunks(needs, needsAtOnce)].flatMap((piece) =>
      this.#find(accounts, lookupOf(secret, piece), Number.MAX_SAFE_INTEGER),
    );
  }

  /** Implements `Attempts.claim`. */
  claim(scope: AttemptScope, needs: Iterable<AttemptNeed>, decide: Claim): (number | undefined)[] {
    const own = this.#accountOf(scope);
    const accounts = this.#accounts(scope);
    const secret = this.#secret();
    const last = Number(this.#database.get('SELECT max(serial) AS last FROM attempts')?.last ?? 0);
    const written: (number | undefined)[] = [];
    try {
      for (const piece of inChunks(needs, needsAtOnce)) {
        if (written.length === needsAtOnce) this.#cache(claimCacheKiB);
        const lookup = lookupOf(secret, piece);
        for (const [at, related] of this.#find(accounts, lookup, last).entries()) {
          const made = decide(related, written.length);
          const numbers = lookup.numbers[at];
          written.push(made && numbers && this.#insert(own, piece[at]?.reference, numbers, made));
        }
      }
    } finally {
      if (written.length > needsAtOnce) this.#cache(defaultCacheKiB);
    }
    return written;
  }

  /** Persists an attempt for each need. @throws Overtaken. */
  claimAll({ scope, needs, decide }: AttemptClaim): void {
    const { newestAccount } = scope;
    if (newestAccount !== undefined && this.#newestAccount(scope, this.#accountOf(scope)) > newestAccount)
      throw new Overtaken('another account has begun to order');
    this.claim(scope, needs, wholeClaim(decide));
  }

  /** Implements `Attempts.accounts`. */
  accounts({ service, isTest }: Pick<AttemptScope, 'service' | 'isTest'>): StoredAccount[] {
    const sql =
      'SELECT id, account, user_id FROM attempt_accounts WHERE service = ? AND test = ? ORDER BY id';
    return this.#database.all(sql, service, isTest ? 1 : 0).map(accountOf);
  }

  /** Implements `Attempts.newestOrder`. */
  newestOrder({ id }: Pick<StoredAccount, 'id'>): string | undefined {
    const sql =
      'SELECT order_id FROM attempts WHERE account = ? AND order_id IS NOT NULL ORDER BY serial DESC LIMIT 1';
    const row = this.#database.get(sql, id);
    return row && String(row.order_id);
  }

  /** Implements `Attempts.identify`. */
  identify(scope: AttemptScope, userId: string): void {
    const sql = 'UPDATE attempt_accounts SET user_id = ? WHERE id = ?';
    this.#database.run(sql, userId, this.#accountOf(scope));
  }

  /**
   * Sets how much of the database file is cached. Hashes are spread over the whole index, so a large claim reads many
   * of the index's pages.
   */
  #cache(kibibytes: number): void {
    this.#database.get(`PRAGMA cache_size = -${kibibytes}`);
  }

  change(changes: readonly AttemptChange[]): void {
    const sql = `UPDATE attempts SET state = ?, order_id = CASE WHEN ? THEN NULL ELSE coalesce(?, order_id) END,
      made_at = coalesce(?, made_at), seen_at = coalesce(?, seen_at) WHERE serial = ?`;
    for (const { serial, state, orderId, madeAt, seenAt } of changes)
      this.#database.run(
        sql,
        ...[state, orderId === null ? 1 : 0, orderId ?? null, madeAt ?? null, seenAt ?? null, serial],
      );
  }

  follow(service: string, key: string, { state, orderId, madeAt }: IntentEnd): void {
    this.#database.run(
      // A retry of a rejected attempt has the same key, so update only the newest attempt with the key.
      `UPDATE attempts SET state = ?, order_id = coalesce(?, order_id), made_at = coalesce(?, made_at) WHERE serial = (
         SELECT max(serial) FROM attempts WHERE upload IS NULL AND key = ?
           AND account IN (SELECT id FROM attempt_accounts WHERE service = ?))`,
      ...[state, orderId ?? null, madeAt ?? null, key, service],
    );
  }

  /** Implements `Attempts.undo`. */
  undo(service: string, intents: readonly string[]): void {
    const of = 'account IN (SELECT id FROM attempt_accounts WHERE service = ?)';
    const keys = '(SELECT value FROM json_each(?))';
    for (const which of [`upload IS NULL AND key IN ${keys}`, `upload IN ${keys}`])
      this.#database.run(
        `UPDATE attempts SET state = 'unsent' WHERE ${which} AND ${of}`,
        JSON.stringify(intents),
        service,
      );
  }

  /** Implements `Attempts.sweep`. */
  sweep(before: number): void {
    const sql = `SELECT serial FROM attempts WHERE ${isSweepable} AND made_at < ? ORDER BY made_at LIMIT ${sweptAtOnce}`;
    const serials = this.#database.all(sql, before).map(({ serial }) => Number(serial));
    if (serials.length === 0) return;
    const old = '(SELECT value FROM json_each(?))';
    for (const which of [`attempt_parts WHERE attempt IN ${old}`, `attempts WHERE serial IN ${old}`])
      this.#database.run(`DELETE FROM ${which}`, JSON.stringify(serials));
  }

  ofKey(scope: AttemptScope, key: string): Attempt[] {
    return this.#own('upload IS NULL AND key = ?', key, scope);
  }

  ofUpload(scope: AttemptScope, upload: string): Attempt[] {
    return this.#own('upload = ?', upload, scope);
  }

  #own(where: string, value: string, scope: AttemptScope): Attempt[] {
    const sql = `SELECT ${attemptColumns.join(', ')} FROM attempts
      WHERE ${where} AND account IN (SELECT value FROM json_each(?)) ORDER BY serial`;
    const rows = this.#database.all(sql, value, JSON.stringify(this.#accounts(scope)));
    return rows.map((row) => attemptOf(row, 'unlike'));
  }

  /** Implements `Attempts.akin`. */
  akin(
    scope: AttemptScope,
    serials: readonly number[],
    named: readonly (readonly [number, Reference])[],
  ): ReadonlyMap<number, readonly Attempt[]> {
    const columns = attemptColumns.map((name) => `attempts.${name}`).join(', ');
    const accounts = JSON.stringify(this.#accounts(scope));
    const find = (given: Iterable<readonly unknown[]>, how: string) =>
      [...inChunks(given, needsAtOnce)].flatMap((piece) =>
        this.#database.all(
          `SELECT own.serial AS at, own.whole AS own_whole, ${columns} FROM json_each(?) AS requested
             CROSS JOIN attempts AS own ON own.serial = requested.value ->> 0
             CROSS JOIN attempts ON ${how} AND attempts.serial <> own.serial
               AND attempts.account IN (SELECT value FROM json_each(?)) ORDER BY attempts.serial`,
          JSON.stringify(piece),
          accounts,
        ),
      );
    const given = serials.map((serial) => [serial]);
    const texts = named.map(([serial, { namespace, text }]) => [serial, namespace, text]);
    return akinOf([
      ...find(given, 'attempts.whole = own.whole'),
      ...find(given, 'attempts.reference = own.reference AND attempts.namespace = own.namespace'),
      ...find(
        texts,
        'attempts.reference = requested.value ->> 2 AND attempts.namespace = requested.value ->> 1',
      ),
    ]);
  }

  /** Whether older records have been imported. */
  get isComplete(): boolean {
    return this.#settings()?.imported === 1;
  }

  bringIn(earlier: () => Iterable<EarlierAttempt>): void {
    if (this.isComplete) return;
    this.enter(earlier());
    this.#database.run('UPDATE attempt_settings SET imported = 1');
  }

  /** Adds attempts of another table. */
  enter(earlier: Iterable<EarlierAttempt>): void {
    const secret = this.#secret();
    for (const { scope, piece } of byScope(earlier)) {
      const account = this.#accountOf(scope);
      for (const { need, attempt } of piece)
        this.#insert(account, need.reference, needNumbers(secret, need), attempt);
    }
  }

  /** All attempts, account by account. */
  *stored(): Generator<StoredAttempt> {
    const sql = `SELECT ${attemptColumns.join(', ')} FROM attempts WHERE account = ? AND serial > ? ORDER BY serial LIMIT ${needsAtOnce}`;
    for (const account of this.#database.all('SELECT * FROM attempt_accounts ORDER BY id')) {
      const scope = scopeOf(account);
      let after = 0;
      for (;;) {
        const rows = this.#database.all(sql, Number(account.id), after);
        for (const row of rows) yield { scope, attempt: attemptOf(row, 'unlike') };
        if (rows.length < needsAtOnce) break;
        after = Number(rows.at(-1)?.serial);
      }
    }
  }

  #find(
    accounts: readonly number[],
    { wholes, references, ...lookup }: Lookup,
    last: number,
  ): (readonly Attempt[])[] {
    const of = JSON.stringify(accounts);
    const columns = attemptColumns.map((name) => `attempts.${name}`).join(', ');
    const own = 'attempts.account IN (SELECT value FROM json_each(?)) AND attempts.serial <= ?';
    const select = `SELECT requested.value ->> 1 AS at, ${columns} FROM json_each(?) AS requested`;
    const all = (values: readonly unknown[], join: string) =>
      values.length === 0
        ? []
        : this.#database.all(
            `${select} ${join} AND ${own} ORDER BY attempts.serial`,
            JSON.stringify(values),
            of,
            last,
          );
    return relatedOf(
      { wholes, references, ...lookup },
      {
        wholes: all(wholes, 'CROSS JOIN attempts ON attempts.whole = requested.value ->> 0'),
        parts: this.#hasParts()
          ? all(
              wholes,
              'CROSS JOIN attempt_parts ON attempt_parts.part = requested.value ->> 0 CROSS JOIN attempts ON attempts.serial = attempt_parts.attempt',
            )
          : [],
        references: all(references, 'CROSS JOIN attempts ON attempts.reference = requested.value ->> 0'),
      },
    );
  }

  /** Whether any stored order has several products. If none does, the query for parts can be skipped. */
  #hasParts = (): boolean => this.#database.get('SELECT 1 AS found FROM attempt_parts LIMIT 1') !== undefined;

  #insert(
    account: number,
    reference: AttemptNeed['reference'],
    { whole, parts }: NeedNumbers,
    { run, number, key, operation, upload, orderId, state, madeAt, seenAt }: NewAttempt,
  ): number {
    const { lastId } = this.#database.run(
      insertSql,
      ...[account, whole, reference?.namespace ?? null, reference?.text ?? null, run ?? null, number, key],
      ...[operation, upload ?? null, orderId ?? null, state, madeAt, seenAt ?? null],
    );
    if (parts.length > 1)
      for (const part of new Set(parts))
        this.#database.run('INSERT INTO attempt_parts (part, attempt) VALUES (?, ?)', part, lastId);
    return lastId;
  }

  #accounts({ service, accounts, isTest }: AttemptScope): number[] {
    const sql = `SELECT id FROM attempt_accounts WHERE service = ? AND test = ? AND account IN (SELECT value FROM json_each(?))`;
    const rows = this.#database.all(sql, service, isTest ? 1 : 0, JSON.stringify(accounts));
    return rows.map(({ id }) => Number(id));
  }

  #newestAccount({ service, isTest }: AttemptScope, own: number): number {
    const sql = 'SELECT max(id) AS newest FROM attempt_accounts WHERE service = ? AND test = ? AND id <> ?';
    return Number(this.#database.get(sql, service, isTest ? 1 : 0, own)?.newest ?? 0);
  }

  #accountOf({ service, accounts: [account], isTest }: AttemptScope): number {
    const test = isTest ? 1 : 0;
    const sql = 'SELECT id FROM attempt_accounts WHERE service = ? AND account = ? AND test = ?';
    const known = this.#database.get(sql, service, account, test);
    if (known) return Number(known.id);
    const insert = 'INSERT INTO attempt_accounts (service, account, test) VALUES (?, ?, ?)';
    return this.#database.run(insert, service, account, test).lastId;
  }

  #settings = () => this.#database.get('SELECT secret, imported FROM attempt_settings WHERE id = 1');

  #secret(): string {
    const { secret } = this.#settings() ?? {};
    if (typeof secret === 'string') return secret;
    throw new Error('the table of attempts has no secret');
  }
}

/** Size of the cache during a claim of many needs. */
const claimCacheKiB = 32_768;
/** The default of SQLite. */
const defaultCacheKiB = 2_000;

const written = attemptColumns.slice(1);
const insertSql = `INSERT INTO attempts (${written.join(', ')}) VALUES (${written.map(() => '?').join(', ')})`;

/** Implements `Attempts` on SQLite; each call is a transaction of its own. */
export class LocalAttempts implements Attempts {
  readonly #database: Database;
  readonly #table: AttemptTable;

  constructor(database: Database) {
    this.#database = database;
    this.#table = new AttemptTable(database);
  }

  async related(scope: AttemptScope, needs: readonly AttemptNeed[]): Promise<(readonly Attempt[])[]> {
    return this.#table.related(scope, needs);
  }

  claim(scope: AttemptScope, needs: Iterable<AttemptNeed>, decide: Claim): Promise<(number | undefined)[]> {
    return this.#database.transaction(() => this.#table.claim(scope, needs, decide));
  }

  async prepare(claim: AttemptClaim): Promise<() => void> {
    return () => this.#table.claimAll(claim);
  }

  async accounts(scope: Pick<AttemptScope, 'service' | 'isTest'>): Promise<readonly StoredAccount[]> {
    return this.#table.accounts(scope);
  }

  async newestOrder(account: Pick<StoredAccount, 'id'>): Promise<string | undefined> {
    return this.#table.newestOrder(account);
  }

  async identify(scope: AttemptScope, userId: string): Promise<void> {
    await this.#database.transaction(() => this.#table.identify(scope, userId));
  }

  async isComplete(): Promise<boolean> {
    return this.#table.isComplete;
  }

  async bringIn(earlier: () => Iterable<EarlierAttempt>): Promise<void> {
    await this.#database.transaction(() => this.#table.bringIn(earlier));
  }

  async change(changes: readonly AttemptChange[]): Promise<void> {
    if (changes.length === 0) return;
    // Losing this change is harmless, because it was read from the service and will be read again.
    await this.#database.unsyncedTransaction(() => this.#table.change(changes));
  }

  async follow(service: string, key: string, end: IntentEnd): Promise<void> {
    await this.#database.transaction(() => this.#table.follow(service, key, end));
  }

  async undo(service: string, intents: readonly string[]): Promise<void> {
    await this.#database.transaction(() => this.#table.undo(service, intents));
  }

  async sweep(before: number): Promise<void> {
    await this.#database.transaction(() => this.#table.sweep(before));
  }

  async ofKey(scope: AttemptScope, key: string): Promise<Attempt[]> {
    return this.#table.ofKey(scope, key);
  }

  async ofUpload(scope: AttemptScope, upload: string): Promise<Attempt[]> {
    return this.#table.ofUpload(scope, upload);
  }

  async akin(
    scope: AttemptScope,
    serials: readonly number[],
    named: readonly (readonly [number, Reference])[],
  ): Promise<ReadonlyMap<number, readonly Attempt[]>> {
    return this.#table.akin(scope, serials, named);
  }
}

/** The rows of the attempt tables that could be read from a journal file. */
export type SalvagedAttempts = Readonly<Record<AttemptTableName, readonly SalvagedRow[]>>;
type SalvagedRow = Readonly<Record<string, unknown>>;

/**
 * Attempts from a journal file whose secret is lost. The hashes of their needs depend on the secret, so the needs must
 * be derived again. Undefined if the secret is known, because then the rows can be copied.
 */
export function withoutSecret(salvaged: SalvagedAttempts): StoredAttempt[] | undefined {
  const [settings] = salvaged.attempt_settings;
  if (typeof settings?.secret === 'string') return undefined;
  const scopes = new Map(salvaged.attempt_accounts.map((row) => [row.id, scopeOf(row)]));
  return salvaged.attempts.flatMap((row) => {
    const scope = scopes.get(row.account);
    return scope ? [{ scope, attempt: attemptOf(row, 'unlike') }] : [];
  });
}

/** Tables of attempts, in dependency order. */
export const attemptTables = ['attempt_settings', 'attempt_accounts', 'attempts', 'attempt_parts'] as const;
export type AttemptTableName = (typeof attemptTables)[number];

/**
 * Copies a row from another journal file without validating the row. @throws StorageError if a constraint rejects it.
 */
export function carryAttempts(
  database: Database,
  table: AttemptTableName,
  row: Readonly<Record<string, unknown>>,
): void {
  const names = columnsOf[table];
  const values = names.map((name) => {
    const value = row[name];
    return typeof value === 'string' || typeof value === 'number' ? value : null;
  });
  database.run(
    `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...values,
  );
}

const columnsOf: Readonly<Record<AttemptTableName, readonly string[]>> = {
  attempt_settings: ['id', 'secret', 'imported'],
  attempt_accounts: ['id', 'service', 'account', 'test', 'user_id'],
  attempts: attemptColumns,
  attempt_parts: ['part', 'attempt'],
};
