import { dirname, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { PrivateFileError, readGuardedFile } from '../../private-files.ts';
import { reasonOf } from '../../settings/paths.ts';
import type { ApproverFile, Policy } from '../policy/policy.ts';
import { type PublicKey, readPublicKeys } from './ssh-key.ts';

/** The keys whose owners may approve. @throws UsageError naming the policy's line, for a file that has no public key. */
export const readApprovers = ({
  file,
  approvers,
}: Pick<Policy, 'file' | 'approvers'>): readonly PublicKey[] =>
  approvers.flatMap((approver) => keysOf(file, approver));

function keysOf(policy: string, { rule, line, name }: ApproverFile): readonly PublicKey[] {
  const path = resolve(dirname(policy), name);
  const refused = (what: string): UsageError => new UsageError(`${policy}, line ${line}: ${rule} ${what}`);
  const read = readPublicKeys(textOf(path, refused));
  if ('problem' in read) throw refused(`${path} ${read.problem}`);
  return read.keys;
}

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
