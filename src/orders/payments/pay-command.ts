import { spawn } from 'node:child_process';
import type { PaymentChallenge } from '../../http/payment-challenge.ts';
import { readCredential } from '../../http/payment-credential.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import { tellLines } from '../../platform/process.ts';
import type { Context } from '../../run/context.ts';

/** A wallet may ask its owner; after this it is not waited for, ms. */
const longestMs = 10 * 60_000;
const longestOutput = 64 * 1024;

/**
 * Has a command pay a challenge: it gets the challenge as one JSON object on stdin and prints the credential.
 * @returns the header that pays. @throws ErrandError payment where it declines, prints no credential or takes too long;
 * interrupted on Ctrl-C.
 */
export async function payByCommand(
  context: Context,
  command: string,
  challenge: PaymentChallenge,
): Promise<string> {
  const { clock } = context;
  const left = challenge.expiresAt === undefined ? longestMs : challenge.expiresAt - clock.now();
  const printed = await run(context, command, challengeJson(challenge), Math.min(left, longestMs));
  const read = readCredential(printed, challenge);
  if ('credential' in read) return read.credential;
  throw failed(`the pay command printed ${read.problem}`, paidOutsideHint);
}

/** The challenge as the scheme's public SDK holds it: its parameters, `request` decoded. */
export const challengeJson = ({ parameters, request }: PaymentChallenge): string =>
  `${JSON.stringify({ ...parameters, request })}\n`;

const paidOutsideHint = 'It may have paid all the same: look there before you pay again.';

function run(context: Context, command: string, input: string, timeoutMs: number): Promise<string> {
  const { signal, environment } = context;
  const child = spawn(command, {
    shell: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    env: { ...environment },
  });
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    let size = 0;
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (child.exitCode === null) child.kill();
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      settle();
    };
    const fail = (error: ErrandError): void => end(() => reject(error));
    const stop = (): void => fail(interrupted(signal.reason));
    const timer = setTimeout(
      () => fail(failed(`the pay command took more than ${Math.round(timeoutMs / 1000)} s`, paidOutsideHint)),
      timeoutMs,
    );
    signal.addEventListener('abort', stop, { once: true });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    tellLines(child.stderr, context.note);
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      out.push(chunk);
      if (size > longestOutput)
        fail(failed(`the pay command printed more than ${longestOutput} bytes`, paidOutsideHint));
    });
    child.on('error', (cause) => fail(failed(`the pay command could not be run: ${cause.message}`)));
    child.on('close', (code, killed) => {
      if (code === 0) end(() => resolve(Buffer.concat(out).toString()));
      else
        fail(failed(`the pay command declined (${code === null ? `ended by ${killed}` : `exit ${code}`})`));
    });
    if (signal.aborted) stop();
  });
}

const failed = (message: string, hint?: string): ErrandError =>
  new ErrandError('payment', message, {
    code: 'payment_failed',
    outcome: 'not_sent',
    retryable: false,
    hint,
  });

const interrupted = (reason: unknown): ErrandError => {
  const category = stopOf(reason) ?? 'interrupted';
  return new ErrandError(category, `${category} while the pay command ran; nothing was ordered`, {
    outcome: 'not_sent',
    hint: paidOutsideHint,
  });
};
