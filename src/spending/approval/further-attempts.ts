import { limits } from '../../api/limits.ts';
import { sha256 } from '../../format/canonical.ts';
import type { ApprovalRequest } from '../../journal/approval-row.ts';
import type { ApprovalUse } from '../../journal/approvals.ts';
import type { Journal } from '../../journal/journal.ts';

const noKeys: ReadonlySet<string> = new Set();

/**
 * Finds the keys with which an approval was used for orders that are known to have failed. The approval of a single
 * order covers its need until an attempt is live, so a failed order does not use up the approval. An order that
 * somebody cancelled or returned does use it up.
 * @throws StorageError.
 */
export async function failedKeys(
  journal: Pick<Journal, 'attempts'>,
  { subject, service, account, is_rehearsal: isTest }: ApprovalRequest,
  uses: readonly ApprovalUse[],
): Promise<ReadonlySet<string>> {
  if (subject !== 'order' || uses.length === 0) return noKeys;
  const attempts = await journal.attempts();
  const failed = new Set<string>();
  for (const { key, orderId } of uses) {
    if (orderId === undefined) continue;
    const made = await attempts.ofKey({ service, accounts: [account], isTest }, key);
    if (made.length > 0 && made.every(({ state }) => state === 'failed')) failed.add(key);
  }
  return failed;
}

/**
 * Key of an attempt under an approval. The first attempt has the key `first`. Every machine derives the same key for
 * the same attempt, so the service creates only one order for it. Pure.
 */
export const approvedAttemptKey = (first: string, number: number): string =>
  number === 1
    ? first
    : sha256(JSON.stringify(['errand-approval-1', first, number])).slice(0, limits.idempotencyKeyLength.max);
