import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ParameterValues } from '../../api/operation.ts';
import type { OperationName } from '../../api/operations/index.ts';
import { headerOf, type SandboxRequest } from '../server/wire.ts';

/** Serializes a JSON value in canonical form: keys sorted by code unit, no whitespace (RFC 8785). */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`);
  return `{${members.join(',')}}`;
}

export const encodeJson = (value: unknown): string => Buffer.from(canonicalJson(value)).toString('base64url');

/** Decodes a JSON object in base64url or base64; undefined for anything else. */
export function decodeObject(encoded: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[A-Za-z0-9_+/-]+=*$/.test(encoded)) return undefined;
  try {
    return asObject(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')));
  } catch {
    // The caller reports the malformed value to the sender.
    return undefined;
  }
}

export const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;

type Fields = Readonly<Record<string, unknown>>;

interface MethodRow {
  /** Fields of a challenge's `request` in addition to amount and currency. */
  readonly request: Fields;
  /** Whether a payload has the form that the method requires. */
  readonly accepts: (payload: Fields) => boolean;
  /** The required form, for messages. */
  readonly form: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
export const isHex = (value: unknown, digits?: number): boolean =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && (!digits || value.length === digits + 2);

/**
 * The request that advertises each payment method, and the form of the method's proof. `sandbox` settles without money.
 * For all other methods, only the form of the proof and its binding are verified. All prices are in US cents, so that
 * no real wallet mistakes a challenge for a token transfer.
 */
export const paymentMethods = {
  sandbox: {
    request: { methodDetails: { authorizations: ['approve', 'decline'] }, recipient: 'sandbox' },
    accepts: ({ type, authorization }) =>
      type === 'sandbox' && (authorization === 'approve' || authorization === 'decline'),
    form: '{"type":"sandbox","authorization":"approve"}, or "decline" to rehearse a refusal',
  },
  stripe: {
    request: {
      methodDetails: { networkId: 'internal', paymentMethodTypes: ['card'] },
      recipient: 'acct_sim_sandbox',
    },
    accepts: ({ spt }) => isText(spt),
    form: '{"spt":"…"}',
  },
  tempo: {
    request: { methodDetails: { chainId: 0 }, recipient: '0x0000000000000000000000000000000000000000' },
    accepts: ({ type, hash, signature }) =>
      type === 'hash' ? isHex(hash, 64) : (type === 'transaction' || type === 'proof') && isHex(signature),
    form: '{"type":"transaction","signature":"0x…"} or {"type":"hash","hash":"0x…"}',
  },
  x402: {
    request: {
      methodDetails: { network: 'sandbox', scheme: 'exact' },
      recipient: '0x0000000000000000000000000000000000000000',
    },
    accepts: ({ signature, authorization }) => isHex(signature) && asObject(authorization) !== undefined,
    form: '{"signature":"0x…","authorization":{…}}',
  },
} as const satisfies Record<string, MethodRow>;

export type PaymentMethod = keyof typeof paymentMethods;

export const isPaymentMethod = (name: string): name is PaymentMethod => Object.hasOwn(paymentMethods, name);

/** The parameters of a challenge in wire format. */
interface Challenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  /** Base64url of canonical JSON: amount, currency and method-specific fields. */
  readonly request: string;
  readonly expires?: string | undefined;
  readonly digest?: string | undefined;
  readonly opaque?: string | undefined;
}

/** The price of a request, and the values that bind a payment to the request. */
export interface Bill {
  readonly operation: OperationName;
  readonly cents: number;
  /** Digest of the body; null without a body. */
  readonly digest: string | null;
  /** Hash of the query's terms. */
  readonly terms: string;
  /** The advertised methods. */
  readonly methods: readonly PaymentMethod[];
  readonly realm: string;
}

export const billCurrency = 'usd';
/** How long a challenge is valid, in ms. */
const payableMs = 5 * 60_000;

/** Creates a challenge for one payment method. The challenge is bound to the bill. @param now ms since the epoch. */
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
    // Operation and terms ensure that a payment cannot be used for a different call with the same body. The nonce keeps
    // simultaneous identical requests from getting the same challenge.
    opaque: encodeJson({
      operation: bill.operation,
      terms: bill.terms,
      nonce: randomBytes(12).toString('base64url'),
    }),
  };
  return { id: idOf(parameters, secret), ...parameters };
}

/** Whether a challenge was issued for this operation with these terms. */
export function isIssuedFor({ opaque = '' }: Challenge, bill: Pick<Bill, 'operation' | 'terms'>): boolean {
  const { operation, terms } = decodeObject(opaque) ?? {};
  return operation === bill.operation && terms === bill.terms;
}

/** Formats a challenge as a `WWW-Authenticate` header. No value contains quotes or backslashes. */
export function headerOfChallenge({ id, realm, method, intent, request, ...optional }: Challenge): string {
  const { digest, expires, opaque } = optional;
  const all = { id, realm, method, intent, request, digest, expires, opaque };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return `Payment ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

/** Whether a challenge was issued with this secret and has not been modified. */
export function isIssued(challenge: Challenge, secret: Buffer): boolean {
  const [given, made] = [Buffer.from(challenge.id), Buffer.from(idOf(challenge, secret))];
  return given.length === made.length && timingSafeEqual(given, made);
}

/**
 * Computes the challenge id, which binds the other parts in seven fixed slots (draft-httpauth-payment, "Recommended:
 * HMAC-SHA256 Binding").
 */
function idOf(challenge: Omit<Challenge, 'id'>, secret: Buffer): string {
  const { realm, method, intent, request, expires = '', digest = '', opaque = '' } = challenge;
  const bound = [realm, method, intent, request, expires, digest, opaque].join('|');
  return createHmac('sha256', secret).update(bound).digest('base64url');
}

/** A short hash of a query, independent of parameter order. */
export const termsOf = (query: ParameterValues): string =>
  createHash('sha256').update(encodeJson(query)).digest('base64url').slice(0, 22);

/** The digest of a body in `Content-Digest` format (RFC 9530). */
export const digestOf = (body: Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** A payer's response: the echoed challenge and the method's proof of payment. */
export interface Credential {
  readonly challenge: Challenge;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly source: string | null;
  /** The requirement that the payer accepted; set only for a payment by x402. */
  readonly accepted?: Fields;
}

const scheme = /^Payment +(\S+)$/i;

/**
 * Reads the credential of a request. Returns undefined if there is no credential, and `malformed` if the credential
 * cannot be parsed. Ignores credentials of other schemes.
 */
export function readCredential(request: SandboxRequest): Credential | 'malformed' | undefined {
  const parts = (headerOf(request, 'authorization') ?? '').split(',').map((part) => part.trim());
  const given = parts.find((part) => /^Payment(?: |$)/i.test(part));
  if (given === undefined) return undefined;
  const { challenge, payload, source } = decodeObject(scheme.exec(given)?.[1] ?? '') ?? {};
  const [echoed, proof] = [readChallenge(asObject(challenge)), asObject(payload)];
  if (!echoed || !proof || !(source == null || typeof source === 'string')) return 'malformed';
  return { challenge: echoed, payload: proof, source: source ?? null };
}

function readChallenge(fields: Readonly<Record<string, unknown>> = {}): Challenge | undefined {
  const { id, realm, method, intent, request, expires, digest } = fields;
  const opaque = readOpaque(fields.opaque);
  const isText = (value: unknown): value is string => typeof value === 'string';
  const isOptional = (value: unknown): value is string | undefined => value === undefined || isText(value);
  if (!isText(id) || !isText(realm) || !isText(method) || !isText(intent) || !isText(request))
    return undefined;
  if (!isOptional(expires) || !isOptional(digest) || !isOptional(opaque)) return undefined;
  return { id, realm, method, intent, request, expires, digest, opaque };
}

/** Clients that follow an older draft echo `opaque` in decoded form. */
const readOpaque = (value: unknown): unknown => (asObject(value) ? encodeJson(value) : value);
