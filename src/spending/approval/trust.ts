import { type Approval, type ApprovalRequest, signedText } from '../../journal/approval-row.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Policy } from '../policy/policy.ts';
import { type PolicyOfApprovers, readApprovers } from './approvers.ts';
import { signerOf } from './ssh-key.ts';
import { verify } from './ssh-keygen.ts';

/** Who signed a request, or why that does not count, in words that follow its id. */
export type Signed = { readonly by: string } | { readonly problem: string };

/** Whether a request is signed with the key of an approver. @throws ErrandError where ssh-keygen cannot be run. */
export async function signedBy(
  context: OrderContext,
  policy: PolicyOfApprovers,
  request: ApprovalRequest,
  signature: string,
): Promise<Signed> {
  const by = signerOf(signature);
  if (by === undefined) return { problem: 'has a signature that ssh-keygen did not make' };
  const keys = readApprovers(policy).filter(({ fingerprint }) => fingerprint === by);
  if (keys.length === 0)
    return { problem: `is signed with ${by}, and ${policy.file} does not name that key as an approver` };
  const isGood = await verify(context, keys, { text: signedText(request), signature });
  return isGood
    ? { by }
    : { problem: `has a signature by ${by} that does not hold: something else was signed` };
}

/** Whether the key that an approval says it is signed with is one that the policy names, where it names any. Nothing is verified. */
export function isByApprover(policy: PolicyOfApprovers, { signature }: Approval): boolean {
  if (policy.approvers.length === 0) return true;
  const by = signature === undefined ? undefined : signerOf(signature);
  return readApprovers(policy).some(({ fingerprint }) => fingerprint === by);
}

/** Why an approval does not count under a policy; undefined where it does. Its state in the journal alone is no proof of a person. */
export async function distrust(
  context: OrderContext,
  policy: Policy,
  { request, signature }: Approval,
): Promise<string | undefined> {
  if (policy.approvers.length === 0) return undefined;
  if (signature === undefined)
    return `is not signed, and ${policy.file} names approvers, whose signature it takes`;
  const signed = await signedBy(context, policy, request, signature);
  return 'problem' in signed ? signed.problem : undefined;
}
