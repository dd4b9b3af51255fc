import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ParameterValues } from '../../api/operation.ts';
import type { OperationName } from '../../api/operations/index.ts';
import { decodeObject, encodeJson } from './canonical-json.ts';
import { type PaymentMethod, paymentMethods } from './methods.ts';

/** A challenge's parameters as they stand on the wire. */
export interface Challenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** Base64url of canonical JSON: amount, currency and what the method needs. */
  readonly request: string;
  readonly expires?: string | undefined;
  readonly digest?: string | undefined;
  readonly opaque?: string | undefined;
}

/** What one request costs, and what ties the payment to it. */
export interface Bill {
  readonly operation: OperationName;
  readonly cents: number;
  /** Of the body; null without one. */
  readonly digest: string | null;
  /** The terms of the query. */
  readonly terms: string;
  /** Those that are advertised. */
  readonly methods: readonly PaymentMethod[];
  readonly realm: string;
}

export const billCurrency = 'usd';
/** How long a challenge can be paid, ms. */
const payableMs = 5 * 60_000;

/** The challenge of one method, bound to the bill. @param now ms since the epoch. */
export function challengeOf(bill: Bill, method: PaymentMethod, secret: Buffer, now: number): Challenge {
  const parameters = {
    realm: bill.realm,
    method,
    intent: 'charge',
    request: encodeJson({
      ...paymentMethods[method].request,
      amount: String(bill.cents),
      currency: billCurrency,
    }),
    expires: new Date(now + payableMs).toISOString(),
    ...(bill.digest !== null && { digest: bill.digest }),
    // What is bought, so that the payment of one call does not pay another with the same body; and a number used once,
    // so that two equal requests at the same time do not get the same challenge.
    opaque: encodeJson({
      operation: bill.operation,
      terms: bill.terms,
      nonce: randomBytes(12).toString('base64url'),
    }),
  };
  return { id: idOf(parameters, secret), ...parameters };
}

/** Whether a challenge was issued for this operation and these terms. */
export function isIssuedFor({ opaque = '' }: Challenge, bill: Pick<Bill, 'operation' | 'terms'>): boolean {
  const { operation, terms } = decodeObject(opaque) ?? {};
  return operation === bill.operation && terms === bill.terms;
}

/** The `WWW-Authenticate` header of a challenge. No part of it holds a quote or a backslash. */
export function headerOfChallenge({ id, realm, method, intent, request, ...optional }: Challenge): string {
  const { digest, expires, opaque } = optional;
  const all = { id, realm, method, intent, request, digest, expires, opaque };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return `Payment ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** Whether a challenge was issued with this secret, every part unchanged. */
export function isIssued(challenge: Challenge, secret: Buffer): boolean {
  const [given, made] = [Buffer.from(challenge.id), Buffer.from(idOf(challenge, secret))];
  return given.length === made.length && timingSafeEqual(given, made);
}

/** The id binds the other parts in seven fixed places (draft-httpauth-payment, "Recommended: HMAC-SHA256 Binding"). */
function idOf(challenge: Omit<Challenge, 'id'>, secret: Buffer): string {
  const { realm, method, intent, request, expires = '', digest = '', opaque = '' } = challenge;
  const bound = [realm, method, intent, request, expires, digest, opaque].join('|');
  return createHmac('sha256', secret).update(bound).digest('base64url');
}

/** A query as one short text, in whatever order it came. */
export const termsOf = (query: ParameterValues): string =>
  createHash('sha256').update(encodeJson(query)).digest('base64url').slice(0, 22);

/** The digest of a body as `Content-Digest` writes it (RFC 9530). */
export const digestOf = (body: Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
