import { randomBytes } from 'node:crypto';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import { DamagedError, ErrandError } from '../platform/errors.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import type { AuditChain } from './audit.ts';
import { contentHash } from './content.ts';
import { type Intent, isMade, type JournalRecord } from './journal-record.ts';

/** How long a quote is kept after it has expired: as long as the journal keeps what came of it, ms. */
const keptMs = 30 * 24 * 3600 * 1000;

/** Kept short: all definitions together must fit into the first page, or one more page would hold the whole journal. */
export const createQuotes =
  'CREATE TABLE quotes (id TEXT PRIMARY KEY, key TEXT, until INTEGER, used TEXT, made TEXT, quote TEXT, checksum TEXT) WITHOUT ROWID;' +
  'CREATE INDEX quotes_key ON quotes (key)';

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

/** What of a quote never changes, as it is stored. */
type Fixed = Omit<Quote, 'id' | 'key' | 'expiresAt' | 'usedAt' | 'orderId'> & { readonly createdAt: string };

const checksumOf = (id: unknown, key: unknown, quote: unknown): string =>
  sha256(`quote ${JSON.stringify([id, key, quote])}`).slice(0, 32);

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
  keep({ cents, expiresAt, key, ...quote }: NewQuote): Promise<string> {
    const handle = randomBytes(18).toString('base64url');
    const id = quoteId(handle);
    const fixed: Fixed = { ...quote, createdAt: new Date(this.#now()).toISOString() };
    const text = canonicalJson(fixed);
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT INTO quotes (id, key, until, quote, checksum) VALUES (?, ?, ?, ?, ?)',
        ...[id, key, expiresAt, text, checksumOf(id, key, text)],
      );
      this.#database.run('DELETE FROM quotes WHERE until < ?', this.#now() - keptMs);
      const { account, profile, baseUrl: service } = quote;
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
      this.#database.run('UPDATE quotes SET until = max(until, ?) WHERE id = ?', until, id),
    );
  }

  /** What it led to. @throws StorageError. */
  async answer({ id }: Pick<Quote, 'id'>, orderId: string): Promise<void> {
    await this.#database.transaction(() =>
      this.#database.run(
        'UPDATE quotes SET made = ?, used = coalesce(used, ?) WHERE id = ?',
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
    const quotes = this.#database
      .all('SELECT * FROM quotes WHERE key = ?', intent.key)
      .map(readQuote)
      .filter(({ baseUrl }) => baseUrl === intent.baseUrl);
    if (quotes.length === 0) return;
    const { idempotency_key: _, ...body } = intent.body;
    const quote = quotes.find((one) => canonicalJson(one.body) === canonicalJson(body));
    if (!quote || quote.account !== intent.account || intent.operation !== 'order.create')
      throw new ErrandError('conflict', `the key ${intent.key} belongs to a quote of another order`, {
        code: 'quote_of_another',
        outcome: 'not_sent',
        idempotencyKey: intent.key,
      });
    checkUsable(quote, before, this.#now());
    this.#database.run(
      'UPDATE quotes SET used = coalesce(used, ?) WHERE id = ?',
      new Date(this.#now()).toISOString(),
      quote.id,
    );
  }
}

/** Whether something was sent for a quote, by what the journal holds of its key. Pure. */
export const isBegun = (before: JournalRecord | undefined): boolean =>
  before !== undefined && (before.state === 'intended' || isMade(before));

/**
 * @param before what the journal holds of its key. @param now ms since the epoch.
 * @throws ErrandError conflict for a quote that nothing may be sent for any more. One that is in doubt may always be settled.
 */
export function checkUsable(quote: Quote, before: JournalRecord | undefined, now: number): void {
  if (isBegun(before)) return;
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
  if (row.checksum !== checksumOf(row.id, row.key, row.quote))
    throw new DamagedError('the quote was changed on disk; what it says is not ordered', {
      code: 'quote_damaged',
    });
  // The checksum vouches for what was written: JSON of ours.
  const { createdAt: _, ...fixed }: Fixed = JSON.parse(String(row.quote));
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    ...fixed,
    id: String(row.id),
    key: String(row.key),
    expiresAt: Number(row.until),
    usedAt: text(row.used),
    orderId: text(row.made),
  };
}
