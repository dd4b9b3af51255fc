import { canonicalJson, isCanonical, sha256 } from '../format/canonical.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import type { AuditRecord } from './audit-entry.ts';
import { isMacOf, isMacOfText, type Mac, macOf } from './mac.ts';

/** The columns of the table. They are also the fields of a record. */
export const auditColumns = [
  'number',
  'time',
  'kind',
  'actor',
  'job',
  'command',
  'profile',
  'service',
  'key',
  'order_id',
  'amount_cents',
  'currency',
  'detail',
  'previous',
  'hash',
] as const satisfies readonly (keyof AuditRecord)[];

export const createAudit = `
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL, job TEXT, command TEXT NOT NULL,
    profile TEXT, service TEXT, key TEXT, order_id TEXT, amount_cents INTEGER, currency TEXT, detail TEXT NOT NULL,
    previous TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE INDEX audit_kind ON audit (kind);
  CREATE INDEX audit_order ON audit (order_id) WHERE order_id IS NOT NULL;
  CREATE TRIGGER audit_keeps BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'records are only appended'); END;
  CREATE TRIGGER audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'records are only appended'); END`;

/** Stands in for the previous hash in the first record, which has no predecessor. */
export const firstPrevious = '0'.repeat(64);

/** Adds a record's hash. The hash covers all fields, including the previous record's hash. */
export const hashedRecord = (facts: Omit<AuditRecord, 'hash'>): AuditRecord => ({
  ...facts,
  hash: hashOf(facts),
});

/**
 * Signs a record. The signature (`mac` in the record's detail) is a code over all other fields except the record's own
 * hash. One of these fields is the previous record's hash, so the signature proves the chain up to this record.
 * @param database is the identity of the shared database that the record is written to; undefined for the journal of a
 * single machine.
 */
export function signedFacts(
  facts: Omit<AuditRecord, 'hash'>,
  mac: Mac,
  database: string | undefined,
): Omit<AuditRecord, 'hash'> {
  const detail = { ...facts.detail, ...(database !== undefined && { database }) };
  return { ...facts, detail: { ...detail, mac: macOf(mac, 'audit entry', { ...facts, detail }) } };
}

/**
 * Whether a record says that it was signed for another database than the given one. Records signed by earlier versions
 * name no database.
 * @param database is the identity of the given database; undefined for the journal of a single machine.
 */
export function isSignedElsewhere(
  record: Readonly<Record<string, unknown>>,
  database: string | undefined,
): boolean {
  const { mac, database: named } = Object(record.detail);
  return database !== undefined && mac !== undefined && named !== undefined && named !== database;
}

/** Whether a record, exactly as it is, has a valid signature of this key. */
export function isSignedBy(record: Readonly<Record<string, unknown>>, mac: Mac): boolean {
  const { mac: stored, ...plain } = Object(record.detail);
  const facts = factsText(record, canonicalJson(plain));
  if (facts !== undefined) return isMacOfText(stored, mac, 'audit entry', facts);
  const { hash: _, detail: _detail, ...others } = record;
  return isMacOf(stored, mac, 'audit entry', { ...others, detail: plain });
}

/** Fields of a record except its hash, in the order of canonical JSON. */
const factNames = auditColumns.filter((name) => name !== 'hash').toSorted();

/**
 * Canonical JSON of a record's fields except its hash. Faster than `canonicalJson`.
 * @param detail is the record's detail as canonical JSON.
 * @returns undefined if the record has other fields or types.
 */
function factsText(record: Readonly<Record<string, unknown>>, detail: string): string | undefined {
  let text = '';
  for (const name of factNames) {
    const value = record[name];
    if (name === 'detail') text += `,"detail":${detail}`;
    else if (typeof value === 'string') text += `,"${name}":${JSON.stringify(value)}`;
    else if (typeof value === 'number' || value === null) text += `,"${name}":${value}`;
    else return undefined;
  }
  const count = Object.keys(record).length - ('hash' in record ? 1 : 0);
  return count === factNames.length ? `{${text.slice(1)}}` : undefined;
}

/** A stored record, with what is needed to check it. */
export interface CheckedRecord {
  readonly record: Readonly<Record<string, unknown>>;
  /** Whether the record's text is exactly as errand writes it. */
  readonly isExact: boolean;
  /** The hash computed from the record's fields. */
  readonly expected: string;
}

/** SQL columns for `checkedRecordOf`. The columns also include text after a NUL. */
export const checkedColumns = `json_array(${auditColumns.join(', ')}) AS record`;

/**
 * Reads a row of `checkedColumns`. All fields arrive in a single JSON text, because each column that SQLite returns
 * takes time.
 */
export function checkedRecordOf(row: Readonly<Record<string, unknown>>): CheckedRecord {
  const text = String(row.record);
  const values: readonly unknown[] = JSON.parse(text);
  const [number, time, kind, actor, job, command, profile, service, key, orderId, cents, currency] = values;
  const [written, previous, hash] = values.slice(12);
  const detail = readDetail(written);
  const record = {
    ...{ number, time, kind, actor, job, command, profile, service, key, order_id: orderId },
    ...{ amount_cents: cents, currency, detail, previous, hash },
  };
  const facts = typeof written === 'string' && detail !== written ? factsText(record, written) : undefined;
  const expected = facts === undefined ? hashOf(record) : sha256(facts);
  return { record, isExact: !text.includes('\\u0000'), expected };
}

/** SHA-256 over canonical JSON of everything except the hash. */
export function hashOf(record: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...facts } = record;
  return sha256(canonicalJson(facts));
}

export const rowValues = (record: AuditRecord): SqlValue[] =>
  auditColumns.map((name) => (name === 'detail' ? canonicalJson(record.detail) : record[name]));

/**
 * Parses a stored row. A detail that is not canonical JSON as errand writes it remains a text, so it fails the hash
 * check.
 */
export function recordOfRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const facts = Object.fromEntries(auditColumns.map((name) => [name, row[name] ?? null]));
  return { ...facts, detail: readDetail(row.detail) };
}

function readDetail(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    const detail: unknown = JSON.parse(text);
    return isCanonical(detail, text) ? detail : text;
  } catch {
    return text;
  }
}
