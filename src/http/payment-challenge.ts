import { createHash } from 'node:crypto';
import { parseJson } from './response.ts';
import type { WireHeaders } from './transport/transport.ts';

/**
 * One way in which the service accepts payment for a request. The texts come from the service and are not yet safe to
 * show.
 */
export interface PaymentChallenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  readonly description: string | undefined;
  /** When the challenge expires, in ms since the epoch; undefined if not stated. */
  readonly expiresAt: number | undefined;
  /** Digest of the request body, `sha-256=…`. */
  readonly digest: string | undefined;
  /** Amount in the currency's minor unit, as a decimal string. */
  readonly amount: string;
  readonly currency: string;
  /** The decoded `request`: amount, currency, and fields that depend on the method. */
  readonly request: Readonly<Record<string, unknown>>;
  /** All parameters as received. A credential repeats them unchanged. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The x402 offer, if the challenge is such an offer. The currency is then an asset: `network/asset`. */
  readonly offer?: X402Offer | undefined;
}

/** Authentication scheme of a challenge, in lower case. */
const paymentScheme = 'payment';
const maxRequestLength = 16 * 1024;
const maxTextLength = 2000;
const methodName = /^[a-z][a-z0-9:_-]{0,63}$/;

/**
 * Parts of an x402 offer that the payment repeats unchanged: the requirement that the payment accepts, and what is paid
 * for.
 */
export interface X402Offer {
  readonly accepted: Readonly<Record<string, unknown>>;
  readonly resource: unknown;
  readonly extensions: unknown;
}

/**
 * Reads the payment challenges of a 402 response, in order. Skips a challenge that cannot be read, or that requires
 * another header than `authorization`.
 */
export function readPaymentChallenges(headers: WireHeaders): PaymentChallenge[] {
  return authChallenges(headers)
    .filter(({ scheme }) => scheme === paymentScheme)
    .map(({ parameters }) => readChallenge(parameters))
    .filter((challenge) => challenge !== undefined);
}

/** Whether a 402 response has a challenge, readable or not. */
export const hasPaymentChallenge = (headers: WireHeaders): boolean =>
  authChallenges(headers).some(({ scheme }) => scheme === paymentScheme);

function authChallenges(headers: WireHeaders): AuthChallenge[] {
  const given = headers['www-authenticate'] ?? [];
  return (typeof given === 'string' ? [given] : given).flatMap(readAuthChallenges);
}

function readChallenge(parameters: Readonly<Record<string, string>>): PaymentChallenge | undefined {
  const { id, realm, method, intent, request: encoded, expires, digest, description, header } = parameters;
  if (!id || realm === undefined || intent === undefined || !method || !methodName.test(method))
    return undefined;
  if (header !== undefined && header.toLowerCase() !== 'authorization') return undefined;
  const request = encoded === undefined ? undefined : decodeJson(encoded);
  const { amount, currency } = request ?? {};
  if (!request || typeof amount !== 'string' || !/^\d{1,78}$/.test(amount)) return undefined;
  if (typeof currency !== 'string' || currency === '' || currency.length > 200) return undefined;
  const expiresAt = expires === undefined ? undefined : Date.parse(expires);
  if (Number.isNaN(expiresAt)) return undefined;
  return {
    id,
    realm: realm.slice(0, maxTextLength),
    method,
    intent,
    description: description?.slice(0, maxTextLength),
    expiresAt,
    digest,
    amount,
    currency,
    request,
    parameters,
  };
}

/** Escapes non-ASCII characters, so that look-alikes of USD become visible. */
export const asciiText = (text: string): string =>
  text.replace(/[^\u0020-\u007e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);

/** Decodes a JSON object from base64url, padded or not; undefined if the text does not encode one. */
export function decodeJson(encoded: string): Readonly<Record<string, unknown>> | undefined {
  if (encoded.length > maxRequestLength || !/^[A-Za-z0-9_+/-]+=*$/.test(encoded)) return undefined;
  const value = parseJson(Buffer.from(encoded, 'base64url'));
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

/**
 * Whether a challenge is for this body; true if the challenge has no digest. Accepts the scheme's `sha-256=…` and RFC
 * 9530's `sha-256=:…:`.
 */
export function isForBody({ digest }: Pick<PaymentChallenge, 'digest'>, body: Uint8Array): boolean {
  if (digest === undefined) return true;
  const hash = createHash('sha256').update(body).digest('base64');
  return digest === `sha-256=${hash}` || digest === `sha-256=:${hash}:`;
}

/**
 * A challenge in a `www-authenticate` header: the scheme, and the parameters with lower-case names and unescaped
 * values.
 */
interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Limits for reading. No honest service comes close to them. */
const maxHeaderLength = 64 * 1024;
const maxChallenges = 32;

const separators = /[\s,]*/y;
const spaces = /\s*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const quoted = /"((?:[^"\\]|\\.)*)"/sy;
const unquoted = /[^\s,"]+/y;
/** A token68, which some schemes use instead of parameters. */
const token68 = /[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;

/**
 * Parses all challenges in a header value (RFC 9110, 11.6.1). Drops a challenge that has a parameter twice. At a syntax
 * error, drops the challenge and everything after it.
 */
export function readAuthChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, maxHeaderLength);
  const found: { scheme: string; pairs: [string, string][] }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (take(separators); at < text.length; take(separators)) {
    const name = take(token)?.[0].toLowerCase();
    if (name === undefined) return whole(found.slice(0, -1));
    take(spaces);
    const current = found.at(-1);
    if (text[at] !== '=') {
      if (found.length === maxChallenges) break;
      found.push({ scheme: name, pairs: [] });
      take(token68);
      continue;
    }
    at += 1;
    take(spaces);
    const value = text[at] === '"' ? unescaped(take(quoted)?.[1]) : take(unquoted)?.[0];
    if (value === undefined || !current) return whole(found.slice(0, -1));
    current.pairs.push([name, value]);
  }
  return whole(found);
}

function whole(found: readonly { scheme: string; pairs: readonly [string, string][] }[]): AuthChallenge[] {
  return found
    .map(({ scheme, pairs }) => ({ scheme, parameters: Object.fromEntries(pairs), count: pairs.length }))
    .filter(({ parameters, count }) => Object.keys(parameters).length === count)
    .map(({ scheme, parameters }) => ({ scheme, parameters }));
}

/** Headers can contain only Latin-1. Therefore this scheme's public SDK writes all other characters as `\uXXXX`. */
const unescaped = (text: string | undefined): string | undefined =>
  text?.replace(/\\u([0-9a-fA-F]{4})|\\(.)/gs, (_, hex: string | undefined, plain: string) =>
    hex === undefined ? plain : String.fromCharCode(Number.parseInt(hex, 16)),
  );
