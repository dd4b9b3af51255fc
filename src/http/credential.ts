import { errorHint } from '../contract/error-codes.ts';
import type { Auth } from '../contract/operation.ts';
import { MissingKeyError } from './errors.ts';
import type { Service } from './request.ts';

/**
 * The `authorization` header of a request; undefined where the operation takes none.
 * `payment` pays the challenge of an operation that is paid for; without it a challenge is what comes back.
 * @throws MissingKeyError where it needs one that is not there.
 */
export function credentialFor(
  auth: Auth,
  { apiKey, legacyToken }: Pick<Service, 'apiKey' | 'legacyToken'>,
  payment?: string | undefined,
): string | undefined {
  if (auth === 'payment') return payment;
  if (auth === 'bearer') return `Bearer ${required(apiKey, 'this needs an API key, and none is set')}`;
  if (auth === 'basic') {
    const token = required(legacyToken, 'this needs the client token of the legacy service, and none is set');
    return `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
  }
  return undefined;
}

function required(secret: string | undefined, missing: string): string {
  if (secret === undefined || secret === '') {
    throw new MissingKeyError(missing, { code: 'unauthorized', hint: errorHint('unauthorized') });
  }
  // What no header can carry would be an error naming the header with its value.
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new MissingKeyError('the key holds characters that no key has', {
    hint: 'Store it again: `errand auth token`.',
  });
}
