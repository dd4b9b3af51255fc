import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { SqlValue } from '../platform/sqlite/database.ts';
import type { AuditRecord } from './audit-entry.ts';
import { isMacOf, type Mac, macOf } from './mac.ts';

/** Table columns, which are also a record's fields. */
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

/** Adds a record's hash over all its fields, including its predecessor's hash. */
export const hashedRecord = (facts: Omit<AuditRecord, 'hash'>): AuditRecord => ({
  ...facts,
  hash: hashOf(facts),
});

/**
 * Adds a code over all of a record's facts, including its predecessor's hash, so that it proves the chain up to there.
 * It stands in the detail as `mac`.
 */
export const signedFacts = (facts: Omit<AuditRecord, 'hash'>, mac: Mac): Omit<AuditRecord, 'hash'> => ({
  ...facts,
  detail: { ...facts.detail, mac: macOf(mac, 'audit entry', { ...facts }) },
});

/** Whether a record is signed under this key, as it stands. */
export function isSignedBy(record: Readonly<Record<string, unknown>>, mac: Mac): boolean {
  const { hash: _, detail, ...facts } = record;
  const { mac: stored, ...plain } = Object(detail);
  return isMacOf(stored, mac, 'audit entry', { ...facts, detail: plain });
}

/** SHA-256 over canonical JSON of everything except the hash. */
export function hashOf(record: Readonly<Record<string, unknown>>): string {
  const { hash: _, ...facts } = record;
  return sha256(canonicalJson(facts));
}

export const rowValues = (record: AuditRecord): SqlValue[] =>
  auditColumns.map((name) => (name === 'detail' ? canonicalJson(record.detail) : record[name]));

/** Parses a stored row. A detail that is not in errand's canonical form stays text, so that it fails the hash check. */
export function recordOfRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const facts = Object.fromEntries(auditColumns.map((name) => [name, row[name] ?? null]));
  return { ...facts, detail: readDetail(row.detail) };
}

function readDetail(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    const detail: unknown = JSON.parse(text);
    return canonicalJson(detail) === text ? detail : text;
  } catch {
    return text;
  }
}
