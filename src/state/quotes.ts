import { randomBytes } from 'node:crypto';
import { DamagedError, ErrandError } from '../errors.ts';
import type { Database, SqlValue, StoredRow } from '../sqlite/database.ts';
import type { AuditChain } from './audit.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { contentHash } from './content.ts';
import type { Intent, JournalRecord } from './journal-record.ts';

/** How long a quote is kept after it has expired: as long as the journal keeps what came of it, ms. */
const keptMs = 30 * 24 * 3600 * 1000;

export const createQuotes = `
  CREATE TABLE quotes (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, base_url TEXT NOT NULL, account TEXT NOT NULL, profile TEXT NOT NULL,
    is_new INTEGER NOT NULL, client TEXT NOT NULL, created_at TEXT NOT NULL, body TEXT NOT NULL, checksum TEXT NOT NULL,
    expires_at INTEGER NOT NULL, used_at TEXT, order_id TEXT) STRICT;
  CREATE INDEX quotes_key ON quotes (key, base_url);
  CREATE INDEX quotes_expired ON quotes (expires_at)`;

/** A whole order that was looked at and may be placed: for whom, where, and under which key. */
export interface Quote {
  /** SHA-256 of the handle that places it: whoever reads the file cannot. */
  readonly id: string;
  /** The idempotency key that the order is sent with. */
  readonly key: string;
  readonly baseUrl: string;
  readonly account: string;
  readonly profile: string;
  /** Another order is meant, even where the same was just placed. */
  readonly isNew: boolean;
  /** The program that had it made. */
  readonly client: string;
  /** The order, without its key. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Ms since the epoch. */
  readonly expiresAt: number;
  /** ISO 8601; undefined while nothing was sent for it. */
  readonly usedAt: string | undefined;
  /** What it led to, where that is known. */
  readonly orderId: string | undefined;
}

export type NewQuote = Omit<Quote, 'id' | 'usedAt' | 'orderId'> & {
  /** What it may cost at most, ceiling and fee, cents. */
  readonly cents: number;
};

/** In the order of their columns; the checksum is over these, and over nothing that changes. */
const fixed = [
  'id',
  'key',
  'base_url',
  'account',
  'profile',
  'is_new',
  'client',
  'created_at',
  'body',
] as const;

const checksumOf = (values: readonly unknown[]): string =>
  sha256(`quote ${JSON.stringify(values)}`).slice(0, 32);

/** The id of the quote that a handle is for. */
export const quoteId = (handle: string): string => sha256(`quote ${handle}`);

/** Orders that were looked at and may be placed, in the journal's database. */
export class Quotes {
  readonly #database: Database;
  readonly #audit: AuditChain;
  readonly #now: () => number;

  constructor(database: Database, audit: AuditChain, now: () => number) {
    this.#database = database;
    this.#audit = audit;
    this.#now = now;
  }

  /** Keeps a quote, with its record in the audit chain. @returns the handle that places it. @throws StorageError. */
  keep({ cents, expiresAt, ...quote }: NewQuote): Promise<string> {
    const handle = randomBytes(18).toString('base64url');
    const id = quoteId(handle);
    const values: SqlValue[] = [
      ...[id, quote.key, quote.baseUrl, quote.account, quote.profile, quote.isNew ? 1 : 0, quote.client],
      ...[new Date(this.#now()).toISOString(), canonicalJson(quote.body)],
    ];
    return this.#database.transaction(() => {
      this.#database.run(
        `INSERT INTO quotes (${fixed.join(', ')}, checksum, expires_at)
         VALUES (${fixed.map(() => '?').join(', ')}, ?, ?)`,
        ...values,
        checksumOf(values),
        expiresAt,
      );
      this.#database.run('DELETE FROM quotes WHERE expires_at < ?', this.#now() - keptMs);
      const { account, profile, key, baseUrl: service } = quote;
      this.#audit.append({
        kind: 'quoted',
        ...{ profile, service, key, cents },
        detail: {
          quote: id.slice(0, 16),
          account,
          content: contentHash('order.create', quote.body),
          until: new Date(expiresAt).toISOString(),
        },
      });
      return handle;
    });
  }

  /** The quote of a handle; undefined where there is none. @throws DamagedError for one that was changed on disk. */
  find(handle: string): Quote | undefined {
    const row = this.#database.get('SELECT * FROM quotes WHERE id = ?', quoteId(handle));
    return row && readQuote(row);
  }

  /** It can be placed until then, where that is later than before. @throws StorageError. */
  async extend({ id }: Pick<Quote, 'id'>, until: number): Promise<void> {
    await this.#database.transaction(() =>
      this.#database.run('UPDATE quotes SET expires_at = max(expires_at, ?) WHERE id = ?', until, id),
    );
  }

  /** What it led to. @throws StorageError. */
  async answer({ id }: Pick<Quote, 'id'>, orderId: string): Promise<void> {
    await this.#database.transaction(() =>
      this.#database.run(
        'UPDATE quotes SET order_id = ?, used_at = coalesce(used_at, ?) WHERE id = ?',
        orderId,
        new Date(this.#now()).toISOString(),
        id,
      ),
    );
  }

  /**
   * Within the transaction that records an intent: uses up the quote whose key it has. @param before what the key stands for.
   * @throws ErrandError conflict where the quote has expired, or is for another order, account or service.
   */
  use(intent: Intent, before: JournalRecord | undefined): void {
    const rows = this.#database.all(
      'SELECT * FROM quotes WHERE key = ? AND base_url = ?',
      intent.key,
      intent.baseUrl,
    );
    if (rows.length === 0) return;
    const { idempotency_key: _, ...body } = intent.body;
    const quote = rows.map(readQuote).find((one) => canonicalJson(one.body) === canonicalJson(body));
    if (!quote || quote.account !== intent.account || intent.operation !== 'order.create')
      throw new ErrandError('conflict', `the key ${intent.key} belongs to a quote of another order`, {
        code: 'quote_of_another',
        outcome: 'not_sent',
        idempotencyKey: intent.key,
      });
    checkUsable(quote, before, this.#now());
    this.#database.run(
      'UPDATE quotes SET used_at = coalesce(used_at, ?) WHERE id = ?',
      new Date(this.#now()).toISOString(),
      quote.id,
    );
  }
}

/**
 * @param before what the journal holds of its key. @param now ms since the epoch.
 * @throws ErrandError conflict for a quote that nothing may be sent for any more. One that is in doubt may always be settled.
 */
export function checkUsable(quote: Quote, before: JournalRecord | undefined, now: number): void {
  if (before?.state === 'intended' || before?.state === 'responded' || before?.state === 'reported') return;
  if (quote.usedAt !== undefined && before === undefined)
    throw new ErrandError(
      'conflict',
      `the quote was used at ${quote.usedAt}, and the journal no longer says for what`,
      {
        code: 'quote_used',
        outcome: 'unknown',
        hint: 'Look among the orders before you quote again.',
      },
    );
  if (now < quote.expiresAt) return;
  const at = new Date(quote.expiresAt).toISOString();
  throw new ErrandError('conflict', `the quote expired at ${at}; nothing was sent`, {
    code: 'quote_expired',
    outcome: 'not_sent',
    retryable: false,
    details: { expired_at: at },
    hint: 'Quote the order again: prices and limits are looked at anew.',
  });
}

function readQuote(row: StoredRow): Quote {
  if (row.checksum !== checksumOf(fixed.map((name) => row[name])))
    throw new DamagedError('the quote was changed on disk; what it says is not ordered', {
      code: 'quote_damaged',
    });
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    id: String(row.id),
    key: String(row.key),
    baseUrl: String(row.base_url),
    account: String(row.account),
    profile: String(row.profile),
    isNew: row.is_new === 1,
    client: String(row.client),
    // The checksum vouches for what was written: JSON of ours.
    body: JSON.parse(String(row.body)),
    expiresAt: Number(row.expires_at),
    usedAt: text(row.used_at),
    orderId: text(row.order_id),
  };
}
