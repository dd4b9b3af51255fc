import type { Context } from '../../context.ts';
import { type Approval, type ApprovalRequest, signedText } from '../../state/approval-row.ts';
import type { Policy } from '../policy/policy.ts';
import { readApprovers } from './approvers.ts';
import { signerOf } from './ssh-key.ts';
import { verify } from './ssh-keygen.ts';

/** Who signed a request, or why that does not count. */
export type Signed = { readonly by: string } | { readonly problem: string };

/** Whether a request is signed with the key of an approver. @throws ErrandError where ssh-keygen cannot be run. */
export async function signedBy(
  context: Context,
  policy: Pick<Policy, 'file' | 'approvers'>,
  request: ApprovalRequest,
  signature: string,
): Promise<Signed> {
  const by = signerOf(signature);
  if (by === undefined) return { problem: 'its signature is none of ssh-keygen' };
  const keys = readApprovers(policy).filter(({ fingerprint }) => fingerprint === by);
  if (keys.length === 0)
    return { problem: `it is signed with ${by}, which ${policy.file} does not name as an approver` };
  const isGood = await verify(context, keys, { text: signedText(request), signature });
  return isGood
    ? { by }
    : { problem: `its signature by ${by} does not hold: what was signed was something else` };
}

/** Why an approval does not count under a policy; undefined where it does. Its state in the journal alone is no proof of a person. */
export async function distrust(
  context: Context,
  policy: Policy,
  { request, signature }: Approval,
): Promise<string | undefined> {
  if (policy.approvers.length === 0) return undefined;
  if (signature === undefined) return `${policy.file} names approvers, and it is not signed by one`;
  const signed = await signedBy(context, policy, request, signature);
  return 'problem' in signed ? signed.problem : undefined;
}
