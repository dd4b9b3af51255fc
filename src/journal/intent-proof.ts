import type { AuditChain } from './audit.ts';
import { hashOf, recordOfRow } from './audit-record.ts';
import { contentHash } from './content.ts';
import type { JournalRecord } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';
import type { Reservations, Reserving } from './reservations.ts';

/** What the audit chain says of an intent in doubt. */
export interface IntentProof {
  /** The number of its newest entry. */
  readonly number: number;
  /** Since when its key may have been sent, ISO 8601. */
  readonly since: string;
  /** SHA-256 of the policy that let it through, null where none held; undefined where an earlier version did not say. */
  readonly policy: string | null | undefined;
  /** It came from a machine's own journal, which knows what held there. */
  readonly isMoved: boolean;
}

/** Why a record in doubt is not to be sent. */
export type Unproven = 'absent' | 'ended' | 'changed' | 'unreserved';

/**
 * The entry of the audit chain that a record in doubt must have: whoever writes a row alone moves no money with it. @throws StorageError.
 */
export function proofOf(
  audit: AuditChain,
  record: JournalRecord,
): IntentProof | Exclude<Unproven, 'unreserved'> {
  let since: string | undefined;
  let isMoved = false;
  let newest: Readonly<Record<string, unknown>> | undefined;
  for (const row of audit.ofKey(record.key, record.base_url)) {
    const entry = recordOfRow(row);
    // An entry that is not what was written proves nothing.
    if (hashOf(entry) !== entry.hash) continue;
    if (entry.kind === 'intent') {
      newest = entry;
      isMoved = false;
      since ??= String(entry.time);
    } else if (entry.kind === 'moved_in') isMoved = true;
    else if (endingKinds.includes(String(entry.kind))) since = undefined;
  }
  if (!newest) return 'absent';
  if (since === undefined) return 'ended';
  const { operation, account, content, policy } = Object(newest.detail);
  const isSame =
    operation === record.operation &&
    account === record.account &&
    content === contentHash(record.operation, record.body);
  if (!isSame) return 'changed';
  const isOlder = Date.parse(record.created_at) < Date.parse(since);
  return {
    number: Number(newest.number),
    since: isOlder ? record.created_at : since,
    policy: typeof policy === 'string' || policy === null ? policy : undefined,
    isMoved,
  };
}

/** Whether the chain alone says that the intent was held to a policy. @param isHeldNow whether a published one holds it. */
export function wasHeld(
  audit: AuditChain,
  { number, policy, isMoved }: IntentProof,
  { profile }: Pick<JournalRecord, 'profile'>,
  isHeldNow: boolean,
): boolean {
  if (typeof policy === 'string' || isMoved) return typeof policy === 'string';
  const before = audit.policyBefore(number, profile);
  // A policy that was published holds on every machine, whatever the entry says.
  return before === 'published' ? isHeldNow : before === 'own' && policy === undefined;
}

/**
 * Whether money is reserved for an intent without a decision of the policy, since it may have been sent before; one that
 * the journal cannot prove is decided on like a new one. @param record in doubt under the same key.
 */
export function isAdmitted(
  audit: AuditChain,
  reservations: Reservations,
  record: JournalRecord,
  { orders }: Reserving,
): boolean {
  const proof = proofOf(audit, record);
  if (typeof proof === 'string') return false;
  return !wasHeld(audit, proof, record, true) || reservations.cover(orders);
}
