import { errorResponseHint } from '../api/error-codes.ts';
import type { Auth } from '../api/error-types.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { MissingKeyError } from './errors.ts';

/** Describes the request a key is for. */
export interface KeyRequest {
  readonly auth: 'bearer' | 'basic';
  readonly method: string;
  /** Id of the order that is read, if any. */
  readonly orderId: string | undefined;
  /** Whether the path is missing from the table. If so, and no key is available, the request is sent without a key. */
  readonly isOptional: boolean;
}

/** Supplies the key for a request; undefined if the source has no key. Called once per request that needs a key. */
export type KeySource = (request: KeyRequest) => string | undefined | Promise<string | undefined>;

/** Combines several sources. The first source that has a key supplies it. */
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
  /**
   * Credential that pays the challenge of a paid operation. If it is missing, the service responds with the challenge.
   */
  readonly payment: string | undefined;
}

/**
 * Builds the `authorization` header of a request; undefined if the request needs none.
 * @throws MissingKeyError if a required key is missing.
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
      hint: errorResponseHint('unauthorized', auth, undefined),
    });
  }
  // A header can contain only these characters. For any other character, Node would throw an error that quotes the
  // value.
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new MissingKeyError('the key holds characters that no key has', {
    hint: `Store it again: \`errand auth token${auth === 'basic' ? ' --legacy' : ''}\`.`,
  });
}
