import { headerOf, type SandboxRequest } from '../server/wire.ts';
import { asObject, decodeObject, encodeJson } from './canonical-json.ts';
import type { Challenge } from './challenge.ts';

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
