import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { UsageError } from '../../platform/errors.ts';
import { PrivateFileError, readPrivateFile, type Tell } from '../../platform/private-files.ts';

const wellFormed = /^[A-Za-z0-9_-]{16,200}$/;

/** A path that cannot be guessed: 192 random bits. */
export const makeSecret = (): string => randomBytes(24).toString('base64url');

/** The secret kept in a file, so that an address outlives its listener; made there where there is no such file. */
export function secretOf(file: string, tell: Tell): string {
  try {
    const secret = makeSecret();
    writeFileSync(file, `${secret}\n`, { flag: 'wx', mode: 0o600 });
    return secret;
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw unusable(file, error);
  }
  const secret = readSecret(file, tell).trim();
  if (wellFormed.test(secret)) return secret;
  throw new UsageError(
    `--secret-file ${file} must hold 16 to 200 letters, digits, - and _; remove it to have one made`,
  );
}

function readSecret(file: string, tell: Tell): string {
  try {
    return readPrivateFile(file, tell)?.toString('utf8') ?? '';
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): UsageError {
  const reason =
    cause instanceof PrivateFileError
      ? `it ${cause.reason}`
      : cause instanceof Error
        ? cause.message
        : String(cause);
  return new UsageError(`--secret-file ${file} cannot be used: ${reason}`, { cause });
}

/** Compares in a time that tells nothing of the secret. */
export function isSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

const longSegment = /^[\w-]{16,}$/;

/**
 * An address as it may be shown: password, values of the query and long parts of the path are left out, where a secret
 * may stand (specification, Events, rule 4). What is not a URL is not shown at all.
 */
export function maskAddress(address: string): string {
  if (!URL.canParse(address)) return '…';
  const { protocol, host, username, password, pathname, searchParams } = new URL(address);
  const login = username || password ? '…@' : '';
  const path = pathname
    .split('/')
    .map((part) => (longSegment.test(part) ? `…${part.slice(-4)}` : part))
    .join('/');
  const names = [...searchParams.keys()].map((name) => `${name}=…`);
  return `${protocol}//${login}${host}${path}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}
