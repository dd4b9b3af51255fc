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
  /** Whether it is a rehearsal, which moves no money. */
  readonly is_rehearsal: boolean;
  /** SHA-256 over service, account, profile, operation and the whole order, except for its key and ceiling. */
  readonly terms: string;
  /** SHA-256 of each part, to find out which parts differ. */
  readonly parts: Readonly<Record<string, string>>;
  /** Maximum cost including ceilings and fees, cents. */
  readonly total_cents: number;
  /** Summary for people. It is compared with the order when the approval is used. */
  readonly summary: Readonly<Record<string, unknown>>;
  /** Idempotency key of the order; null for multiple orders, whose keys are in `parts`. */
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
}

export type ApprovalState = 'open' | 'approved' | 'denied';

/** A request and its decision. */
export interface Approval {
  readonly request: ApprovalRequest;
  readonly state: ApprovalState;
  /** ISO 8601. */
  readonly decidedAt: string | undefined;
  /** Fingerprint of a key, or `the terminal` with user and host. */
  readonly decidedBy: string | undefined;
  /** Signature over `signedText`, in the format of `ssh-keygen -Y sign`. */
  readonly signature: string | undefined;
}

/** The exact text that is signed. */
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

/** Values for `writeApproval`, with a checksum over all of them. */
export function approvalRow({ request, state, decidedAt, decidedBy, signature }: Approval): SqlValue[] {
  const values = [
    ...[request.id, request.terms, request.asked_at, state],
    ...[decidedAt ?? null, decidedBy ?? null, signature ?? null, canonicalJson(request)],
  ];
  return [...values, checksumOf(values)];
}

/** Parses a row; undefined if it was altered. */
export function approvalOf(row: StoredRow): Approval | undefined {
  if (row.checksum !== checksumOf(columns.map((name) => row[name]))) return undefined;
  const text = (value: unknown): string | undefined => (value === null ? undefined : String(value));
  return {
    // The checksum guarantees that the row is as errand wrote it, so the JSON parses and the state is valid.
    request: JSON.parse(String(row.request)),
    state: row.state as ApprovalState,
    decidedAt: text(row.decided_at),
    decidedBy: text(row.decided_by),
    signature: text(row.signature),
  };
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
