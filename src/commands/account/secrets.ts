import { limits } from '../../api/limits.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readBytes } from '../../run/read-bytes.ts';

const largestSecretBytes = 4096;

/** Where the secrets of an account come from; no flag and no variable holds one. */
export const secretOptions = {
  passwordFile: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: 'file with the password, or - for stdin; without it a hidden prompt',
  },
  totpFile: {
    kind: 'text',
    placeholder: 'file|-',
    completes: 'files',
    description: 'file with the 64-character two-factor secret, or - for stdin',
  },
} as const;

interface Files {
  readonly passwordFile?: string | undefined;
  readonly totpFile?: string | undefined;
}

/** The secrets that files or stdin hold. @throws UsageError naming the flag, never the secret. */
export async function readSecrets(
  context: Context,
  { passwordFile, totpFile }: Files,
): Promise<{ password?: string; totp_secret?: string }> {
  if (passwordFile === '-' && totpFile === '-')
    throw new UsageError('--password-file and --totp-file cannot both read stdin');
  const password = passwordFile && (await readSecret(context, '--password-file', passwordFile));
  const totp = totpFile && checkTotp(await readSecret(context, '--totp-file', totpFile), '--totp-file');
  return { ...(password && { password }), ...(totp && { totp_secret: totp }) };
}

/** A two-factor secret without the spaces it is shown with. @throws UsageError saying what it is and is not. */
export function checkTotp(text: string, where: string): string {
  const secret = text.replace(/\s+/g, '');
  if (secret.length === limits.totpSecretLength) return secret;
  const wanted = `the ${limits.totpSecretLength}-character secret that the retailer shows when two-factor sign-in is set up`;
  if (/^\d{6}$/.test(secret)) {
    throw new UsageError(
      `${where} holds a 6-digit code: that is valid for half a minute and signs nobody in later; it takes ${wanted}`,
    );
  }
  throw new UsageError(`${where} holds ${secret.length} characters; it takes ${wanted}`);
}

async function readSecret(context: Context, flag: string, file: string): Promise<string> {
  const bytes = await readBytes(context, flag, file, { bytes: largestSecretBytes, holds: 'one secret' });
  const secret = bytes
    .toString('utf8')
    // Editors and echo end a file with a line break; it is no part of the secret.
    .replace(/\r?\n$/, '');
  if (secret === '') throw new UsageError(`${flag} ${file} is empty`);
  if (/[\r\n]/.test(secret)) throw new UsageError(`${flag} ${file} has more than one line`);
  return secret;
}
