import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ParameterValues } from '../../api/operation.ts';
import type { OperationName } from '../../api/operations/index.ts';
import { headerOf, type SandboxRequest } from '../server/wire.ts';

/** The one text that a JSON value has: keys sorted by code unit, nothing between the tokens (RFC 8785). */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`);
  return `{${members.join(',')}}`;
}

export const encodeJson = (value: unknown): string => Buffer.from(canonicalJson(value)).toString('base64url');

/** The JSON object behind base64url; undefined for anything else. */
export function decodeObject(encoded: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[A-Za-z0-9_-]+=*$/.test(encoded)) return undefined;
  try {
    return asObject(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')));
  } catch {
    // The sender learns that it cannot be read.
    return undefined;
  }
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;

type Fields = Readonly<Record<string, unknown>>;

interface MethodRow {
  /** What the challenge's request says beside amount and currency. */
  readonly request: Fields;
  /** Whether a payload has the method's form. */
  readonly accepts: (payload: Fields) => boolean;
  /** That form, for messages. */
  readonly form: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isHex = (value: unknown, digits?: number): boolean =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && (!digits || value.length === digits + 2);

/**
 * How each method is advertised and what form its proof has. `sandbox` settles without money; of the others form and
 * binding are checked and nothing else. All ask for US cents, so that no real wallet takes one for a transfer of tokens.
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

/** A challenge's parameters as they stand on the wire. */
interface Challenge {
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

/** What a payer sends: the challenge repeated, and the method's proof. */
export interface Credential {
  readonly challenge: Challenge;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly source: string | null;
}

const scheme = /^Payment +(\S+)$/i;

/** The credential of a request: undefined without one, `malformed` where it cannot be read. A credential of another scheme is ignored. */
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

/** Clients of an older draft repeat it decoded. */
const readOpaque = (value: unknown): unknown => (asObject(value) ? encodeJson(value) : value);
