import { hash } from 'node:crypto';
import type { Auth } from '../../api/error-types.ts';
import { apiKeyPattern, limits } from '../../api/limits.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { ErrorResponse } from './refusal.ts';
import type { Service } from './service.ts';
import { headerOf, type SandboxRequest } from './wire.ts';

/** Dependencies of deferred writes. */
export type Noting = Pick<Service, 'store' | 'report'>;

/** Adds a write to the next group of writes. No response waits for this write. */
export function noteLater({ store, report }: Noting, write: () => void): void {
  store
    .grouped(write)
    .catch((error: unknown) => report(error instanceof DatabaseError ? error.message : error));
}

/** The user behind a request's key. */
export interface Caller {
  readonly userId: string;
  readonly email: string | null;
  readonly keyHash: string;
  /** For a temporary key, the only order that the key can read. Null for any other key. */
  readonly orderId: string | null;
}

export const hashKey = (key: string): string => hash('sha256', key, 'hex');

/**
 * Maximum time, in ms, by which the recorded last use of a key may be out of date. This tolerance avoids a write on
 * every request.
 */
const useNoteMs = 60_000;

/**
 * Authenticates the caller as the operation requires. Returns null if the operation needs no authentication.
 * @throws Refusal unauthorized, invalid_token, token_expired.
 */
export function identify(service: Noting, auth: Auth, request: SandboxRequest, now: number): Caller | null {
  if (auth === 'none' || auth === 'payment') return null;
  const header = headerOf(request, 'authorization');
  const key = auth === 'basic' ? basicKey(header) : bearerKey(header);
  if (key === undefined) {
    const scheme = auth === 'basic' ? 'Basic' : 'Bearer';
    throw new ErrorResponse(
      'unauthorized',
      `This endpoint needs an Authorization header: ${scheme} and a key.`,
    );
  }
  return known(service, key, now);
}

const bearerKey = (header: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(header ?? '')?.[1];

/** Reads the key from HTTP Basic authentication, where the client token is the user name and the password is empty. */
function basicKey(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const credentials = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = credentials.indexOf(':');
  if (colon !== credentials.length - 1)
    throw new ErrorResponse(
      'invalid_token',
      'The password must be blank; the client token is the user name.',
    );
  return credentials.slice(0, colon);
}

function known(service: Noting, key: string, now: number): Caller {
  const { store } = service;
  if (apiKeyPattern.exec(key)?.[2] === 'live') {
    throw new ErrorResponse(
      'invalid_token',
      'A live key has no place in the sandbox: mint a test key with POST /sandbox/keys.',
    );
  }
  const hashed = hashKey(key);
  const row = store.cached(`key ${hashed}`, () =>
    store.get(
      'SELECT k.user_id, k.used_at, k.order_id, u.email FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.hash = ?',
      hashed,
    ),
  );
  if (!row) throw new ErrorResponse('invalid_token', 'This key is not known here.');
  const usedAt = Number(row.used_at);
  if (now - usedAt > limits.sandboxKeyIdleSeconds * 1000) {
    throw new ErrorResponse(
      'token_expired',
      'This key was not used for 7 days and has expired; mint another with POST /sandbox/keys.',
    );
  }
  if (now - usedAt > useNoteMs)
    noteLater(service, () => store.run('UPDATE api_keys SET used_at = ? WHERE hash = ?', now, hashed));
  return {
    userId: String(row.user_id),
    email: row.email === null ? null : String(row.email),
    keyHash: hashed,
    orderId: row.order_id === null ? null : String(row.order_id),
  };
}
