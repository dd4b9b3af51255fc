import { hash } from 'node:crypto';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { InTurn } from '../../platform/async.ts';
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
  type NewAttempt,
  needsAtOnce,
  type Reference,
  relatedOf,
  type StoredAccount,
  sweptAtOnce,
  wholeClaim,
} from '../attempts.ts';
import { Connection, type DatabaseRow, explained, jsonText, literal } from './connect.ts';
import { newAccountCode, outdatedCode } from './copy.ts';
import type { SharedDatabase } from './database.ts';

/**
 * Advisory locks for deciding about needs. Each lock covers a bucket of references and likenesses, because a file may
 * have more rows than the few thousand locks that a server has room for.
 */
const [lockClass, lockCount] = [726_491_106, 256];

const columns = attemptColumns.map((name) => `attempts.${name}`).join(', ');

/** Attempts in the shared database; machines keep no copy. The journal creates the schema when it opens. */
export class SharedAttempts implements Attempts {
  readonly #connection: Connection;
  readonly #journal: SharedDatabase;
  readonly #inTurn = new InTurn();
  readonly #secret: string;
  /** The table of accounts, as read when the journal was opened. */
  #accounts: readonly DatabaseRow[] | undefined;
  #isComplete: boolean;
  /** Result of the last read. Undefined once this process has written something after that read. */
  #lastRead: AttemptsRead | undefined;

  /** @param signal is aborted when nobody is waiting for the result any longer. */
  constructor(address: DatabaseAddress, journal: SharedDatabase, signal?: AbortSignal) {
    this.#connection = new Connection(address, signal);
    this.#journal = journal;
    const { secret, imported, accounts } = journal.attemptSettings();
    this.#secret = secret;
    this.#isComplete = imported === 1;
    this.#accounts = accounts;
  }

  related(scope: AttemptScope, needs: readonly AttemptNeed[]): Promise<(readonly Attempt[])[]> {
    return this.#inTurn.run(async () => {
      const found: (readonly Attempt[])[] = [];
      for (const piece of inChunks(needs, needsAtOnce)) {
        this.#lastRead = await this.#read(scope, lookupOf(this.#secret, piece));
        found.push(...this.#lastRead.related);
      }
      return found;
    });
  }

  prepare({ scope, needs, decide, isUnconditional = false }: AttemptClaim): Promise<() => void> {
    return this.#inTurn.run(async () => {
      this.#accounts = undefined;
      const locks = new Set<number>();
      const checks: string[] = [];
      const inserts: string[] = [];
      const whole = wholeClaim(decide);
      let count = 0;
      for (const piece of inChunks(needs, needsAtOnce)) {
        const lookup = lookupOf(this.#secret, piece);
        const read = isUnconditional ? undefined : await this.#readOnce(scope, lookup);
        const made = piece.map((_, at) => whole(read?.related[at] ?? [], count + at));
        count += made.length;
        for (const group of locksOf(lookup, piece)) locks.add(group);
        if (read) checks.push(`${digestSql(scope, lookup)} <> ${literal(read.digest)}`);
        inserts.push(insertSql(scope, storedRows(piece, lookup, made)));
      }
      const { newestAccount } = scope;
      const refusals = checks.map((one) => refuseSql(one, outdatedCode));
      if (newestAccount !== undefined)
        refusals.unshift(refuseSql(`${newestAccountSql(scope)} > ${newestAccount}`, newAccountCode));
      const sql = [...lockSql(locks), ownSql(scope), ...refusals, ...inserts];
      return () => this.#journal.commitWith(sql);
    });
  }

  /** Reads what is related to one chunk of needs. Reuses the last read if that was for the same chunk. */
  async #readOnce(scope: AttemptScope, lookup: Lookup): Promise<AttemptsRead> {
    const last = this.#lastRead;
    this.#lastRead = undefined;
    return last?.of === readKey(scope, lookup) ? last : this.#read(scope, lookup);
  }

  async #read(scope: AttemptScope, lookup: Lookup): Promise<AttemptsRead> {
    // Read the digest first. Then, if an attempt changes between the two queries, it is the digest that is outdated,
    // and the commit is refused.
    const rows = await this.#ask(`SELECT ${digestSql(scope, lookup)} AS digest; ${findSql(scope, lookup)}`);
    const digest = String(rows.find((row) => 'digest' in row)?.digest);
    return { of: readKey(scope, lookup), related: foundIn(rows, lookup), digest };
  }

  claim(scope: AttemptScope, needs: Iterable<AttemptNeed>, decide: Claim): Promise<(number | undefined)[]> {
    return this.#inTurn.run(async () => {
      this.#accounts = undefined;
      this.#lastRead = undefined;
      try {
        return await this.#claimed(scope, needs, decide);
      } catch (error) {
        await this.#undo();
        throw error;
      }
    });
  }

  async #claimed(
    scope: AttemptScope,
    needs: Iterable<AttemptNeed>,
    decide: Claim,
  ): Promise<(number | undefined)[]> {
    const serials: (number | undefined)[] = [];
    let before: number | undefined;
    let isCommitted = false;
    for (const piece of inChunks(needs, needsAtOnce)) {
      const lookup = lookupOf(this.#secret, piece);
      const begin =
        before === undefined ? ['BEGIN', ...lockSql(locksOf(lookup, piece)), ownSql(scope), lastSql] : [];
      const rows = await this.#ask([...begin, findSql(scope, lookup, before)].join(';\n'));
      before ??= Number(rows.find((row) => 'last' in row)?.last ?? 0);
      const last = before;
      const older = rows.filter((row) => !('serial' in row) || Number(row.serial) <= last);
      const made = foundIn(older, lookup).map((related, at) => decide(related, serials.length + at));
      // Commit with the chunk that is not full, because only the last chunk can be incomplete.
      isCommitted = piece.length < needsAtOnce && made.some((one) => one !== undefined);
      const written = await this.#write(scope, piece, lookup, made, isCommitted);
      serials.push(...made.map((one) => (one === undefined ? undefined : written.shift())));
    }
    if (before !== undefined && !isCommitted) await this.#ask('COMMIT', true);
    return serials;
  }

  /**
   * @returns the serials of the persisted attempts, in order. @param commits tells whether to commit in the same round
   * trip.
   */
  async #write(
    scope: AttemptScope,
    needs: readonly AttemptNeed[],
    lookup: Lookup,
    made: readonly (NewAttempt | undefined)[],
    commits = false,
  ): Promise<number[]> {
    const rows = storedRows(needs, lookup, made);
    if (rows.length === 0) return [];
    const inserted = await this.#ask(`${insertSql(scope, rows)}${commits ? '; COMMIT' : ''}`, commits);
    return inserted.map(({ serial }) => Number(serial));
  }

  async isComplete(): Promise<boolean> {
    return this.#isComplete;
  }

  bringIn(earlier: () => Iterable<EarlierAttempt>): Promise<void> {
    return this.#inTurn.run(async () => {
      if (this.#isComplete) return;
      try {
        const [settings] = await this.#ask(
          'BEGIN; SELECT imported FROM errand.attempt_settings WHERE id = 1 FOR UPDATE',
        );
        if (Number(settings?.imported) !== 1)
          for (const { scope, piece } of byScope(earlier())) {
            await this.#ask(ownSql(scope));
            const needs = piece.map(({ need }) => need);
            const made = piece.map(({ attempt }) => attempt);
            await this.#write(scope, needs, lookupOf(this.#secret, needs), made);
          }
        await this.#ask('UPDATE errand.attempt_settings SET imported = 1; COMMIT', true);
        this.#isComplete = true;
      } catch (error) {
        await this.#undo();
        throw error;
      }
    });
  }

  async change(changes: readonly AttemptChange[]): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ serial, state, orderId, madeAt, seenAt }) => ({
      ...{
        serial,
        state,
        clears: orderId === null,
        order_id: orderId ?? null,
        made_at: madeAt ?? null,
        seen_at: seenAt ?? null,
      },
    }));
    const sql = `UPDATE errand.attempts SET state = given.state, order_id = CASE WHEN given.clears THEN NULL ELSE coalesce(given.order_id, attempts.order_id) END,
        made_at = coalesce(given.made_at, attempts.made_at), seen_at = coalesce(given.seen_at, attempts.seen_at)
      FROM json_to_recordset(${jsonText(rows)}) AS given (serial bigint, state text, clears boolean, order_id text, made_at bigint, seen_at bigint)
      WHERE attempts.serial = given.serial`;
    await this.#inTurn.run(() => this.#ask(sql, true));
  }

  async follow(service: string, key: string, { state, orderId, madeAt }: IntentEnd): Promise<void> {
    const sql = `UPDATE errand.attempts SET state = ${literal(state)}, order_id = coalesce(${orderId === undefined ? 'NULL' : literal(orderId)}, order_id),
        made_at = coalesce(${madeAt ?? 'NULL'}, made_at)
      WHERE serial = (SELECT max(serial) FROM errand.attempts WHERE upload IS NULL AND key = ${literal(key)}
        AND account IN (SELECT id FROM errand.attempt_accounts WHERE service = ${literal(service)}))`;
    await this.#inTurn.run(() => this.#ask(sql, true));
  }

  async undo(service: string, intents: readonly string[]): Promise<void> {
    const keys = `(SELECT json_array_elements_text(${jsonText(intents)}))`;
    const sql = `UPDATE errand.attempts SET state = 'unsent'
      WHERE ((upload IS NULL AND key IN ${keys}) OR upload IN ${keys})
        AND account IN (SELECT id FROM errand.attempt_accounts WHERE service = ${literal(service)})`;
    await this.#inTurn.run(() => this.#ask(sql, true));
  }

  async sweep(before: number): Promise<void> {
    const sql = `WITH old AS (
        DELETE FROM errand.attempts WHERE serial IN (
          SELECT serial FROM errand.attempts WHERE ${isSweepable} AND made_at < ${before}
            ORDER BY made_at LIMIT ${sweptAtOnce}) RETURNING serial)
      DELETE FROM errand.attempt_parts WHERE attempt IN (SELECT serial FROM old)`;
    await this.#inTurn.run(() => this.#ask(sql, true));
  }

  ofKey(scope: AttemptScope, key: string): Promise<Attempt[]> {
    return this.#own(`upload IS NULL AND key = ${literal(key)}`, scope);
  }

  ofUpload(scope: AttemptScope, upload: string): Promise<Attempt[]> {
    return this.#own(`upload = ${literal(upload)}`, scope);
  }

  async akin(
    scope: AttemptScope,
    serials: readonly number[],
    named: readonly (readonly [number, Reference])[],
  ): Promise<ReadonlyMap<number, readonly Attempt[]>> {
    const rows: DatabaseRow[] = [];
    const find = async (given: Iterable<readonly unknown[]>, how: string): Promise<void> => {
      for (const piece of inChunks(given, needsAtOnce)) {
        const sql = `SELECT own.serial AS at, own.whole AS own_whole, ${columns}
          FROM json_array_elements(${jsonText(piece)}) AS requested
            JOIN errand.attempts AS own ON own.serial = (requested ->> 0)::bigint
            JOIN errand.attempts ON ${how} AND attempts.serial <> own.serial
          WHERE ${isOf(scope)} ORDER BY attempts.serial`;
        rows.push(...(await this.#inTurn.run(() => this.#ask(sql))));
      }
    };
    const given = serials.map((serial) => [serial]);
    await find(given, 'attempts.whole = own.whole');
    await find(given, 'attempts.reference = own.reference AND attempts.namespace = own.namespace');
    await find(
      named.map(([serial, { namespace, text }]) => [serial, namespace, text]),
      'attempts.reference = requested ->> 2 AND attempts.namespace = requested ->> 1',
    );
    return akinOf(rows);
  }

  async #own(where: string, scope: AttemptScope): Promise<Attempt[]> {
    const sql = `SELECT ${columns} FROM errand.attempts WHERE ${where} AND ${isOf(scope)} ORDER BY serial`;
    const rows = await this.#inTurn.run(() => this.#ask(sql));
    return rows.map((row) => attemptOf(row, 'unlike'));
  }

  accounts(scope: Pick<AttemptScope, 'service' | 'isTest'>): Promise<readonly StoredAccount[]> {
    return this.#inTurn.run(async () => {
      const read = this.#accounts ?? (await this.#ask(accountsSql));
      // Use only once what was read when the journal was opened. A command that calls this again wants to know what has
      // changed.
      this.#accounts = undefined;
      return read
        .filter(({ service, test }) => service === scope.service && Number(test) === (scope.isTest ? 1 : 0))
        .map(accountOf);
    });
  }

  newestOrder({ id }: Pick<StoredAccount, 'id'>): Promise<string | undefined> {
    const sql = `SELECT order_id FROM errand.attempts WHERE account = ${id} AND order_id IS NOT NULL ORDER BY serial DESC LIMIT 1`;
    return this.#inTurn.run(async () => {
      const [row] = await this.#ask(sql);
      return row && String(row.order_id);
    });
  }

  async identify(scope: AttemptScope, userId: string): Promise<void> {
    const sql = `${ownSql(scope)};
      UPDATE errand.attempt_accounts SET user_id = ${literal(userId)} WHERE ${scopeSql(scope)} AND account = ${literal(scope.accounts[0])}`;
    await this.#inTurn.run(() => this.#ask(sql, true));
  }

  close(): void {
    this.#connection.drop();
  }

  async #undo(): Promise<void> {
    if (this.#connection.isOpen) await this.#connection.ask('ROLLBACK', true).catch(() => {});
  }

  async #ask(sql: string, writes = false): Promise<readonly DatabaseRow[]> {
    if (writes) this.#lastRead = undefined;
    try {
      return await this.#connection.ask(sql, writes);
    } catch (error) {
      throw explained(error, this.#connection.address);
    }
  }
}

/** Result of a read for one chunk of needs. */
interface AttemptsRead {
  readonly of: string;
  readonly related: readonly (readonly Attempt[])[];
  /** Digest of what is stored. */
  readonly digest: string;
}

const readKey = (scope: AttemptScope, { wholes, references }: Lookup): string =>
  JSON.stringify([scope, wholes, references]);

/** The locks for one chunk of needs. A full chunk takes all locks, because other chunks may follow. */
const locksOf = ({ numbers }: Lookup, piece: readonly AttemptNeed[]): readonly number[] =>
  piece.length >= needsAtOnce
    ? Array.from({ length: lockCount }, (_, group) => group)
    : [
        ...numbers.flatMap(({ parts }) => parts.map((part) => part % lockCount)),
        ...piece.flatMap(({ reference }) => (reference ? [groupOf(reference.text)] : [])),
      ];

/** The locks are sorted, so that concurrent claims cannot deadlock. */
const lockSql = (groups: Iterable<number>): string[] =>
  [...new Set(groups)]
    .sort((one, other) => one - other)
    .map((group) => `SELECT pg_advisory_xact_lock(${lockClass}, ${group}) IS NULL AS locked`);

/** Aborts the transaction if a condition holds. */
const refuseSql = (condition: string, code: string): string =>
  `DO $$ BEGIN IF ${condition} THEN RAISE EXCEPTION 'outdated' USING ERRCODE = '${code}'; END IF; END $$`;

const groupOf = (text: string): number =>
  Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16) % lockCount;

const accountsSql = 'SELECT id, service, account, test, user_id FROM errand.attempt_accounts ORDER BY id';

/** The newest attempt. */
const lastSql = 'SELECT coalesce(max(serial), 0) AS last FROM errand.attempts';

/** SQL expression for the id of the newest account, other than the account of the scope itself. */
const newestAccountSql = (scope: AttemptScope): string =>
  `coalesce((SELECT max(id) FROM errand.attempt_accounts WHERE ${scopeSql(scope)}
     AND account <> ${literal(scope.accounts[0])}), 0)`;

const scopeSql = ({ service, isTest }: Pick<AttemptScope, 'service' | 'isTest'>): string =>
  `service = ${literal(service)} AND test = ${isTest ? 1 : 0}`;

const isOf = (scope: AttemptScope): string =>
  `attempts.account IN (SELECT id FROM errand.attempt_accounts WHERE ${scopeSql(scope)}
     AND account IN (SELECT json_array_elements_text(${jsonText(scope.accounts)})))`;

const ownSql = ({ service, accounts: [account], isTest }: AttemptScope): string =>
  `INSERT INTO errand.attempt_accounts (service, account, test) VALUES (${literal(service)}, ${literal(account)}, ${isTest ? 1 : 0})
     ON CONFLICT DO NOTHING`;

const findSql = (scope: AttemptScope, lookup: Lookup, before?: number): string =>
  finding(scope, lookup, before)
    .map((one) => `${one} ORDER BY attempts.serial`)
    .join(';\n');

/** SQL expression for a digest of all attempts found. */
const digestSql = (scope: AttemptScope, lookup: Lookup): string =>
  `(SELECT md5(coalesce(string_agg(one::text, ',' ORDER BY one::text COLLATE "C"), ''))
     FROM (${finding(scope, lookup).join('\nUNION ALL ')}) AS one)`;

/** Queries for what is related to one chunk of needs. */
function finding(scope: AttemptScope, { wholes, references }: Lookup, before?: number): readonly string[] {
  const own = `${isOf(scope)}${before === undefined ? '' : ` AND attempts.serial <= ${before}`}`;
  const numbers = `json_array_elements(${jsonText(wholes)}) AS requested`;
  const texts = `json_array_elements(${jsonText(references)}) AS requested`;
  const select = (how: string) => `SELECT '${how}' AS how, (requested ->> 1)::bigint AS at, ${columns} FROM`;
  return [
    `${select('whole')} ${numbers} JOIN errand.attempts ON attempts.whole = (requested ->> 0)::bigint WHERE ${own}`,
    `${select('part')} ${numbers} JOIN errand.attempt_parts ON attempt_parts.part = (requested ->> 0)::bigint
       JOIN errand.attempts ON attempts.serial = attempt_parts.attempt WHERE ${own}`,
    ...(references.length === 0
      ? []
      : [
          `${select('reference')} ${texts} JOIN errand.attempts ON attempts.reference = requested ->> 0 WHERE ${own}`,
        ]),
  ];
}

function foundIn(rows: readonly DatabaseRow[], lookup: Lookup): (readonly Attempt[])[] {
  const by = (how: string) => rows.filter((row) => row.how === how);
  return relatedOf(lookup, { wholes: by('whole'), parts: by('part'), references: by('reference') });
}

/** The rows of attempts to insert, each with the index of its need. */
const storedRows = (
  needs: readonly AttemptNeed[],
  { numbers }: Lookup,
  made: readonly (NewAttempt | undefined)[],
): readonly object[] =>
  made.flatMap((attempt, at) => {
    const [need, own] = [needs[at], numbers[at]];
    return attempt && need && own
      ? [{ ...storedRow(need, attempt), whole: own.whole, parts: own.parts, at }]
      : [];
  });

const storedRow = (
  { reference }: AttemptNeed,
  { run, number, key, operation, upload, orderId, state, madeAt, seenAt }: NewAttempt,
) => ({
  ...{
    namespace: reference?.namespace ?? null,
    reference: reference?.text ?? null,
    run: run ?? null,
    number,
  },
  ...{ key, operation, upload: upload ?? null, order_id: orderId ?? null, state },
  ...{ made_at: madeAt, seen_at: seenAt ?? null },
});

/** Inserts rows of attempts and of their parts. Returns the serials in the order of the rows. */
function insertSql(scope: AttemptScope, rows: readonly object[]): string {
  const {
    service,
    accounts: [account],
  } = scope;
  const own = `(SELECT id FROM errand.attempt_accounts WHERE ${scopeSql({ ...scope, service })} AND account = ${literal(account)})`;
  return `WITH given AS (
      SELECT nextval(pg_get_serial_sequence('errand.attempts', 'serial')) AS serial, one.* FROM (
        SELECT * FROM json_to_recordset(${jsonText(rows)}) AS row (
          whole bigint, parts json, at bigint, namespace text, reference text, run text, number bigint, key text,
          operation text, upload text, order_id text, state text, made_at bigint, seen_at bigint) ORDER BY at) AS one),
    made AS (
      INSERT INTO errand.attempts (serial, account, whole, namespace, reference, run, number, key, operation, upload,
          order_id, state, made_at, seen_at) OVERRIDING SYSTEM VALUE
        SELECT serial, ${own}, whole, namespace, reference, run, number, key, operation, upload, order_id, state,
          made_at, seen_at FROM given),
    parts AS (
      INSERT INTO errand.attempt_parts (part, attempt)
        SELECT DISTINCT part::bigint, serial FROM given, json_array_elements_text(parts) AS part
        WHERE json_array_length(parts) > 1)
    SELECT serial FROM given ORDER BY at`;
}
