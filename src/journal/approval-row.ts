import { canonicalJson, sha256 } from '../format/canonical.ts';
import type { SqlValue, StoredRow } from '../platform/sqlite/database.ts';

/** What is to be approved: one order, every row of an upload, or a plan. */
export type ApprovalSubject = 'order' | 'upload' | 'plan';

/** What is asked for, as it is signed. Addresses are hashes, since a request outlives its order. */
export interface ApprovalRequest {
  /** Of this form. */
  readonly errand_approval: 1;
  readonly id: string;
  readonly subject: ApprovalSubject;
  /** Where, whose money, and as which profile. */
  readonly service: string;
  readonly account: string;
  readonly profile: string;
  readonly operation: string;
  /** No money moves. */
  readonly is_rehearsal: boolean;
  /** SHA-256 over service, account, profile, operation and everything that is ordered, but for its key and ceiling. */
  readonly terms: string;
  /** SHA-256 of single parts, from which it is told what differs. */
  readonly parts: Readonly<Record<string, string>>;
  /** The most that it may come to, ceilings and fees, cents. */
  readonly total_cents: number;
  /** What a person reads of it; compared with what is ordered when it is used. */
  readonly summary: Readonly<Record<string, unknown>>;
  /** The idempotency key that the order is sent with; null for many orders, whose keys are within `parts`. */
  readonly key: string | null;
  /** The rules that want it. */
  readonly rules: readonly string[];
  /** Why the policy is to be overruled; null where it only wants an approval. */
  readonly override: string | null;
  /** User and host of whoever asked. */
  readonly asked_by: string;
  /** ISO 8601. */
  readonly asked_at: string;
  /** ISO 8601. */
  readonly expires_at: string;
}

export type ApprovalState = 'open' | 'approved' | 'denied';

/** A request and what was decided on it. */
export interface Approval {
  readonly request: ApprovalRequest;
  readonly state: ApprovalState;
  /** ISO 8601. */
  readonly decidedAt: string | undefined;
  /** The fingerprint of a key, or `the terminal` with user and host. */
  readonly decidedBy: string | undefined;
  /** As `ssh-keygen -Y sign` writes it, over `signedText`. */
  readonly signature: string | undefined;
}

/** The very text that is signed. */
export const signedText = (request: ApprovalRequest): string => `${canonicalJson(request)}\n`;

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

/** The values of `writeApproval`, with the checksum over all of them. */
export function approvalRow({ request, state, decidedAt, decidedBy, signature }: Approval): SqlValue[] {
  const values = [
    ...[request.id, request.terms, request.asked_at, state],
    ...[decidedAt ?? null, decidedBy ?? null, signature ?? null, canonicalJson(request)],
  ];
  return [...values, checksumOf(values)];
}

/** A row as an approval; undefined where it is not what was written. */
export function approvalOf(row: StoredRow): Approval | undefined {
  if (row.checksum !== checksumOf(columns.map((name) => row[name]))) return undefined;
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    // The checksum vouches for what was written: JSON of ours, and a state.
    request: JSON.parse(String(row.request)),
    state: row.state as ApprovalState,
    decidedAt: text(row.decided_at),
    decidedBy: text(row.decided_by),
    signature: text(row.signature),
  };
}

/**
 * A row of a damaged journal, to be asked about once more: the reservation that used it may be lost. Undefined where it
 * is not what was written.
 */
export function salvagedApproval(row: StoredRow): Approval | undefined {
  const whole = approvalOf(row);
  if (whole?.state !== 'approved') return whole;
  return { ...whole, state: 'open', decidedAt: undefined, decidedBy: undefined, signature: undefined };
}

const checksumOf = (values: readonly unknown[]): string =>
  sha256(`approval ${JSON.stringify(values.map((value) => value ?? null))}`).slice(0, 32);
