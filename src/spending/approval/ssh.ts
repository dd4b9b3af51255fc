import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Approval, type ApprovalRequest, isOfDatabase, signedText } from '../../journal/approval-row.ts';
import { ErrandError } from '../../platform/errors.ts';
import { forwardLines } from '../../platform/process.ts';
import { findProgram } from '../../platform/programs.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Policy } from '../policy/policy.ts';
import { type PolicyOfApprovers, type PublicKey, readApprovers, signerOf } from './approvers.ts';

/** What a signature is for. */
export interface Purpose {
  /** Namespace of the signatures. A signature that was made for any other purpose is therefore invalid. */
  readonly namespace: string;
  /** Text at the end of an error that says what was not done. */
  readonly unsigned: string;
  readonly code: string;
}

export const forApprovals: Purpose = {
  namespace: 'errand-approval',
  unsigned: 'nothing was approved',
  code: 'approval_not_signed',
};

/** Time limit for signing, in ms; the user may have to find a hardware key. */
const signTimeoutMs = 10 * 60_000;
const verifyTimeoutMs = 30_000;
/** Limit for the output of ssh-keygen, in bytes. No signature is this large. */
const maxOutputBytes = 64 * 1024;

type SignContext = Pick<OrderContext, 'signal' | 'environment' | 'note'>;

/**
 * Signs a text with a private key. If `key` names a public key, the agent signs with the matching private key.
 * @returns the armoured signature.
 * @throws ErrandError policy if signing fails; interrupted on Ctrl-C.
 */
export async function sign(
  context: SignContext,
  purpose: Purpose,
  key: string,
  text: string,
): Promise<string> {
  const ended = await run(
    context,
    purpose,
    ['-Y', 'sign', '-n', purpose.namespace, '-f', key],
    text,
    signTimeoutMs,
    (line) => {
      if (!line.startsWith('Signing data on')) context.note(line);
    },
  );
  if (ended.code === 0) return ended.out;
  throw unsigned(purpose, `ssh-keygen did not sign with ${key}: ${ended.last || `exit ${ended.code}`}`);
}

/**
 * Verifies that a text was signed with one of the keys, for this purpose.
 * @throws ErrandError if ssh-keygen cannot be run.
 */
export async function verify(
  context: SignContext,
  purpose: Purpose,
  keys: readonly PublicKey[],
  { text, signature }: { readonly text: string; readonly signature: string },
): Promise<boolean> {
  const { namespace } = purpose;
  const folder = mkdtempSync(join(tmpdir(), `${namespace}-`));
  try {
    const [signers, file] = [join(folder, 'allowed_signers'), join(folder, 'signature')];
    const lines = keys.map(({ type, blob }) => `signer namespaces="${namespace}" ${type} ${blob}\n`);
    writeFileSync(signers, lines.join(''), { mode: 0o600, flag: 'wx' });
    writeFileSync(file, signature, { mode: 0o600, flag: 'wx' });
    const args = ['-Y', 'verify', '-n', namespace, '-f', signers, '-I', 'signer', '-s', file];
    return (await run(context, purpose, args, text, verifyTimeoutMs, () => {})).code === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  /** Last line that ssh-keygen wrote to its diagnostic output. */
  readonly last: string;
}

function run(
  { signal, environment }: SignContext,
  purpose: Purpose,
  args: readonly string[],
  input: string,
  timeoutMs: number,
  onLine: (line: string) => void,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const program = findProgram('ssh-keygen', environment);
    if (!program) throw missing();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const child = spawn(program.file, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      env: { ...program.environment },
      signal: limit,
    });
    const out: Buffer[] = [];
    let size = 0;
    let last = '';
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) out.push(chunk);
    });
    forwardLines(child.stderr, (line) => {
      last = line;
      onLine(line);
    });
    child.on('error', (cause) => {
      if (signal.aborted) reject(signal.reason);
      else if (limit.aborted) reject(unsigned(purpose, `ssh-keygen took more than ${timeoutMs / 1000} s`));
      else reject(unsigned(purpose, `ssh-keygen could not be run: ${cause.message}`));
    });
    child.on('close', (code) => resolve({ code, out: Buffer.concat(out).toString(), last }));
  });
}

const unsigned = (purpose: Purpose, message: string): ErrandError =>
  new ErrandError('policy', `${message}; ${purpose.unsigned}`, {
    code: purpose.code,
    outcome: 'not_sent',
    retryable: false,
  });

const missing = (): ErrandError =>
  new ErrandError(
    'policy',
    'there is no ssh-keygen on the PATH, which signs and verifies approvals and policies',
    {
      code: 'ssh_keygen_missing',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Nothing was sent. Install OpenSSH 8.2 or later (the package openssh-client), then try again.',
    },
  );

/** Who signed a request, or why the signature does not count. Such a reason is phrased to follow the request's id. */
type Signed = { readonly by: string } | { readonly problem: string };

/** Checks whether a request is signed with a key of an approver. @throws ErrandError if ssh-keygen cannot be run. */
export async function signedBy(
  context: OrderContext,
  policy: PolicyOfApprovers,
  request: ApprovalRequest,
  signature: string,
): Promise<Signed> {
  const { databaseId } = (await context.journal()).audit;
  if (!isOfDatabase(request, databaseId))
    return {
      problem: `was asked for in ${databaseId === undefined ? 'a shared' : 'another'} database, and counts there alone`,
    };
  const by = signerOf(signature);
  if (by === undefined) return { problem: 'has a signature that ssh-keygen did not make' };
  const keys = readApprovers(policy).filter(({ fingerprint }) => fingerprint === by);
  if (keys.length === 0)
    return { problem: `is signed with ${by}, and ${policy.file} does not name that key as an approver` };
  const isGood = await verify(context, forApprovals, keys, { text: signedText(request), signature });
  return isGood
    ? { by }
    : { problem: `has a signature by ${by} that does not hold: something else was signed` };
}

/**
 * Whether a signature claims to be made with a key that the policy names. If the policy names no keys, returns true.
 * Does not verify the signature.
 */
export function isByApprover(policy: PolicyOfApprovers, { signature }: Approval): boolean {
  if (policy.approvers.length === 0) return true;
  const by = signature === undefined ? undefined : signerOf(signature);
  return readApprovers(policy).some(({ fingerprint }) => fingerprint === by);
}

/**
 * Why an approval is not valid under a policy. Undefined if it is valid. The state that the journal contains does not
 * prove that a person approved the request.
 */
export async function distrust(
  context: OrderContext,
  policy: Policy,
  { request, signature }: Approval,
): Promise<string | undefined> {
  if (policy.approvers.length === 0) return (await isOfTerminal(context, request)) ? undefined : unproven;
  if (signature === undefined)
    return `is not signed, and ${policy.file} names approvers, whose signature it takes`;
  const signed = await signedBy(context, policy, request, signature);
  return 'problem' in signed ? signed.problem : undefined;
}

/**
 * Whether a request was approved at a terminal. In a shared database, only somebody with the API key of the order can have
 * done that.
 */
async function isOfTerminal(context: OrderContext, request: ApprovalRequest): Promise<boolean> {
  if (!context.settings.database) return true;
  const { mac } = await context.sender();
  const approvals = await (await context.journal()).reservations.approvals();
  return mac !== undefined && approvals.isProven(request, mac);
}

const unproven =
  'is not signed under the API key in use, as an approval at a terminal is in a shared database: somebody else wrote it, or approved it with another key. Deny it, and approve it again with this key';
