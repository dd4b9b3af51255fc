import { isObject } from '../api/json.ts';
import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { SqlValue, StoredRow } from '../platform/sqlite/database.ts';

/** What an approval covers: one order, all rows of an upload, or a plan. */
export type ApprovalSubject = 'order' | 'upload' | 'plan';

/** An approval request, as signed. Addresses are hashed, because a request outlives its order. */
export interface ApprovalRequest {
  /** Format version. */
  readonly errand_approval: 1;
  readonly id: string;
  readonly subject: ApprovalSubject;
  /** The service, the account that pays, and the profile. */
  readonly service: string;
  readonly account: string;
  readonly profile: string;
  readonly operation: string;
  /** Whether the request is for a rehearsal, in which no money moves. */
  readonly is_rehearsal: boolean;
  /** SHA-256 over service, account, profile, operation and the whole order, without the order's key and ceiling. */
  readonly terms: string;
  /** SHA-256 of each part. Shows which parts of two requests differ. */
  readonly parts: Readonly<Record<string, string>>;
  /** Maximum cost in cents, including ceilings and fees. */
  readonly total_cents: number;
  /** Summary for people. When the approval is used, the summary is compared with the order. */
  readonly summary: Readonly<Record<string, unknown>>;
  /** Idempotency key of the order; null for several orders, whose keys are in `parts`. */
  readonly key: string | null;
  /** Rules that require the approval. */
  readonly rules: readonly string[];
  /** Reason for overriding the policy; null if the policy only requires an approval. */
  readonly override: string | null;
  /** User and host of the requester. */
  readonly asked_by: string;
  /** ISO 8601. */
  readonly asked_at: string;
  /** ISO 8601. */
  readonly expires_at: string;
  /**
   * Identity of the shared database in which the approval was requested. The approval counts only in that database.
   * Undefined for the journal of a single machine, and for requests of earlier versions.
   */
  readonly database?: string;
}

const states = ['open', 'approved', 'denied'] as const;
export type ApprovalState = (typeof states)[number];

/** A request and its decision. */
export interface Approval {
  readonly request: ApprovalRequest;
  readonly state: ApprovalState;
  /** ISO 8601. */
  readonly decidedAt: string | undefined;
  /** Fingerprint of the key that approved, or `the terminal` with user and host. */
  readonly decidedBy: string | undefined;
  /** Signature over `signedText`, in the format of `ssh-keygen -Y sign`. */
  readonly signature: string | undefined;
}

/** The exact text that is signed. */
export const signedText = (request: ApprovalRequest): string => `${canonicalJson(request)}\n`;

/** @param database is the identity of a shared database; undefined for the journal of a single machine. */
export const isOfDatabase = (request: ApprovalRequest, database: string | undefined): boolean =>
  request.database === undefined || request.database === database;

const columns = [
  'id',
  'terms',
  'asked_at',
  'state',
  'decided_at',
  'decided_by',
  'signature',
  'request',
] as const;

export const createApprovals = `
  CREATE TABLE approvals (
    id TEXT PRIMARY KEY, terms TEXT NOT NULL, asked_at TEXT NOT NULL, state TEXT NOT NULL, decided_at TEXT, decided_by TEXT,
    signature TEXT, request TEXT NOT NULL, checksum TEXT NOT NULL) STRICT;
  CREATE INDEX approvals_terms ON approvals (terms);
  ALTER TABLE reservations ADD COLUMN approval TEXT;
  CREATE INDEX reservations_approval ON reservations (approval) WHERE approval IS NOT NULL`;

export const writeApproval = `INSERT OR REPLACE INTO approvals (${columns.join(', ')}, checksum)
  VALUES (${columns.map(() => '?').join(', ')}, ?)`;

/** Values for `writeApproval`, including a checksum over the other values. */
export function approvalRow({ request, state, decidedAt, decidedBy, signature }: Approval): SqlValue[] {
  const values = [
    ...[request.id, request.terms, request.asked_at, state],
    ...[decidedAt ?? null, decidedBy ?? null, signature ?? null, canonicalJson(request)],
  ];
  return [...values, checksumOf(values)];
}

/**
 * Parses a row. Returns undefined if the row was altered. Compares the content of the request instead of its JSON text,
 * because another program may have rewritten the JSON.
 */
export function approvalOf(row: StoredRow): Approval | undefined {
  const request = requestIn(row.request);
  if (!request || request.id !== row.id || request.terms !== row.terms) return undefined;
  const state = states.find((one) => one === row.state);
  const values = columns.map((name) => (name === 'request' ? canonicalJson(request) : row[name]));
  if (!state || row.checksum !== checksumOf(values)) return undefined;
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    request,
    state,
    decidedAt: text(row.decided_at),
    decidedBy: text(row.decided_by),
    signature: text(row.signature),
  };
}

const texts = ['service', 'account', 'profile', 'operation', 'terms', 'asked_by'] as const;
const times = ['asked_at', 'expires_at'] as const;
const maxTextLength = 4096;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= maxTextLength;
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);

/** Whether untrusted input has the form of a request. Only the signature proves that a request is genuine. */
export function isRequest(value: unknown): value is ApprovalRequest {
  if (!isObject(value)) return false;
  const { id, subject, total_cents: total, parts, summary, rules } = value;
  return (
    value.errand_approval === 1 &&
    typeof id === 'string' &&
    /^[0-9a-f]{12}$/.test(id) &&
    ['order', 'upload', 'plan'].some((one) => one === subject) &&
    texts.every((name) => isText(value[name])) &&
    times.every((name) => isText(value[name]) && !Number.isNaN(Date.parse(String(value[name])))) &&
    typeof value.is_rehearsal === 'boolean' &&
    typeof total === 'number' &&
    Number.isSafeInteger(total) &&
    isObject(parts) &&
    Object.values(parts).every(isText) &&
    isObject(summary) &&
    Array.isArray(rules) &&
    rules.every(isText) &&
    isTextOrNull(value.key) &&
    isTextOrNull(value.override) &&
    (value.database === undefined || isText(value.database))
  );
}

function requestIn(text: unknown): ApprovalRequest | undefined {
  try {
    const request: unknown = JSON.parse(String(text));
    return isRequest(request) ? request : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Salvages a row of a damaged journal. Resets an approved request to open, because the reservation that used the
 * approval may be lost. Returns undefined if the row was altered.
 */
export function salvagedApproval(row: StoredRow): Approval | undefined {
  const whole = approvalOf(row);
  if (whole?.state !== 'approved') return whole;
  return { ...whole, state: 'open', decidedAt: undefined, decidedBy: undefined, signature: undefined };
}

const checksumOf = (values: readonly unknown[]): string =>
  sha256(`approval ${JSON.stringify(values.map((value) => value ?? null))}`).slice(0, 32);
