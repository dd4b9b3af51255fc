import { dirname, resolve } from 'node:path';
import { reasonOf } from '../../config/paths.ts';
import { UsageError } from '../../platform/errors.ts';
import { PrivateFileError, readGuardedFile } from '../../platform/private-files.ts';
import type { ApproverFile, Policy } from '../policy/policy.ts';
import { type PublicKey, readPublicKeys } from './ssh-key.ts';

/** The keys whose owners may approve. @throws UsageError naming the policy's line, for a file that has no public key. */
export const readApprovers = (policy: PolicyOfApprovers): readonly PublicKey[] =>
  policy.approvers.flatMap((approver) => {
    const read = readPublicKeys(keysText(policy, approver));
    if ('problem' in read) throw refusal(policy, approver)(`${approver.name} ${read.problem}`);
    return read.keys;
  });

/** Who may approve, by the files that a policy names. */
export type PolicyOfApprovers = Pick<Policy, 'file' | 'approvers' | 'keys'>;

/** What stands in a file of public keys. @throws UsageError. */
export function keysText(policy: PolicyOfApprovers, approver: ApproverFile): string {
  const refused = refusal(policy, approver);
  if (!policy.keys) return textOf(resolve(dirname(policy.file), approver.name), refused);
  const published = Object.hasOwn(policy.keys, approver.name) ? policy.keys[approver.name] : undefined;
  if (published === undefined) throw refused(`${approver.name} was not published with it`);
  return published;
}

const refusal =
  ({ file }: PolicyOfApprovers, { rule, line }: ApproverFile) =>
  (what: string): UsageError =>
    new UsageError(`${file}, line ${line}: ${rule} ${what}`);

function textOf(path: string, refused: (what: string) => UsageError): string {
  try {
    const bytes = readGuardedFile(path);
    if (bytes) return bytes.toString('utf8');
  } catch (cause) {
    if (cause instanceof PrivateFileError) throw refused(cause.message);
    throw refused(`${path} cannot be read (${reasonOf(cause)})`);
  }
  throw refused(`${path} does not exist`);
}
