import { refusalHint } from '../api/error-codes.ts';
import type { Auth } from '../api/operation.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { MissingKeyError } from './errors.ts';

/** What a key is needed for. */
export interface KeyRequest {
  readonly auth: 'bearer' | 'basic';
  readonly method: string;
  /** The order that is read, where one is. */
  readonly orderId: string | undefined;
  /** The path is not one of the table: the request goes without a key where there is none. */
  readonly isOptional: boolean;
}

/** Gives the key of a request; undefined where it has none for it. Called once for each request that needs one. */
export type KeySource = (request: KeyRequest) => string | undefined | Promise<string | undefined>;

/** The first of several sources that has a key. */
export const firstOf =
  (...sources: readonly KeySource[]): KeySource =>
  async (request) => {
    for (const source of sources) {
      const key = await source(request);
      if (key !== undefined) return key;
    }
    return undefined;
  };

export interface CredentialRequest extends Omit<KeyRequest, 'auth'> {
  readonly auth: Auth;
  /** Pays the challenge of an operation that is paid for; without it a challenge is what comes back. */
  readonly payment: string | undefined;
}

/**
 * The `authorization` header of a request; undefined where it takes none.
 * @throws MissingKeyError where it needs one that is not there.
 */
export async function credentialFor(
  { auth, payment, ...request }: CredentialRequest,
  keys: KeySource,
): Promise<string | undefined> {
  if (auth === 'payment') return payment;
  if (auth === 'none') return undefined;
  const found = await keys({ ...request, auth });
  if (found === undefined && request.isOptional) return undefined;
  const key = required(found, auth);
  redactor.remember([key]);
  return auth === 'bearer' ? `Bearer ${key}` : `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
}

const missing = {
  bearer: 'this needs an API key, and none is set',
  basic: 'this needs the client token of the legacy service, and none is set',
} as const;

function required(secret: string | undefined, auth: 'bearer' | 'basic'): string {
  if (secret === undefined || secret === '') {
    throw new MissingKeyError(missing[auth], {
      code: 'unauthorized',
      hint: refusalHint('unauthorized', auth, undefined),
    });
  }
  // What no header can carry would be an error naming the header with its value.
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new MissingKeyError('the key holds characters that no key has', {
    hint: `Store it again: \`errand auth token${auth === 'basic' ? ' --legacy' : ''}\`.`,
  });
}
