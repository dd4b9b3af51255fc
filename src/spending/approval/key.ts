import type { Context } from '../../context.ts';
import type { Intent } from '../../state/journal-record.ts';
import { journalExists } from '../../state/journal-tables.ts';
import type { Consent } from '../options.ts';
import type { Policy } from '../policy/policy.ts';
import { carriedApproval } from './carried.ts';
import { openApprovals } from './open.ts';
import { subjectOf } from './subject.ts';

/** The idempotency key that belongs to an approval. */
export interface ApprovedKey {
  readonly key: string;
  /** It was sent before: the same order is meant, which is shown and not made again. */
  readonly isSent: boolean;
}

/**
 * The key under which an approved order is sent: wherever the approval is carried, all machines send the same key, so
 * that the service makes one order of it. Undefined where there is no approval of this order.
 */
export async function keyOfApproval(
  context: Context,
  policy: Policy,
  intent: Intent,
  consent: Consent,
): Promise<ApprovedKey | undefined> {
  const carried = await carriedApproval(context, policy, consent.approval);
  if (!journalExists(context.settings.folders.state)) return undefined;
  const { terms } = subjectOf([intent], { isRehearsal: false });
  const approvals = await openApprovals(context, terms);
  for (const { state, request } of approvals.withTerms(terms)) {
    if (state !== 'approved' || request.key === null || request.terms !== terms) continue;
    const uses = approvals.usesOf(request.id);
    const isLive = Date.parse(request.expires_at) > context.clock.now();
    if (uses.length === 0 && isLive) return { key: request.key, isSent: false };
    if (request.id === carried && uses.some(({ key }) => key === request.key))
      return { key: request.key, isSent: true };
  }
  return undefined;
}
