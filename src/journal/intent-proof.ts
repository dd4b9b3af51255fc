import type { AuditChain } from './audit.ts';
import { hashOf, isSignedBy, isSignedElsewhere, recordOfRow } from './audit-record.ts';
import { contentHash } from './content.ts';
import type { JournalRecord, Sender } from './journal-record.ts';
import { endingKinds } from './lost-intents.ts';
import type { Mac } from './mac.ts';
import type { Reservations, Reserving } from './reservations.ts';

/** What the audit chain proves about an intent in doubt. */
export interface IntentProof {
  /** Number of the intent's newest audit entry. */
  readonly number: number;
  /** Earliest time at which the intent's key may have been sent, ISO 8601. */
  readonly since: string;
  /**
   * SHA-256 of the policy that allowed the intent; null without a policy; undefined if an earlier version did not
   * record the policy.
   */
  readonly policy: string | null | undefined;
  /**
   * Whether the intent was moved here from a machine's own journal. Only that journal knows which policy was in force
   * there.
   */
  readonly isMoved: boolean;
}

/** Why a record in doubt must not be sent. */
export type Unproven = 'absent' | 'ended' | 'changed' | 'unsigned' | 'cut' | 'unreserved';

type Entry = Readonly<Record<string, unknown>>;

/**
 * Finds the audit entry that proves a record in doubt. The entry must be signed with the sender's key, because write
 * access to the journal alone must not be enough to move money.
 * @returns the proof, or the reason why there is none.
 * @throws StorageError.
 */
export function proofOf(
  audit: AuditChain,
  record: JournalRecord,
  { mac }: Pick<Sender, 'mac'>,
): IntentProof | Exclude<Unproven, 'unreserved'> {
  const found = entryOf(audit, record);
  if (typeof found === 'string') return found;
  const isSigned = mac !== undefined && isSignedBy(found.entry, mac);
  if (!isSigned || isSignedElsewhere(found.entry, audit.databaseId)) return 'unsigned';
  return isWholeAfter(audit, found.entry, { account: record.account, mac }) ? found : 'cut';
}

/**
 * Whether the chain continues after an entry without a gap, and the key has signed all later intents of the key's
 * account. If not, the chain may lack an entry that says how the intent ended.
 */
function isWholeAfter(
  audit: AuditChain,
  { number, hash }: Entry,
  { account, mac }: { readonly account: string; readonly mac: Mac },
): boolean {
  let last = { number: Number(number), hash };
  for (const row of audit.rows(last.number)) {
    const entry = recordOfRow(row);
    const follows = entry.number === last.number + 1 && entry.previous === last.hash;
    if (!follows || hashOf(entry) !== entry.hash) return false;
    const isOwn = entry.kind === 'intent' && Object(entry.detail).account === account;
    if (isOwn && !isSignedBy(entry, mac)) return false;
    last = { number: last.number + 1, hash: entry.hash };
  }
  return true;
}

/** Finds the audit entry of a record in doubt, even if the entry is not signed. @throws StorageError. */
export function entryOf(
  audit: AuditChain,
  record: JournalRecord,
): (IntentProof & { readonly entry: Entry }) | Exclude<Unproven, 'unsigned' | 'cut' | 'unreserved'> {
  let since: string | undefined;
  let isMoved = false;
  let latest: Entry | undefined;
  for (const row of audit.ofKey(record.key, record.base_url)) {
    const entry = recordOfRow(row);
    // An altered entry proves nothing.
    if (hashOf(entry) !== entry.hash) continue;
    if (entry.kind === 'intent') {
      latest = entry;
      isMoved = false;
      since ??= String(entry.time);
    } else if (entry.kind === 'moved_in') isMoved = true;
    else if (endingKinds.includes(String(entry.kind))) since = undefined;
  }
  if (!latest) return 'absent';
  if (since === undefined) return 'ended';
  const { operation, account, content, policy } = Object(latest.detail);
  const isSame =
    operation === record.operation &&
    account === record.account &&
    content === contentHash(record.operation, record.body);
  if (!isSame) return 'changed';
  const isOlder = Date.parse(record.created_at) < Date.parse(since);
  return {
    entry: latest,
    number: Number(latest.number),
    since: isOlder ? record.created_at : since,
    policy: typeof policy === 'string' || policy === null ? policy : undefined,
    isMoved,
  };
}

/**
 * Whether the chain proves that the intent was subject to a policy.
 * @param isHeldNow tells whether a published policy applies to the intent.
 */
export function wasHeld(
  audit: AuditChain,
  { number, policy, isMoved }: IntentProof,
  { profile }: Pick<JournalRecord, 'profile'>,
  isHeldNow: boolean,
): boolean {
  if (typeof policy === 'string' || isMoved) return typeof policy === 'string';
  const before = audit.policyBefore(number, profile);
  // A published policy applies on every machine, whatever the entry says.
  return before === 'published' ? isHeldNow : before === 'own' && policy === undefined;
}

/**
 * Whether to reserve an intent's money without asking the policy, because the intent may already have been sent. An
 * intent without proof is decided like a new intent.
 * @param record is the in-doubt record that has the same key.
 */
export function isAdmitted(
  { audit, reservations }: { readonly audit: AuditChain; readonly reservations: Reservations },
  sender: Pick<Sender, 'mac'>,
  record: JournalRecord,
  { orders }: Reserving,
): boolean {
  const proof = proofOf(audit, record, sender);
  if (typeof proof === 'string') return false;
  return !wasHeld(audit, proof, record, true) || reservations.cover(orders);
}
