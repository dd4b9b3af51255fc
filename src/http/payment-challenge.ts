import { createHash } from 'node:crypto';
import { parseJson } from './response.ts';
import type { WireHeaders } from './transport/transport.ts';

/** What the service wants for a request: one way to pay it. Texts are the service's own, not yet safe to show. */
export interface PaymentChallenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  readonly description: string | undefined;
  /** Until when it can be paid, ms since the epoch; undefined where it does not say. */
  readonly expiresAt: number | undefined;
  /** Of the request's body, `sha-256=…`. */
  readonly digest: string | undefined;
  /** In the currency's minor unit, as a decimal string. */
  readonly amount: string;
  readonly currency: string;
  /** The decoded `request`: amount, currency, and what the method needs beside them. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Every parameter as it came: what a credential repeats unchanged. */
  readonly parameters: Readonly<Record<string, string>>;
}

const longestRequest = 16 * 1024;
const longestText = 2000;
const methodName = /^[a-z][a-z0-9:_-]{0,63}$/;

/** The payment challenges of a 402 response, in their order; what cannot be read, or paid by a header of its own, is left out. */
export function readPaymentChallenges(headers: WireHeaders): PaymentChallenge[] {
  const given = headers['www-authenticate'] ?? [];
  const lines = typeof given === 'string' ? [given] : given;
  return lines
    .flatMap(readAuthChallenges)
    .filter(({ scheme }) => scheme === 'payment')
    .map(({ parameters }) => readChallenge(parameters))
    .filter((challenge) => challenge !== undefined);
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
    realm: realm.slice(0, longestText),
    method,
    intent,
    description: description?.slice(0, longestText),
    expiresAt,
    digest,
    amount,
    currency,
    request,
    parameters,
  };
}

/** A JSON object in base64url, padded or not; undefined where it is none. */
export function decodeJson(encoded: string): Readonly<Record<string, unknown>> | undefined {
  if (encoded.length > longestRequest || !/^[A-Za-z0-9_+/-]+=*$/.test(encoded)) return undefined;
  const value = parseJson(Buffer.from(encoded, 'base64url'));
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}

/** Whether a challenge was made for this body, as far as it says: by the scheme's `sha-256=…` or RFC 9530's `sha-256=:…:`. */
export function isForBody({ digest }: Pick<PaymentChallenge, 'digest'>, body: Uint8Array): boolean {
  if (digest === undefined) return true;
  const hash = createHash('sha256').update(body).digest('base64');
  return digest === `sha-256=${hash}` || digest === `sha-256=:${hash}:`;
}

/** One challenge of a `www-authenticate` header: its scheme and parameters, lower-case names, values unescaped. */
interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Past these nothing is read: no honest service is near them. */
const longestHeader = 64 * 1024;
const mostChallenges = 32;

const separators = /[\s,]*/y;
const spaces = /\s*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const quoted = /"((?:[^"\\]|\\.)*)"/sy;
const unquoted = /[^\s,"]+/y;
/** What stands in place of parameters in some schemes. */
const token68 = /[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;

/**
 * Reads every challenge of one header value (RFC 9110, 11.6.1). What follows a syntax error is left out, with the challenge
 * that it stands in; so is a challenge that gives a parameter twice.
 */
export function readAuthChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, longestHeader);
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
      if (found.length === mostChallenges) break;
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

/** A header holds Latin-1 only; `\uXXXX` is how this scheme's public SDK writes the rest. */
const unescaped = (text: string | undefined): string | undefined =>
  text?.replace(/\\u([0-9a-fA-F]{4})|\\(.)/gs, (_, hex: string | undefined, plain: string) =>
    hex === undefined ? plain : String.fromCharCode(Number.parseInt(hex, 16)),
  );
