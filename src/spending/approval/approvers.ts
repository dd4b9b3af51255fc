import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '../../config/paths.ts';
import { UsageError } from '../../platform/errors.ts';
import { PrivateFileError, readGuardedFile } from '../../platform/private-files.ts';
import type { ApproverFile, Policy } from '../policy/policy.ts';

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

/** A public key of SSH. */
export interface PublicKey {
  readonly type: string;
  /** Base64, as it stands in a file. */
  readonly blob: string;
  /** `SHA256:…`, as `ssh-keygen -l` shows it. */
  readonly fingerprint: string;
}

const types = /^(?:sk-)?(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3})(?:@openssh\.com)?$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The public keys of a text, one a line as `ssh-keygen` writes them; else what is wrong with it. Pure. */
function readPublicKeys(
  text: string,
): { readonly keys: readonly PublicKey[] } | { readonly problem: string } {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text))
    return { problem: 'is a private key; name its .pub file' };
  const lines = text.split('\n').map((line) => line.trim());
  const keys: PublicKey[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const [type = '', blob = ''] = line.split(/\s+/);
    const bytes = Buffer.from(base64.test(blob) ? blob : '', 'base64');
    if (!types.test(type) || stringAt(bytes, 0)?.toString('latin1') !== type)
      return { problem: `has no public key of SSH in its line ${index + 1}` };
    keys.push({ type, blob, fingerprint: fingerprintOf(bytes) });
  }
  return keys.length === 0 ? { problem: 'has no public key' } : { keys };
}

/** Begins a signature that `ssh-keygen -Y sign` writes. */
export const signatureBegin = '-----BEGIN SSH SIGNATURE-----';
const signatureShape =
  /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/;
const magic = 'SSHSIG';

/** The fingerprint of the key that made a signature; whether the signature holds is for `ssh-keygen` to say. Undefined where it is none. */
export function signerOf(signature: string): string | undefined {
  const bytes = Buffer.from(signatureShape.exec(signature)?.[1] ?? '', 'base64');
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return undefined;
  const key = stringAt(bytes, magic.length + 4);
  return key && fingerprintOf(key);
}

/** A string of SSH's wire format: its length in four bytes, then itself. */
function stringAt(bytes: Buffer, at: number): Buffer | undefined {
  if (bytes.length < at + 4) return undefined;
  const end = at + 4 + bytes.readUInt32BE(at);
  return bytes.length < end ? undefined : bytes.subarray(at + 4, end);
}

const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256')
    .update(key)
    .digest('base64')
    .replace(/(?<!=)=+$/, '')}`;
