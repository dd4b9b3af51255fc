import { randomBytes } from 'node:crypto';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import { DamagedError, ErrandError } from '../platform/errors.ts';
import type { Database, StoredRow } from '../platform/sqlite/database.ts';
import type { Reference } from './attempts.ts';
import type { AuditChain } from './audit.ts';
import { contentHash } from './content.ts';
import { type Intent, isMade, type JournalRecord, type Sender } from './journal-record.ts';
import { type Mac, macOf } from './mac.ts';

/** How long expired quotes are stored, in ms; the same as for the journal's records. */
const retentionMs = 30 * 24 * 3600 * 1000;

/**
 * Keep this text short. The definitions of all tables must fit on the first page of the file. Otherwise, every journal
 * grows by a page.
 */
export const createQuotes =
  'CREATE TABLE quotes (id TEXT PRIMARY KEY, key TEXT, until INTEGER, used TEXT, made TEXT, quote TEXT, checksum TEXT) WITHOUT ROWID;' +
  'CREATE INDEX quotes_key ON quotes (key)';

/** A complete order that was quoted and may be placed. Includes the order's account, service and key. */
export interface Quote {
  /**
   * SHA-256 of the handle with which the quote is placed. The file stores only the hash, so that reading the file does
   * not reveal the handle.
   */
  readonly id: string;
  /** Idempotency key with which the order is sent. */
  readonly key: string;
  readonly baseUrl: string;
  readonly account: string;
  readonly profile: string;
  /** Whether to place a new order even if there are similar orders. */
  readonly isNew: boolean;
  /** Whether to order again if the earlier order was cancelled or returned. */
  readonly again?: boolean | undefined;
  /**
   * The buyer's own name for the order. If it is set, the key is derived from it, so that other machines derive the
   * same key.
   */
  readonly reference?: Reference | undefined;
  /** Whether the quote is for an order in doubt. Placing the quote then settles that order and never sends another. */
  readonly isSettling?: boolean | undefined;
  /** The client program that requested the quote. */
  readonly client: string;
  /** The body of the order, without the key. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Ms since the epoch. */
  readonly expiresAt: number;
  /** Price of one unit of each product at the time of the quote, in cents; null if unknown. */
  readonly pricesCents?: readonly (number | null)[] | undefined;
  /** When the quote was used, in ISO 8601; undefined if nothing was sent for the quote. */
  readonly usedAt: string | undefined;
  /** The resulting order, if known. */
  readonly orderId: string | undefined;
}

export type NewQuote = Omit<Quote, 'id' | 'usedAt' | 'orderId'> & {
  /** Maximum cost in cents: the ceiling plus the fee. */
  readonly cents: number;
};

/** The part of a quote that never changes, as it is stored. */
type Fixed = Omit<Quote, 'id' | 'key' | 'expiresAt' | 'usedAt' | 'orderId'> & { readonly createdAt: string };

/** Who makes or places a quote. */
type Quoter = Pick<Sender, 'account' | 'mac'>;

/**
 * Signs the terms of a quote. Without the key, someone who can write to the journal cannot change an agreed order
 * unnoticed. If there is no `mac`, the result is only a checksum.
 */
function checksumOf({ id, key, until, quote, database }: Signed, mac: Mac | undefined): string {
  const named = database === undefined ? {} : { database };
  if (mac) return macOf(mac, 'quote', { id, key, until, quote, ...named });
  return sha256(`quote ${JSON.stringify([id, key, quote])}`).slice(0, 32);
}

interface Signed {
  readonly id: unknown;
  readonly key: unknown;
  readonly until: unknown;
  readonly quote: unknown;
  /** Identity of the shared database for which the quote is made. Signatures of earlier versions name no database. */
  readonly database: string | undefined;
}

/** Id of the quote a handle refers to. */
export const quoteId = (handle: string): string => sha256(`quote ${handle}`);

/** Quotes that may be placed as orders, in the journal's database. */
export class Quotes {
  readonly #database: Database;
  readonly #audit: AuditChain;
  readonly #now: () => number;

  constructor(database: Database, audit: AuditChain, now: () => number) {
    this.#database = database;
    this.#audit = audit;
    this.#now = now;
  }

  /** Stores a quote and its audit record. @returns the handle with which the quote is placed. @throws StorageError. */
  save({ cents, expiresAt, key, ...quote }: NewQuote, mac?: Mac): Promise<string> {
    const handle = randomBytes(18).toString('base64url');
    const id = quoteId(handle);
    const fixed: Fixed = { ...quote, createdAt: new Date(this.#now()).toISOString() };
    const text = canonicalJson(fixed);
    return this.#database.transaction(() => {
      this.#database.run(
        'INSERT INTO quotes (id, key, until, quote, checksum) VALUES (?, ?, ?, ?, ?)',
        ...[
          id,
          key,
          expiresAt,
          text,
          checksumOf({ id, key, until: expiresAt, quote: text, database: this.#database.id }, mac),
        ],
      );
      this.#database.run('DELETE FROM quotes WHERE until < ?', this.#now() - retentionMs);
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

  /** Finds a quote by its handle; undefined if there is none. @throws DamagedError if the quote was changed. */
  find(handle: string, quoter: Quoter): Quote | undefined {
    const row = this.#database.get('SELECT * FROM quotes WHERE id = ?', quoteId(handle));
    return row && readQuote(row, quoter, this.#database.id);
  }

  /** The newest quotes of an account at a service. Leaves out quotes that somebody has changed. */
  newest({ account, mac, baseUrl }: Quoter & Pick<Intent, 'baseUrl'>, count: number): Quote[] {
    return this.#database
      .all('SELECT * FROM quotes ORDER BY until DESC')
      .flatMap((row) => {
        const fixed = fixedIn(row.quote);
        return fixed?.account === account && fixed.baseUrl === baseUrl
          ? intactQuote(row, { account, mac }, this.#database.id)
          : [];
      })
      .slice(0, count);
  }

  /**
   * Extends the validity of a quote. Never shortens it.
   * @throws DamagedError if the quote was changed; StorageError.
   */
  async extend({ id }: Pick<Quote, 'id'>, until: number, quoter: Quoter): Promise<void> {
    await this.#database.transaction(() => {
      const row = this.#database.get('SELECT * FROM quotes WHERE id = ?', id);
      const database = this.#database.id;
      if (!row || readQuote(row, quoter, database).expiresAt >= until) return;
      const checksum = checksumOf({ id, key: row.key, until, quote: row.quote, database }, quoter.mac);
      this.#database.run('UPDATE quotes SET until = ?, checksum = ? WHERE id = ?', until, checksum, id);
    });
  }

  /** Stores the id of the order that was placed from a quote. @throws StorageError. */
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
   * Uses up the quote that has the intent's key. Call within the transaction that records the intent.
   * @param before is the existing record of the key.
   * @throws ErrandError conflict if the quote has expired, or is for another order, account or service.
   */
  use(intent: Intent, before: JournalRecord | undefined): void {
    const quotes = this.#database
      .all('SELECT * FROM quotes WHERE key = ?', intent.key)
      .map((row) => readQuote(row, intent, this.#database.id))
      // Ignore quotes with a reference, because all orders for a reference have the same key, quoted or not. Also
      // ignore a quote that settles an order, because that quote does not describe the order.
      .filter(
        ({ baseUrl, reference, isSettling }) => baseUrl === intent.baseUrl && !reference && !isSettling,
      );
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

/** Whether anything was sent for a quote, judging by the journal's record of the quote's key. Pure. */
export const isStarted = (before: JournalRecord | undefined): boolean =>
  before !== undefined && (before.state === 'intended' || isMade(before));

/**
 * @param before is the journal's record of the quote's key.
 * @param now is in ms since the epoch.
 * @throws ErrandError conflict if nothing may be sent for the quote any longer. A quote in doubt may always be settled.
 */
export function checkUsable(quote: Quote, before: JournalRecord | undefined, now: number): void {
  if (isStarted(before)) return;
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

/** A list with the quote in it. The list is empty if the quote was changed. */
function intactQuote(row: StoredRow, quoter: Quoter, database: string | undefined): Quote[] {
  try {
    return [readQuote(row, quoter, database)];
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    return [];
  }
}

function readQuote(row: StoredRow, { account, mac }: Quoter, database: string | undefined): Quote {
  const { id, key, until, quote } = row;
  // This key cannot verify a quote of another account. Callers reject such a quote because of its account.
  const isOthers = fixedIn(quote)?.account !== account;
  const isSigned = [database, undefined].some(
    (named) =>
      row.checksum === checksumOf({ id, key, until, quote, database: named }, isOthers ? undefined : mac),
  );
  const fixed = isOthers || isSigned ? fixedIn(quote) : undefined;
  if (!fixed)
    throw new DamagedError(
      'the quote was changed since it was made, or an earlier version of errand made it; what it says is not ordered',
      { code: 'quote_damaged', hint: 'Quote the order again.' },
    );
  const { createdAt: _, ...said } = fixed;
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    ...said,
    id: String(row.id),
    key: String(row.key),
    expiresAt: Number(row.until),
    usedAt: text(row.used),
    orderId: text(row.made),
  };
}

/** Parses a stored quote; undefined if the text is not JSON. */
function fixedIn(quote: unknown): Fixed | undefined {
  try {
    // The cast is safe once the checksum is verified.
    return JSON.parse(String(quote)) as Fixed;
  } catch {
    return undefined;
  }
}
