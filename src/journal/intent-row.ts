import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import type { Intent, IntentState, JournalRecord } from './journal-record.ts';
import type { Owner } from './owner.ts';

/** Columns of the table of intents; the body comes last, since it is long. */
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

/** A row of the table of intents, as it is stored. */
export type IntentRow = Readonly<Record<(typeof intentColumns)[number], SqlValue>>;

/** A row without what follows from the rest of it. */
export type IntentFacts = Omit<IntentRow, 'checksum' | 'twin'>;

/** A new intent as a row. @param content its hash. @param now ISO 8601. */
export function newIntent(intent: Intent, content: string, { pid, started }: Owner, now: string): IntentRow {
  return sealed({
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

/** A row with its checksum over all that it says, and its twin number. */
export function sealed(facts: IntentFacts): IntentRow {
  const row = { ...facts, twin: twinNumber(facts) };
  return { ...row, checksum: checksumOf(row) };
}

/** What intents to do the same at the same service have in common: 40 bits, safe to sum up. */
export function twinNumber({
  operation,
  base_url,
  body_hash,
}: Pick<IntentRow, 'operation' | 'base_url' | 'body_hash'>): number {
  return Number.parseInt(sha256(JSON.stringify([operation, base_url, body_hash])).slice(0, 10), 16);
}

/** The process that wrote a row last. */
export const ownerOf = ({ pid, process_started: started }: IntentRow): Owner => ({
  pid: Number(pid),
  started: String(started),
});

/** Whether a row is what was written. */
export const isIntact = (row: IntentRow): boolean => row.checksum === checksumOf(row);

/** Whether a row is recent is no part of what it says; the tally vouches for it. */
function checksumOf(row: Omit<IntentRow, 'checksum'>): string {
  const short = shortColumns.map((name) => (name === 'checksum' || name === 'live' ? null : row[name]));
  return sha256(`${JSON.stringify(short).slice(0, -1)},${bodyJson(row.body)}]`).slice(0, 32);
}

const shortColumns = intentColumns.filter((name) => name !== 'body');

/** The body that was written last: that of a batch is long, and stays while the rest of its row changes. */
let last: { readonly body: SqlValue; readonly json: string } = { body: null, json: 'null' };

function bodyJson(body: SqlValue): string {
  if (last.body !== body) last = { body, json: JSON.stringify(body) };
  return last.json;
}

/** In the place of a checksum: the row itself is lost, and this is what the audit chain knows of it. */
export const lostChecksum = 'lost';

const lostMessage = 'the record is lost; only the audit chain tells of it';

/** A row as a record, without the credential. One that is not what was written is `damaged`, whatever its state says. */
export function recordOf(row: IntentRow): JournalRecord {
  const { credential: _, checksum: _checksum, live: _live, twin: _twin, ...shown } = row;
  const isWhole = isIntact(row);
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
  // The table's own columns, written by the journal; body and payment are JSON of ours.
  return read as unknown as JournalRecord;
}

/** An object; null where it cannot be read any more. */
function readJson(text: SqlValue): object | null {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : null;
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
