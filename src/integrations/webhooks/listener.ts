import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhookEventHeader, webhookEventSynonyms, webhookEvents } from '../../api/events.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Arrival } from '../../journal/events.ts';
import { UsageError } from '../../platform/errors.ts';
import { listeningAddress } from '../../platform/net/lookup.ts';
import { PrivateFileError, readPrivateFile, type Tell } from '../../platform/private-files.ts';

export type Received = Pick<Arrival, 'event' | 'orderId' | 'status' | 'errorType' | 'body' | 'headers'>;

/** What became of a delivery. `busy`: not kept, the sender shall try again. */
export type Kept = 'new' | 'duplicate' | 'busy';

export interface ListenerLimits {
  readonly bodyBytes: number;
  /** For the headers of a request to come, ms. */
  readonly headersMs: number;
  /** For a whole request to come, ms. */
  readonly requestMs: number;
  /** Deliveries read at the same time. */
  readonly concurrent: number;
}

const usualLimits: ListenerLimits = {
  bodyBytes: 1024 * 1024,
  headersMs: 5_000,
  requestMs: 10_000,
  concurrent: 32,
};
const headerBytes = 16 * 1024;
const connections = 256;
/** How long requests that are being read may go on when the listener closes, ms. */
const graceMs = 1_000;

interface ListenerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly secret: string;
  readonly limits?: Partial<ListenerLimits> | undefined;
  /** Keeps a delivery durably before it resolves. Where it rejects, the sender gets a 503 and comes again. */
  keep(received: Received): Promise<Kept>;
}

interface Listener {
  /** Where the service is to send; holds the secret. */
  readonly url: string;
  /** Resolves when no delivery is being read any more. */
  close(): Promise<void>;
}

/**
 * Receives webhooks: 2xx only once one is kept. 404 for another path or method, 400 for no JSON object, 413, 408 and 503
 * past the limits. @throws UsageError for a port or host that cannot be had.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const limits = { ...usualLimits, ...options.limits };
  let reading = 0;
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(500, limits.headersMs),
      maxHeaderSize: headerBytes,
    },
    (request, response) => {
      if (!isMeant(request, options.secret)) return respond(response, 404, { message: 'not found' });
      if (reading >= limits.concurrent) return busy(response);
      reading += 1;
      void receive(request, response, limits.bodyBytes, options.keep).finally(() => {
        reading -= 1;
      });
    },
  );
  server.maxConnections = connections;
  const port = await listening(server, options);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}/${options.secret}`, close: () => closed(server) };
}

const isMeant = ({ method, url = '' }: IncomingMessage, secret: string): boolean =>
  isSecret(url.slice(1).split('?', 1)[0] ?? '', secret) && method === 'POST';

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  keep: ListenerOptions['keep'],
): Promise<void> {
  const body = await bodyOf(request, limit);
  if (body === 'broken off') return;
  if (body === 'too large') return respond(response, 413, { message: `at most ${limit} bytes` });
  const facts = readArrival(body, headerOf(request, webhookEventHeader.toLowerCase()));
  if (!facts) return respond(response, 400, { message: 'the body is not a JSON object' });
  const kept = await tryToKeep(() => keep({ ...facts, headers: safeHeaders(request) }));
  if (kept === 'busy') busy(response);
  else respond(response, 200, { received: true, duplicate: kept === 'duplicate' });
}

async function tryToKeep(keep: () => Promise<Kept>): Promise<Kept> {
  try {
    return await keep();
  } catch {
    // Whoever keeps it has reported it; the sender only has to know that it must come again.
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
    // The sender has gone, or was too slow and has got a 408.
    return 'broken off';
  }
  return Buffer.concat(chunks);
}

/** Headers that may be kept: none that carries a credential. */
const keptHeaders = /^(?:content-type|user-agent|date|x-request-id|x-webhook-[a-z-]+)$/;

const safeHeaders = (request: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.keys(request.headers)
      .filter((name) => keptHeaders.test(name))
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
  // What was not read to its end must not be read as the next request, and no connection shall outlive the listener.
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

const troubles: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) => `--port ${port} is taken on ${host}; without --port a free one is picked`,
  EACCES: (_, port) => `--port ${port} may not be used; take one above 1023`,
  EADDRNOTAVAIL: (host) => `--host ${host} is not an address of this machine`,
  ENOTFOUND: (host) => `--host ${host} is not an address of this machine`,
};

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const message = troubles[error.code ?? ''];
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

type Facts = Pick<Arrival, 'event' | 'orderId' | 'status' | 'errorType' | 'body'>;

/** Deeper than any record of the service; what is shown of a body is walked recursively. */
const deepest = 64;
const longestName = 200;

/**
 * What a delivery says: its body must be a JSON object in UTF-8, whatever is in it.
 * @param event value of the header that names the event.
 * @returns undefined for anything else.
 */
export function readArrival(bytes: Uint8Array, event: string | undefined): Facts | undefined {
  const body = decode(bytes);
  if (body === undefined || isTooDeep(body)) return undefined;
  const record = parseObject(body);
  if (!record) return undefined;
  const result = objectAt(record, 'job_result');
  return {
    event: event?.trim().slice(0, longestName) || null,
    orderId: orderIdOf(record),
    status: textAt(record, 'status'),
    errorType: textAt(record, 'error_type') ?? (result ? textAt(result, 'error_type') : null),
    body,
  };
}

/** An order's own id; what is tied to an order names it. */
function orderIdOf(record: object): string | null {
  const ids = [textAt(record, 'order_id'), textAt(record, 'id')];
  return ids.find((id) => id !== null && uuidPattern.test(id))?.toLowerCase() ?? null;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const [quote, backslash] = ['"', '\\'];

/** One pass, before anything is built of it. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (mark === quote) isQuoted = !isQuoted;
    else if (isQuoted) at += mark === backslash ? 1 : 0;
    else if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

function textAt(record: object, name: string): string | null {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'string' ? value.slice(0, longestName) : null;
}

function objectAt(record: object, name: string): object | undefined {
  const value: unknown = Object.hasOwn(record, name) ? Reflect.get(record, name) : null;
  return typeof value === 'object' && value !== null ? value : undefined;
}

const synonyms: Readonly<Record<string, string>> = webhookEventSynonyms;

/** Every name of the specification's Events table, the deprecated ones too. */
export const eventNames: readonly string[] = [...Object.keys(webhookEvents), ...Object.keys(synonyms)];

/** The names by which the events requested may come: an event also by its older name, an older name by itself alone. */
export const sameEvents = (requested: readonly string[]): readonly string[] => [
  ...new Set(
    requested.flatMap((name) => [name, ...Object.keys(synonyms).filter((old) => synonyms[old] === name)]),
  ),
];

/** What to know of older names that are requested: a service that sends the present ones sends no such event. */
export const olderNames = (requested: readonly string[]): string[] =>
  requested.flatMap((name) => {
    const present = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
    return present === undefined || requested.includes(present)
      ? []
      : [`${name} is the old name of ${present}; events named ${present} are not included`];
  });

const wellFormed = /^[A-Za-z0-9_-]{16,200}$/;

/** A path that cannot be guessed: 192 random bits. */
export const makeSecret = (): string => randomBytes(24).toString('base64url');

/** The secret kept in a file, so that an address outlives its listener; made there where there is no such file. */
export function secretOf(file: string, tell: Tell): string {
  try {
    const secret = makeSecret();
    writeFileSync(file, `${secret}\n`, { flag: 'wx', mode: 0o600 });
    return secret;
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!exists) throw unusable(file, error);
  }
  const secret = readSecret(file, tell).trim();
  if (wellFormed.test(secret)) return secret;
  throw new UsageError(
    `--secret-file ${file} must hold 16 to 200 letters, digits, - and _; remove it to have one made`,
  );
}

function readSecret(file: string, tell: Tell): string {
  try {
    return readPrivateFile(file, tell)?.toString('utf8') ?? '';
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): UsageError {
  const reason =
    cause instanceof PrivateFileError
      ? `it ${cause.reason}`
      : cause instanceof Error
        ? cause.message
        : String(cause);
  return new UsageError(`--secret-file ${file} cannot be used: ${reason}`, { cause });
}

/** Compares in a time that tells nothing of the secret. */
function isSecret(given: string, secret: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(secret));
}

const longSegment = /^[\w-]{16,}$/;

/**
 * An address as it may be shown: password, values of the query and long parts of the path are left out, where a secret
 * may stand (specification, Events, rule 4). What is not a URL is not shown at all.
 */
export function maskAddress(address: string): string {
  if (!URL.canParse(address)) return '…';
  const { protocol, host, username, password, pathname, searchParams } = new URL(address);
  const login = username || password ? '…@' : '';
  const path = pathname
    .split('/')
    .map((part) => (longSegment.test(part) ? `…${part.slice(-4)}` : part))
    .join('/');
  const names = [...searchParams.keys()].map((name) => `${name}=…`);
  return `${protocol}//${login}${host}${path}${names.length > 0 ? `?${names.join('&')}` : ''}`;
}
