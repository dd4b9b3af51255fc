import { numberIn } from '../../api/json.ts';
import type { Approval } from '../../journal/approval-row.ts';
import type { Intent } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Consent } from '../options.ts';
import { feeOf } from '../policy/facts.ts';
import type { Policy } from '../policy/policy.ts';
import { carriedApproval, openApprovals } from './carried.ts';
import { untimely } from './covers.ts';
import { approvedAttemptKey, failedKeys } from './further-attempts.ts';
import { distrust } from './ssh.ts';
import { subjectOf } from './subject.ts';

/** The idempotency key that belongs to an approval. */
export interface ApprovedKey {
  readonly key: string;
  /** Whether the key was sent before. If so, the existing order is shown and no order is created. */
  readonly isSent: boolean;
}

/**
 * The idempotency key for an order that has an approval. All machines derive it from the approval's key, so the service
 * creates only one order. After a failed attempt, the next attempt has a key of its own. A pending request for an
 * approval already has a key. Undefined if the order has neither an approval nor a request.
 */
export async function keyOfApproval(
  context: OrderContext,
  policy: Policy,
  intent: Intent,
  consent: Consent,
): Promise<ApprovedKey | undefined> {
  const carried = await carriedApproval(context, policy, consent.approval);
  if (!journalExists(context.settings)) return undefined;
  const { terms } = subjectOf([intent], { isRehearsal: false });
  const approvals = await openApprovals(context, terms);
  const journal = await context.journal();
  const overrides = consent.overridePolicy !== undefined;
  const isFitting = ({ request }: Approval): boolean => (request.override !== null) === overrides;
  const rank = (one: Approval): number =>
    (one.request.id === carried ? 4 : 0) + (one.state === 'approved' ? 2 : 0) + (isFitting(one) ? 1 : 0);
  const candidates = approvals
    .withTerms(terms)
    .filter(({ state, request }) => state !== 'denied' && request.key !== null)
    .sort((one, other) => rank(other) - rank(one));
  for (const approval of candidates) {
    const { state, request } = approval;
    const uses = approvals.usesOf(request.id);
    const failed = await failedKeys(journal, request, uses);
    const live = uses.find((use) => !failed.has(use.key));
    if (request.id === carried && live) return { key: live.key, isSent: true };
    const key = approvedAttemptKey(request.key ?? '', 1 + failed.size);
    if (live || untimely(request, { now: context.clock.now(), lifetimeMs: policy.approvalMs })) continue;
    // Skip a key that may already have been sent. The order may have been sent with that key at a time when it needed
    // no approval.
    if ((journal.find(key, intent.baseUrl)?.state ?? 'refused') !== 'refused') continue;
    const cents = (numberIn(intent.body, 'max_price') ?? 0) + (await feeOf(context, intent.operation));
    if (state === 'open' ? request.total_cents !== cents : request.total_cents < cents) continue;
    if (state === 'approved' && (await distrust(context, policy, approval)) !== undefined) continue;
    return { key, isSent: false };
  }
  return undefined;
}
