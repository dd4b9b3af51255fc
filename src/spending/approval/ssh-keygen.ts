import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tellLines } from '../../platform/child-output.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { PublicKey } from './ssh-key.ts';

/** What a signature is made for, so that one that was made for anything else is none. */
export const namespace = 'errand-approval';

/** A person may have to find their hardware key, ms. */
const longestSignMs = 10 * 60_000;
const longestVerifyMs = 30_000;
/** More than any signature. */
const longestOutput = 64 * 1024;

/**
 * Signs a text with a private key, or with an agent's that a public key names. @returns the signature, in its armour.
 * @throws ErrandError policy where it is not signed; interrupted on Ctrl-C.
 */
export async function sign(context: OrderContext, key: string, text: string): Promise<string> {
  const ended = await run(
    context,
    ['-Y', 'sign', '-n', namespace, '-f', key],
    text,
    longestSignMs,
    (line) => {
      if (!line.startsWith('Signing data on')) context.note(line);
    },
  );
  if (ended.code === 0) return ended.out;
  throw unsigned(`ssh-keygen did not sign with ${key}: ${ended.last || `exit ${ended.code}`}`);
}

/** Whether a text was signed, for this purpose, with one of the keys. @throws ErrandError where ssh-keygen cannot be run. */
export async function verify(
  context: OrderContext,
  keys: readonly PublicKey[],
  { text, signature }: { readonly text: string; readonly signature: string },
): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-approval-'));
  try {
    const [signers, file] = [join(folder, 'allowed_signers'), join(folder, 'signature')];
    const lines = keys.map(({ type, blob }) => `approver namespaces="${namespace}" ${type} ${blob}\n`);
    writeFileSync(signers, lines.join(''), { mode: 0o600, flag: 'wx' });
    writeFileSync(file, signature, { mode: 0o600, flag: 'wx' });
    const args = ['-Y', 'verify', '-n', namespace, '-f', signers, '-I', 'approver', '-s', file];
    return (await run(context, args, text, longestVerifyMs, () => {})).code === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  /** The last line that it printed beside. */
  readonly last: string;
}

function run(
  { signal, environment }: OrderContext,
  args: readonly string[],
  input: string,
  timeoutMs: number,
  tell: (line: string) => void,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const child = spawn('ssh-keygen', args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      env: { ...environment },
      signal: limit,
    });
    const out: Buffer[] = [];
    let size = 0;
    let last = '';
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= longestOutput) out.push(chunk);
    });
    tellLines(child.stderr, (line) => {
      last = line;
      tell(line);
    });
    child.on('error', (cause) => {
      if (signal.aborted) reject(signal.reason);
      else if (limit.aborted) reject(unsigned(`ssh-keygen took more than ${timeoutMs / 1000} s`));
      else if ('code' in cause && cause.code === 'ENOENT') reject(missing());
      else reject(unsigned(`ssh-keygen could not be run: ${cause.message}`));
    });
    child.on('close', (code) => resolve({ code, out: Buffer.concat(out).toString(), last }));
  });
}

const unsigned = (message: string): ErrandError =>
  new ErrandError('policy', `${message}; nothing was approved`, {
    code: 'approval_not_signed',
    outcome: 'not_sent',
    retryable: false,
  });

const missing = (): ErrandError =>
  new ErrandError('policy', 'there is no ssh-keygen on the PATH, which signs and verifies approvals', {
    code: 'ssh_keygen_missing',
    outcome: 'not_sent',
    retryable: false,
    hint: 'Nothing was sent. Install OpenSSH 8.2 or later (the package openssh-client), then try again.',
  });
