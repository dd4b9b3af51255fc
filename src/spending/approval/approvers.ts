import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { reasonOf } from '../../config/paths.ts';
import { UsageError } from '../../platform/errors.ts';
import { PrivateFileError, readGuardedFile } from '../../platform/private-files.ts';
import type { ApproverFile, Policy } from '../policy/policy.ts';

/**
 * Reads the public keys of the approvers.
 * @throws UsageError with the policy's line number if a file contains no public key.
 */
export const readApprovers = (policy: PolicyOfApprovers): readonly PublicKey[] =>
  policy.approvers.flatMap((approver) => {
    const read = readPublicKeys(keysText(policy, approver));
    if ('problem' in read) throw approverError(policy, approver)(`${approver.name} ${read.problem}`);
    return read.keys;
  });

/** The parts of a policy that decide who may approve. */
export type PolicyOfApprovers = Pick<Policy, 'file' | 'approvers' | 'keys'>;

/** Reads a public key file. @throws UsageError. */
export function keysText(policy: PolicyOfApprovers, approver: ApproverFile): string {
  const refused = approverError(policy, approver);
  if (!policy.keys) return textOf(resolve(dirname(policy.file), approver.name), refused);
  const published = Object.hasOwn(policy.keys, approver.name) ? policy.keys[approver.name] : undefined;
  if (published === undefined) throw refused(`${approver.name} was not published with it`);
  return published;
}

const approverError =
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

/** An SSH public key. */
export interface PublicKey {
  readonly type: string;
  /** The key in Base64, as in a key file. */
  readonly blob: string;
  /** Fingerprint of the key, in the format of `ssh-keygen -l`: `SHA256:…`. */
  readonly fingerprint: string;
}

const types = /^(?:sk-)?(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d{3})(?:@openssh\.com)?$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Parses public keys, one per line as written by `ssh-keygen`. Returns the problem if parsing fails. Pure. */
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

/** First line of a signature made by `ssh-keygen -Y sign`. */
export const signatureBegin = '-----BEGIN SSH SIGNATURE-----';
const signatureShape =
  /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END SSH SIGNATURE-----\s*$/;
const magic = 'SSHSIG';

/**
 * The public key that made a signature. The signature itself contains this key. Undefined if the text is not a
 * signature. Verifying is left to `ssh-keygen`.
 */
export function signingKeyOf(signature: string): PublicKey | undefined {
  const bytes = Buffer.from(signatureShape.exec(signature)?.[1] ?? '', 'base64');
  if (bytes.subarray(0, magic.length).toString('latin1') !== magic) return undefined;
  const key = stringAt(bytes, magic.length + 4);
  const type = key && stringAt(key, 0)?.toString('latin1');
  if (!key || type === undefined || !types.test(type)) return undefined;
  return { type, blob: key.toString('base64'), fingerprint: fingerprintOf(key) };
}

/** The fingerprint of the key that made a signature. The signature is not verified. */
export const signerOf = (signature: string): string | undefined => signingKeyOf(signature)?.fingerprint;

/** Reads a string in SSH wire format: a four-byte length, followed by the content. */
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
