import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import type { Intent, IntentState, JournalRecord } from './journal-record.ts';
import type { Owner } from './owner.ts';

/** Columns of the intents table. The body comes last because it is long. */
export const intentColumns = [
  'key',
  'base_url',
  'state',
  'operation',
  'profile',
  'sent_with',
  'account',
  'key_origin',
  'body_hash',
  'order_id',
  'code',
  'message',
  'pid',
  'process_started',
  'created_at',
  'settled_at',
  'payment',
  'credential',
  'live',
  'twin',
  'checksum',
  'body',
] as const;

/** A stored row of the intents table. */
export type IntentRow = Readonly<Record<(typeof intentColumns)[number], SqlValue>>;

/** A row without its derived columns. */
export type IntentFacts = Omit<IntentRow, 'checksum' | 'twin'>;

/**
 * Builds the row of a new intent.
 * @param content is the hash of the intent's content.
 * @param now is in ISO 8601.
 */
export function newIntent(intent: Intent, content: string, { pid, started }: Owner, now: string): IntentRow {
  return withChecksum({
    key: intent.key,
    base_url: intent.baseUrl,
    state: 'intended' satisfies IntentState,
    operation: intent.operation,
    profile: intent.profile,
    sent_with: intent.keyMasked,
    account: intent.account,
    key_origin: intent.keyOrigin,
    body_hash: content,
    order_id: null,
    code: null,
    message: null,
    pid,
    process_started: started,
    created_at: now,
    settled_at: null,
    payment: intent.payment === undefined ? null : JSON.stringify(intent.payment),
    credential: null,
    live: 2,
    body: canonicalJson(intent.body),
  });
}

/** Adds a row's duplicate number, and a checksum over the row's content. */
export function withChecksum(facts: IntentFacts): IntentRow {
  const row = { ...facts, twin: duplicateNumber(facts) };
  return { ...row, checksum: checksumOf(row) };
}

/** A number that is the same for equivalent intents at the same service. It has 40 bits, so that summing is safe. */
export function duplicateNumber({
  operation,
  base_url,
  body_hash,
}: Pick<IntentRow, 'operation' | 'base_url' | 'body_hash'>): number {
  return Number.parseInt(sha256(JSON.stringify([operation, base_url, body_hash])).slice(0, 10), 16);
}

/** The process that last wrote a row. */
export const ownerOf = ({ pid, process_started: started }: IntentRow): Owner => ({
  pid: Number(pid),
  started: String(started),
});

/** Whether a row is unaltered. */
export const isIntact = (row: IntentRow): boolean => row.checksum === checksumOf(row);

/** Excludes `live`, because it is not part of the content. The tally covers `live`. */
function checksumOf(row: Omit<IntentRow, 'checksum'>): string {
  const short = shortColumns.map((name) => (name === 'checksum' || name === 'live' ? null : row[name]));
  return sha256(`${JSON.stringify(short).slice(0, -1)},${bodyJson(row.body)}]`).slice(0, 32);
}

const shortColumns = intentColumns.filter((name) => name !== 'body');

/**
 * Cache of the last serialized body. The body of a batch is long, and stays the same when the rest of the batch's row
 * changes.
 */
let last: { readonly body: SqlValue; readonly json: string } = { body: null, json: 'null' };

function bodyJson(body: SqlValue): string {
  if (last.body !== body) last = { body, json: JSON.stringify(body) };
  return last.json;
}

/** Placeholder for the checksum of a lost row. Such a row holds only what the audit chain knows of the intent. */
export const lostChecksum = 'lost';

const lostMessage = 'the record is lost; only the audit chain tells of it';

/** Converts a row to a record, without the credential. An altered row is `damaged`, whatever its state. */
export const recordOf = (row: IntentRow): JournalRecord => converted(row, isIntact(row));

/** Undefined for an altered row. Its checksum is made once, which for a batch takes as long as all else. */
export const intactRecord = (row: IntentRow): JournalRecord | undefined =>
  isIntact(row) ? converted(row, true) : undefined;

function converted(row: IntentRow, isWhole: boolean): JournalRecord {
  const { credential: _, checksum: _checksum, live: _live, twin: _duplicate, ...shown } = row;
  const read = {
    ...shown,
    state: isWhole ? row.state : 'damaged',
    message: isWhole
      ? row.message
      : row.checksum === lostChecksum
        ? lostMessage
        : 'the record was changed on disk',
    body: readJson(row.body) ?? {},
    payment: readJson(row.payment),
  };
  // The cast is safe, because these are the table's own columns, and the journal wrote them. errand also wrote the JSON
  // of body and payment.
  return read as unknown as JournalRecord;
}

/** Parses an object; null if the text cannot be parsed. */
function readJson(text: SqlValue): object | null {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : null;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
