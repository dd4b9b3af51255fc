import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Policy } from '../policy/policy.ts';
import { distrust, signedBy } from './trust.ts';

interface SignedRequest {
  readonly request: ApprovalRequest;
  readonly signature: string;
}

/** Keeps a signed approval in the journal. @throws ErrandError policy where no approver signed it, it has expired or was denied here. */
export async function keepSigned(
  context: OrderContext,
  policy: Policy,
  { request, signature }: SignedRequest,
): Promise<Approval> {
  if (policy.approvers.length === 0)
    throw notApproved(
      `${policy.file} names no approvers, so that nobody's signature counts; approval ${request.id} is approved at a terminal, where it was asked for`,
    );
  const signed = await signedBy(context, policy, request, signature);
  if ('problem' in signed) throw notApproved(`approval ${request.id} ${signed.problem}`);
  const approvals = await (await context.journal()).reservations.approvals();
  const known = approvals.list().find((one) => one.request.id === request.id);
  if (known?.state === 'denied') throw notApproved(`approval ${request.id} was denied by ${known.decidedBy}`);
  // Who approved it first has done so; the same from another changes nothing.
  if (known?.state === 'approved' && (await distrust(context, policy, known)) === undefined)
    return approvals.approve(request, known.decidedBy ?? signed.by, known.signature);
  return approvals.approve(request, signed.by, signature);
}

/** @param what what is wrong, as a sentence. */
export const notApproved = (what: string, facts: ErrorFacts = {}): ErrandError =>
  new ErrandError('policy', what, {
    code: 'approval_refused',
    outcome: 'not_sent',
    retryable: false,
    ...facts,
  });
