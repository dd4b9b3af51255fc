import { canonicalJson, sha256 } from '../format/canonical.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Database, SqlValue, StoredRow } from '../platform/sqlite/database.ts';
import type {
  AuditDetails,
  AuditEntry,
  AuditKind,
  AuditOrigin,
  AuditRecord,
  ReservedByIntent,
} from './audit-entry.ts';
import {
  auditColumns,
  type CheckedRecord,
  checkedColumns,
  checkedRecordOf,
  firstPrevious,
  hashedRecord,
  isSignedBy,
  isSignedElsewhere,
  recordOfRow,
  rowValues,
  signedFacts,
} from './audit-record.ts';
import { addressHash } from './content.ts';
import { hiddenText } from './integrity.ts';
import type { IntentRow } from './intent-row.ts';
import { type IntentStory, storyOf } from './intent-story.ts';
import type { Intent, PaymentNote, Signer } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';
import type { Mac } from './mac.ts';

interface AuditHead {
  readonly number: number;
  readonly hash: string;
}

/** Time window, in ms, in which policy refusals are counted, and the maximum number recorded per window. */
const refusalsMs = 3600 * 1000;
const maxRefusals = 100;

/** Records read per query. */
const pageSize = 500;

/** Number of newest records that are searched for intents. */
const checkedRecords = 50_000;

interface LiveQuery {
  /** SHA-256 of the canonical content. */
  readonly content: string;
  readonly service: string;
  readonly accounts: readonly string[];
  /** Only orders since this time count (ISO 8601). Intents in doubt count at any age. */
  readonly since: string;
  /** Verifies how the intents ended. */
  readonly mac: Mac | undefined;
}

/** An intent as its audit record describes it. */
interface SentIntent extends Pick<LiveIntent, 'key' | 'since'> {
  readonly operation: string;
}

/** An intent that may have led to an order. */
export interface LiveIntent extends Omit<IntentStory, 'orderId'> {
  readonly key: string;
  /** The order that the intent led to; undefined if the intent is in doubt. */
  readonly orderId: string | undefined;
}

/**
 * Append-only chain of everything that happened to money, in a table of the journal's database. Each record holds the
 * previous record's hash, so changing a record invalidates every later hash.
 */
export class AuditChain {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #origin: () => AuditOrigin;

  constructor(database: Database, now: () => number, origin: () => AuditOrigin) {
    this.#database = database;
    this.#now = now;
    this.#origin = origin;
  }

  /**
   * Appends within a transaction of the journal, so that the record is committed together with the change that it
   * describes.
   * @param mac signs the record.
   * @throws ErrandError conflict if the record is to be signed, but the chain was signed for another database.
   */
  append(entry: AuditEntry, mac?: Mac): AuditRecord {
    const head = this.head();
    if (mac) this.#checkDatabase();
    const { actor, job, command, terminal } = this.#origin();
    const facts = {
      number: (head?.number ?? 0) + 1,
      time: new Date(this.#now()).toISOString(),
      kind: entry.kind,
      actor,
      job,
      command,
      profile: entry.profile ?? null,
      service: entry.service ?? null,
      key: entry.key ?? null,
      order_id: entry.orderId ?? null,
      amount_cents: entry.cents ?? null,
      currency: entry.currency ?? null,
      detail: { ...entry.detail, ...(entry.kind === 'intent' && terminal !== undefined && { terminal }) },
      previous: head?.hash ?? firstPrevious,
    };
    const record = hashedRecord(mac ? signedFacts(facts, mac, this.databaseId) : facts);
    this.insert(rowValues(record));
    return record;
  }

  /** Identity of the shared database; undefined for the journal of a single machine. */
  get databaseId(): string | undefined {
    return this.#database.id;
  }

  #checkDatabase(): void {
    const row = this.databaseId === undefined ? undefined : this.last('intent');
    if (!row || !isSignedElsewhere(recordOfRow(row), this.databaseId)) return;
    throw new ErrandError(
      'conflict',
      'the audit chain of the shared database was signed for another database: somebody copied it from there; nothing was sent',
      {
        code: 'chain_elsewhere',
        outcome: 'not_sent',
        retryable: false,
        hint: 'See who has the role of the database, and restore a backup of it.',
        next: [{ command: 'errand audit verify', when: 'to see which records' }],
      },
    );
  }

  /**
   * Appends an entry that says how the intent ended, or what it cost. Call within a transaction of the journal.
   * @param signer signs the entry. In a shared journal, an unsigned entry proves nothing.
   */
  appendSigned(entry: SignedEntry, signer: Signer | undefined): void {
    if (!signer) this.append(entry);
    // The cast is safe, because the spread keeps the kind and the detail of the same entry.
    else
      this.append(
        { ...entry, detail: { ...entry.detail, account: signer.account } } as SignedEntry,
        signer.mac,
      );
  }

  /** Appends an entry in a separate transaction. @throws StorageError. */
  write(entry: AuditEntry): Promise<AuditRecord> {
    return this.#database.transaction(() => this.append(entry));
  }

  /** Appends an entry only once per order, even if the same facts are seen repeatedly. */
  async writeOnce(orderId: string, entry: AuditEntry): Promise<void> {
    if (this.#holds(orderId, entry)) return;
    await this.#database.transaction(() => {
      if (!this.#holds(orderId, entry)) this.append({ ...entry, orderId });
    });
  }

  /**
   * Same as `writeOnce`, but for many orders at once.
   * @throws StorageError.
   */
  async writeAllOnce(entries: readonly (readonly [orderId: string, entry: AuditEntry])[]): Promise<void> {
    const fresh = entries.filter(([orderId, entry]) => !this.#holds(orderId, entry));
    if (fresh.length === 0) return;
    await this.#database.transaction(() => {
      for (const [orderId, entry] of fresh)
        if (!this.#holds(orderId, entry)) this.append({ ...entry, orderId });
    });
  }

  /** Inserts an existing record column by column, within a transaction. */
  insert(values: readonly SqlValue[]): void {
    this.#database.run(insertSql, ...values);
  }

  head(): AuditHead | undefined {
    const row = this.#database.get('SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1');
    return row && { number: Number(row.number), hash: String(row.hash) };
  }

  /** Newest record of a kind, as stored. Uses an index. */
  last(kind: AuditKind): StoredRow | undefined {
    return this.#database.get('SELECT * FROM audit WHERE kind = ? ORDER BY number DESC LIMIT 1', kind);
  }

  /** Records of the given kinds, in chain order. Uses an index. @param since is in ISO 8601. */
  ofKinds(kinds: readonly AuditKind[], since = ''): StoredRow[] {
    return this.#database.all(
      `SELECT * FROM audit WHERE kind IN (${marks(kinds)}) AND time >= ? ORDER BY number`,
      ...kinds,
      since,
    );
  }

  /** Records of the given kinds whose number is higher than the given one, in chain order. Reads no earlier record. */
  ofKindsAfter(kinds: readonly AuditKind[], number: number): StoredRow[] {
    return this.#database.all(
      `SELECT * FROM audit NOT INDEXED WHERE number > ? AND kind IN (${marks(kinds)}) ORDER BY number`,
      number,
      ...kinds,
    );
  }

  /** Records by their numbers, in chain order. */
  ofNumbers(numbers: readonly number[]): StoredRow[] {
    if (numbers.length === 0) return [];
    const sql = 'SELECT * FROM audit WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number';
    return this.#database.all(sql, JSON.stringify(numbers));
  }

  /** Hash of the record with the given number; undefined if there is no such record. */
  hashAt(number: number): string | undefined {
    const row = this.#database.get('SELECT hash FROM audit WHERE number = ?', number);
    return row && String(row.hash);
  }

  /** Latest wallet record of an account at a service, as stored. */
  lastWallet(service: string, account: string): StoredRow | undefined {
    return this.#database.get(
      `SELECT * FROM audit WHERE kind = 'wallet' AND service = ? AND ${detailSql('account')} = ? ORDER BY number DESC LIMIT 1`,
      service,
      account,
    );
  }

  /**
   * Records the policy that a profile follows, if it has changed since the profile's last record. Call within a
   * transaction.
   */
  followPolicy(policy: string, profile: string): void {
    const sql = "SELECT detail FROM audit WHERE kind = 'policy' AND profile = ? ORDER BY number DESC LIMIT 1";
    const row = this.#database.get(sql, profile);
    const { policy: before } = Object(row && recordOfRow(row).detail);
    if (before === policy) return;
    const detail = { policy, before: typeof before === 'string' ? before : null };
    this.append({ kind: 'policy', profile, detail });
  }

  /**
   * Records that the policy refused orders, and any change of the policy. Uses its own transaction, because the
   * transaction of the refused order is rolled back. Records the same refusal at most once an hour, and at most a
   * hundred refusals an hour.
   * @throws StorageError.
   */
  async refuse(entry: Extract<AuditEntry, { readonly kind: 'policy_refused' }>): Promise<void> {
    await this.#database.transaction(() => {
      const since = new Date(this.#now() - refusalsMs).toISOString();
      const recent = this.#database.all(
        "SELECT * FROM audit WHERE kind = 'policy_refused' AND time > ? ORDER BY number DESC LIMIT ?",
        since,
        maxRefusals,
      );
      const isSame = (row: StoredRow): boolean =>
        row.detail === canonicalJson(entry.detail) &&
        row.profile === (entry.profile ?? null) &&
        row.service === (entry.service ?? null) &&
        row.amount_cents === (entry.cents ?? null);
      if (recent.length >= maxRefusals || recent.some(isSame)) return;
      this.followPolicy(entry.detail.policy, entry.profile ?? '');
      this.append(entry);
    });
  }

  /** Whether an order has a record of a kind. */
  has(kind: AuditKind, orderId: string): boolean {
    const sql = 'SELECT 1 AS found FROM audit WHERE order_id = ? AND kind = ? LIMIT 1';
    return this.#database.get(sql, orderId, kind) !== undefined;
  }

  /**
   * Finds the audit records about orders, batches or returns (`ids`), about idempotency keys at a service, and about
   * the approvals that those records name. Returns rows as stored, in chain order.
   */
  about(ids: readonly string[], keys: readonly string[], service: string): StoredRow[] {
    const found = new Map<number, StoredRow>();
    const take = (rows: readonly StoredRow[]): void => {
      for (const row of rows)
        if (row.service === null || row.service === service) found.set(Number(row.number), row);
    };
    for (const id of textsOf(ids)) take(this.#database.all(`${aboutSql} WHERE order_id = ?`, id));
    const named = textsOf([...keys, ...[...found.values()].map(({ key }) => key)]);
    if (named.length > 0)
      take(this.#database.all(`${aboutSql} NOT INDEXED WHERE key IN (${marks(named)})`, ...named));
    const approvals = textsOf([...found.values()].map(({ approval }) => approval));
    if (approvals.length > 0)
      take(
        this.#database.all(
          `${aboutSql} NOT INDEXED WHERE ${approvalSql} IN (${marks(approvals)})`,
          ...approvals,
        ),
      );
    return [...found.values()].toSorted((one, other) => Number(one.number) - Number(other.number));
  }

  /** Finds the audit records about an idempotency key at a service. Returns rows as stored, in chain order. */
  ofKey(key: string, service: string): StoredRow[] {
    return this.#database.all(
      'SELECT * FROM audit NOT INDEXED WHERE key = ? AND service = ? ORDER BY number',
      key,
      service,
    );
  }

  /**
   * Finds intents with the given content that may have led to an order. Searches the newest records of the chain.
   * Therefore also finds intents that the journal's tables have lost or contradict.
   */
  liveIntents({ content, service, accounts, since, mac }: LiveQuery): LiveIntent[] {
    const from = (this.head()?.number ?? 0) - checkedRecords;
    const intents = this.#database.all(
      `SELECT key, detail FROM audit NOT INDEXED WHERE number > ? AND kind = 'intent' AND service = ? AND instr(detail, ?) > 0`,
      ...[from, service, content],
    );
    const keys = textsOf(
      intents.flatMap(({ key, detail }) => {
        const of = Object(recordOfRow({ detail }).detail);
        return of.content === content && accounts.includes(of.account) ? [key] : [];
      }),
    );
    if (keys.length === 0) return [];
    const rows = this.#database.all(
      `SELECT * FROM audit NOT INDEXED WHERE number > ? AND service = ? AND key IN (${marks(keys)}) ORDER BY number`,
      ...[from, service, ...keys],
    );
    return keys.flatMap((key) => {
      const { orderId, ...story } = storyOf(
        rows.filter((row) => row.key === key),
        mac,
      );
      // Earlier versions did not sign the entries that end an intent.
      const countsLong = orderId === undefined && (story.endsAreSigned || !story.isContested);
      return orderId === null || (!countsLong && story.since < since) ? [] : [{ key, orderId, ...story }];
    });
  }

  /** The intents that were sent from a terminal to a service, newest first. */
  sentBy(terminal: string, service: string): readonly SentIntent[] {
    const from = (this.head()?.number ?? 0) - checkedRecords;
    const rows = this.#database.all(
      `SELECT * FROM audit NOT INDEXED WHERE number > ? AND kind = 'intent' AND service = ? AND instr(detail, ?) > 0 ORDER BY number DESC`,
      ...[from, service, terminal],
    );
    return rows.flatMap((row) => {
      const { key, time, detail } = recordOfRow(row);
      const of = Object(detail);
      if (of.terminal !== terminal || of.again === true || typeof key !== 'string') return [];
      return { key, since: String(time), operation: String(of.operation) };
    });
  }

  /**
   * What the chain says about an intent.
   * @param mac verifies how the intent ended; undefined if unsigned entries count too.
   */
  storyOf(key: string, service: string, mac: Mac | undefined): IntentStory {
    return storyOf(this.ofKey(key, service), mac);
  }

  /**
   * Finds intents whose end only unsigned entries claim. Considers only intents that the given signer has signed and
   * that announce signed ends. Searches the newest records. Leaves out an intent if its last entry names another
   * account, because that account must verify the entry itself.
   * @returns the keys of the intents.
   */
  unsignedEnds(service: string, { account, mac }: Signer): string[] {
    const from = (this.head()?.number ?? 0) - checkedRecords;
    const kinds = ['intent', ...endingKinds];
    const rows = this.#database.all(
      `SELECT * FROM audit NOT INDEXED WHERE number > ? AND service = ? AND kind IN (${marks(kinds)}) ORDER BY number`,
      ...[from, service, ...kinds],
    );
    const ofKeys = new Map<string, StoredRow[]>();
    for (const row of rows) {
      const known = ofKeys.get(String(row.key));
      if (known) known.push(row);
      else ofKeys.set(String(row.key), [row]);
    }
    return [...ofKeys].flatMap(([key, entries]) => {
      const { isOwn, isContested, endsAreSigned } = storyOf(entries, mac);
      const { account: by = account } = Object(recordOfRow({ detail: entries.at(-1)?.detail }).detail);
      return isOwn && isContested && endsAreSigned && by === account ? [key] : [];
    });
  }

  /** Whether the chain proves that an order belongs to an intent with another key. */
  isOfAnother(orderId: string, key: string, mac: Mac): boolean {
    return this.#database
      .all("SELECT * FROM audit WHERE order_id = ? AND kind = 'responded' AND key <> ?", orderId, key)
      .some((row) => isSignedBy(recordOfRow(row), mac));
  }

  /**
   * Which policy was in force before a record, according to the chain: a published policy, or the profile's own file.
   * Undefined if the chain names neither.
   */
  policyBefore(number: number, profile: string): 'published' | 'own' | undefined {
    const row = this.#database.get(
      `SELECT kind FROM audit WHERE number < ? AND (kind = 'policy_published' OR (kind = 'policy' AND profile = ?))
       ORDER BY kind DESC LIMIT 1`,
      number,
      profile,
    );
    if (!row) return undefined;
    return row.kind === ('policy_published' satisfies AuditKind) ? 'published' : 'own';
  }

  /**
   * All rows as stored, each with `hides_text`, ordered by number. Reads page by page, so that other processes may
   * append meanwhile.
   * @param after excludes the rows up to this number.
   */
  *rows(after = Number.MIN_SAFE_INTEGER): Generator<StoredRow> {
    let last = after;
    for (;;) {
      const page = this.#database.all(
        `SELECT *, ${hiddenText(auditColumns)} FROM audit NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?`,
        last,
        pageSize,
      );
      yield* page;
      if (page.length < pageSize) return;
      last = Number(page.at(-1)?.number);
    }
  }

  /**
   * All records, as they are checked, ordered by number. Reads page by page, so that other processes may append
   * meanwhile.
   */
  *checkedRecords(): Generator<CheckedRecord> {
    let last = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const page = this.#database.all(
        `SELECT number, ${checkedColumns} FROM audit NOT INDEXED WHERE number > ? ORDER BY number LIMIT ?`,
        last,
        pageSize,
      );
      for (const row of page) yield checkedRecordOf(row);
      if (page.length < pageSize) return;
      last = Number(page.at(-1)?.number);
    }
  }

  #holds(orderId: string, { kind, cents, detail }: AuditEntry): boolean {
    const found = this.#database.get(
      'SELECT 1 AS found FROM audit WHERE order_id = ? AND kind = ? AND amount_cents IS ? AND detail = ? LIMIT 1',
      orderId,
      kind,
      cents ?? null,
      canonicalJson(detail),
    );
    return found !== undefined;
  }
}

/** SQL for a field of a record's detail; null if the detail is no longer JSON. */
const detailSql = (name: 'approval' | 'account'): string =>
  `CASE WHEN json_valid(detail) THEN json_extract(detail, '$.${name}') END`;
const approvalSql = detailSql('approval');

const aboutSql = `SELECT *, ${approvalSql} AS approval FROM audit`;

const textsOf = (values: readonly unknown[]): string[] => [
  ...new Set(values.filter((value) => typeof value === 'string')),
];

const marks = (values: readonly string[]): string => values.map(() => '?').join(', ');

const insertSql = `INSERT INTO audit (${auditColumns.join(', ')}) VALUES (${auditColumns.map(() => '?').join(', ')})`;

/**
 * Audit entry for an intent.
 * @param content is the hash of the intent's content.
 * @param recorded is the number of intents in the journal, including this one.
 */
export function intentEntry(
  intent: Intent,
  content: string,
  recorded: number,
  { again, salt, policy, signsEnds = false, reserved }: IntentTerms,
): AuditEntry {
  const { operation, account, profile, baseUrl: service, key, body } = intent;
  const plain = addressHash(body);
  const address = plain === undefined ? null : sha256(`address ${salt} ${plain}`);
  const ends = signsEnds ? ({ ends: 'signed' } as const) : {};
  const detail = {
    ...{ operation, account, content, address, again, recorded, policy, ...ends },
    ...(reserved && { reserved }),
  };
  return { kind: 'intent', profile, service, key, cents: ceilingOf(body), detail };
}

interface IntentTerms {
  readonly again: boolean;
  /**
   * The journal's salt. Without a salt, anyone with a list of addresses could find out which address a hash stands for.
   */
  readonly salt: string;
  /** SHA-256 of the policy applied. */
  readonly policy: string | null;
  /** Whether the entries that end the intent are signed. */
  readonly signsEnds?: boolean;
  readonly reserved?: ReservedByIntent | undefined;
}

/**
 * Kinds of entries that end an intent or change the amount with which its orders count. Such an entry is proof only if
 * it is signed.
 */
type SignedEntry = Extract<AuditEntry, { readonly kind: 'responded' | 'refused' | 'given_up' | 'counted' }>;

type Plain = 'resumed' | 'responded' | 'given_up';

/** Audit entry for the next step of an intent. */
export const stepEntry = <K extends Plain>(kind: K, row: IntentRow, orderId?: string) => ({
  kind,
  ...subjectOf(row),
  ...(orderId !== undefined && { orderId }),
  detail: { operation: String(row.operation) },
});

export const failureEntry = <K extends 'refused' | 'in_doubt'>(kind: K, row: IntentRow, code: string) => ({
  kind,
  ...subjectOf(row),
  detail: { operation: String(row.operation), code: codeOf(code) },
});

/**
 * Audit entry for moving an intent from a machine's own journal to a shared database.
 * @param database is the address of the shared database in a form that may be shown.
 */
export const movedEntry = (row: IntentRow, way: 'in' | 'out', database: string): AuditEntry => ({
  kind: way === 'in' ? 'moved_in' : 'moved_out',
  ...subjectOf(row),
  detail: { operation: String(row.operation), database },
});

export const paidEntry = (row: IntentRow, note: Paid): AuditEntry => ({
  ...subjectOf(row),
  ...paymentEntry(String(row.operation), note),
});

/** Audit entry for any payment by challenge. */
export function paymentEntry(operation: string, note: Paid): Extract<AuditEntry, { kind: 'paid' }> {
  const detail: AuditDetails['paid'] = {
    operation,
    method: codeOf(note.method),
    challenge: note.challenge_id,
  };
  const amount = Number(note.amount);
  const cents = Number.isSafeInteger(amount) ? { cents: amount, currency: note.currency } : {};
  return { kind: 'paid', ...cents, detail };
}

type Paid = Pick<PaymentNote, 'method' | 'challenge_id' | 'amount' | 'currency'>;

function subjectOf({ profile, base_url: service, key, order_id: orderId }: IntentRow) {
  return {
    profile: String(profile),
    service: String(service),
    key: String(key),
    ...(orderId !== null && { orderId: String(orderId) }),
  };
}

/** Returns a service's code only if it looks like a code, because a service may send any text. */
const codeOf = (code: string): string => (/^[a-z][a-z0-9_.-]{0,63}$/i.test(code) ? code : 'other');

/** Price ceiling of an order, or of all orders in a batch together, in cents; undefined if unknown. */
function ceilingOf({ max_price: price, rows }: Intent['body']): number | undefined {
  if (!Array.isArray(rows)) return centsOf(price);
  const ceilings = rows.map((row: unknown) => centsOf(Object(row).max_price));
  return ceilings.reduce(
    (sum, cents) => (sum === undefined || cents === undefined ? undefined : sum + cents),
    0,
  );
}

function centsOf(value: unknown): number | undefined {
  const cents = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof cents === 'number' && Number.isSafeInteger(cents) ? cents : undefined;
}
