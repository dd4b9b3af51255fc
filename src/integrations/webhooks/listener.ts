import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  envelopeEvents,
  webhookEventHeader,
  webhookEventSynonyms,
  webhookEvents,
  webhookSignatureHeader,
} from '../../api/events.ts';
import type { Arrival } from '../../journal/events.ts';
import { UsageError } from '../../platform/errors.ts';
import { listeningAddress } from '../../platform/net/lookup.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { PrivateFileError, readPrivateFile, type Warn } from '../../platform/private-files.ts';
import { readArrival } from './reading.ts';
import { checkSignature, maxSignedAgeMs } from './signature.ts';

export type Received = Pick<Arrival, 'event' | 'orderId' | 'status' | 'errorType' | 'body' | 'headers'>;

/** Result of a delivery. `busy` means that the delivery was not persisted, so the sender should try again. */
export type SaveResult = 'new' | 'duplicate' | 'busy';

export interface ListenerLimits {
  readonly bodyBytes: number;
  /** Time limit, in ms, for receiving the headers of a request. */
  readonly headersMs: number;
  /** Time limit for receiving a whole request, in ms. */
  readonly requestMs: number;
  /** Maximum number of deliveries that are read at the same time. */
  readonly concurrent: number;
}

const defaultLimits: ListenerLimits = {
  bodyBytes: 1024 * 1024,
  headersMs: 5_000,
  requestMs: 10_000,
  concurrent: 32,
};
const headerBytes = 16 * 1024;
const connections = 256;
/** How long, in ms, the listener waits for requests in progress when it closes. */
const graceMs = 1_000;

interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly secret: string;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /**
   * The secret with which events are signed. Undefined if events are unsigned, or signed with an unknown secret.
   * `pending` while the secret is being requested from the service.
   */
  readonly signingSecret?: () => string | undefined | 'pending';
  /** Called for each delivery that is refused because of its signature. */
  readonly refused?: (message: string) => void;
  /** Ms since the epoch. */
  readonly now?: () => number;
  /** Persists a delivery before the promise resolves. If the promise rejects, the sender gets a 503 and tries again. */
  save(received: Received): Promise<SaveResult>;
}

interface Listener {
  /** URL to which the service sends events. It contains the secret. */
  readonly url: string;
  /** Resolves when no delivery is being read any more. */
  close(): Promise<void>;
}

/**
 * Receives webhooks. Responds 2xx only after a delivery is persisted. Responds 404 to another path or method, 401 to a
 * delivery that is not signed with a known secret, 400 to a body that is not a JSON object, and 413, 408 or 503 if a
 * limit is exceeded.
 * @throws UsageError if the port or host is unavailable.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const limits = { ...defaultLimits, ...options.limits };
  let reading = 0;
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(500, limits.headersMs),
      maxHeaderSize: headerBytes,
    },
    (request, response) => {
      if (!isDelivery(request, options.secret)) return respond(response, 404, { message: 'not found' });
      if (reading >= limits.concurrent) return busy(response);
      reading += 1;
      void receive(request, response, limits.bodyBytes, options).finally(() => {
        reading -= 1;
      });
    },
  );
  server.maxConnections = connections;
  const port = await listening(server, options);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}/${options.secret}`, close: () => closed(server) };
}

const isDelivery = ({ method, url = '' }: IncomingMessage, secret: string): boolean =>
  isSecret(url.slice(1).split('?', 1)[0] ?? '', secret) && method === 'POST';

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  options: ListenerOptions,
): Promise<void> {
  const body = await bodyOf(request, limit);
  if (body === 'broken off') return;
  if (body === 'too large') return respond(response, 413, { message: `at most ${limit} bytes` });
  const secret = options.signingSecret?.();
  const signature = headerOf(request, webhookSignatureHeader.toLowerCase());
  if (secret === 'pending' && signature !== undefined) return busy(response);
  const isSigned = secret !== undefined && secret !== 'pending';
  const checked = isSigned ? checkSignature(body, signature, secret) : 'good';
  if (checked !== 'good') return unsigned(response, signatureProblems[checked], options);
  const facts = readArrival(body, headerOf(request, webhookEventHeader.toLowerCase()));
  if (!facts) return respond(response, 400, { message: 'the body is not a JSON object' });
  const { sentAt, ...arrival } = facts;
  if (isSigned && sentAt !== undefined && (options.now?.() ?? Date.now()) - sentAt > maxSignedAgeMs)
    return unsigned(response, 'it is signed, and older than a week', options);
  const saved = await trySave(() => options.save({ ...arrival, headers: safeHeaders(request) }));
  if (saved === 'busy') busy(response);
  else respond(response, 200, { received: true, duplicate: saved === 'duplicate' });
}

const signatureProblems = { missing: 'it has no signature', wrong: 'its signature is wrong' } as const;

function unsigned(response: ServerResponse, why: string, { refused }: ListenerOptions): void {
  refused?.(`an event was refused: ${why}`);
  respond(response, 401, { message: why });
}

async function trySave(save: () => Promise<SaveResult>): Promise<SaveResult> {
  try {
    return await save();
  } catch {
    // `save` has already reported the error. The sender only needs to know that it should try again.
    return 'busy';
  }
}

async function bodyOf(request: IncomingMessage, limit: number): Promise<Buffer | 'too large' | 'broken off'> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return 'too large';
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) return 'too large';
      chunks.push(chunk);
    }
  } catch {
    // The sender has disconnected, or was too slow and got a 408.
    return 'broken off';
  }
  return Buffer.concat(chunks);
}

/** Headers that may be stored. Headers with credentials are not among them. */
const storedHeaders = /^(?:content-type|user-agent|date|x-request-id|x-webhook-[a-z-]+)$/;

const safeHeaders = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.keys(request.headers)
      .filter((name) => storedHeaders.test(name))
      .map((name) => [name, (headerOf(request, name) ?? '').slice(0, 500)]),
  );

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

const busy = (response: ServerResponse): void => {
  response.setHeader('retry-after', '1');
  respond(response, 503, { message: 'busy; try again' });
};

function respond(response: ServerResponse, status: number, body: Readonly<Record<string, unknown>>): void {
  // Close the connection, so that unread bytes are not parsed as the next request, and the connection does not outlive
  // the listener.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
}

function listening(server: Server, { host, port }: ListenerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
    server.listen({ host: listeningAddress(host), port }, () => resolve(portOf(server.address()) ?? port));
  });
}

const portOf = (address: AddressInfo | string | null): number | undefined =>
  typeof address === 'object' ? address?.port : undefined;

const listenProblems: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `--port ${port} is taken on ${host}; without --port a free one is picked`,
  EACCES: (_, port) => `--port ${port} may not be used; take one above 1023`,
  EADDRNOTAVAIL: (host) => `--host ${host} is not an address of this machine`,
  ENOTFOUND: (host) => `--host ${host} is not an address of this machine`,
};

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const message = listenProblems[error.code ?? ''];
  return message ? new UsageError(message(host, port), { cause: error }) : error;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const impatient = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(impatient);
      resolve();
    });
    server.closeIdleConnections();
  });
}

const synonyms: Readonly<Record<string, string>> = webhookEventSynonyms;

/**
 * All event names: those of the specification's Events table, including deprecated names, and those of events in an
 * envelope.
 */
export const eventNames: readonly string[] = [
  ...Object.keys(webhookEvents),
  ...Object.keys(synonyms),
  ...Object.keys(envelopeEvents),
];

/**
 * Names under which the requested events may arrive. A current name also stands for the older name of its event. An
 * older name stands only for itself.
 */
export const sameEvents = (requested: readonly string[]): readonly string[] => [
  ...new Set(
    requested.flatMap((name) => [name, ...Object.keys(synonyms).filter((old) => synonyms[old] === name)]),
  ),
];

/**
 * Warnings about requested event names that are old. A service that uses the current names never sends events under the
 * old names.
 */
export const olderNames = (requested: readonly string[]): string[] =>
  requested.flatMap((name) => {
    const present = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
    return present === undefined || requested.includes(present)
      ? []
      : [`${name} is the old name of ${present}; events named ${present} are not included`];
  });

const wellFormed = /^[A-Za-z0-9_-]{16,200}$/;

/** Generates an unguessable path: 192 random bits. */
export const makeSecret = (): string => randomBytes(24).toString('base64url');

/**
 * Reads the secret of the webhook address from a file, so that the address can outlive its listener. Creates the file
 * if it is missing.
 */
export function secretOf(file: string, report: Warn): string {
  try {
    const secret = makeSecret();
    writeFileSync(file, `${secret}\n`, { flag: 'wx', mode: 0o600 });
    return secret;
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw unusable(file, error);
  }
  const secret = readSecret(file, report).trim();
  if (wellFormed.test(secret)) return secret;
  throw new UsageError(
    `--secret-file ${file} must hold 16 to 200 letters, digits, - and _; remove it to have one made`,
  );
}

function readSecret(file: string, report: Warn, flag?: string): string {
  try {
    return readPrivateFile(file, report)?.toString('utf8') ?? '';
  } catch (error) {
    throw unusable(file, error, flag);
  }
}

/**
 * Reads the secret with which a service signs its events.
 * @throws UsageError if the file does not contain a secret.
 */
export function signingSecretOf(file: string, report: Warn): string {
  const flag = '--signing-secret-file';
  const secret = readSecret(file, report, flag).trim();
  if (secret === '' || secret.length > maxSigningSecret || /\s/.test(secret))
    throw new UsageError(`${flag} ${file} must hold the secret that registering the address returned`);
  return secret;
}

const maxSigningSecret = 1_000;

function unusable(file: string, cause: unknown, flag = '--secret-file'): UsageError {
  const reason =
    cause instanceof PrivateFileError
      ? `it ${cause.reason}`
      : cause instanceof Error
        ? cause.message
        : String(cause);
  return new UsageError(`${flag} ${file} cannot be used: ${reason}`, { cause });
}

/** Compares in constant time. */
function isSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

const longSegment = /^[\w-]{16,}$/;

/**
 * Masks the parts of an address that may contain a secret: password, query values and long path segments
 * (specification, Events, rule 4). Shows nothing of an invalid URL.
 */
export function maskAddress(address: string): string {
  const parsed = parseUrl(address);
  if (!parsed) return '…';
  const { protocol, host, username, password, pathname, searchParams } = parsed;
  const login = username || password ? '…@' : '';
  const path = pathname
    .split('/')
    .map((part) => (longSegment.test(part) ? `…${part.slice(-4)}` : part))
    .join('/');
  const names = [...searchParams.keys()].map((name) => `${name}=…`);
  return `${protocol}//${login}${host}${path}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}
