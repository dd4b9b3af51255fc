import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listeningAddress } from '../../platform/network/loopback.ts';
import { setTimeout } from '../../platform/wait/own-timers.ts';
import { limitsFor } from './body-limits.ts';
import { corsHeaders, preflight } from './cors.ts';
import { type Draw, sendHalf } from './faults/inject.ts';
import { reset } from './faults/reset.ts';
import { forReader } from './for-reader.ts';
import type { Owner } from './owner.ts';
import { replyTo } from './reply.ts';
import { readTarget } from './request.ts';
import type { RequestLog } from './request-log.ts';
import { findRoute } from './routes.ts';
import { Uploads } from './upload.ts';
import type { Handle, SandboxResponse } from './wire.ts';

/** How long a connection is waited for, ms. */
export interface ConnectionLimits {
  /** For the headers of a request, or for its first byte. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** For a refused caller to hang up. */
  readonly lingerMs: number;
}

const usualLimits: ConnectionLimits = {
  headersMs: 20_000,
  requestMs: 60_000,
  idleMs: 30_000,
  lingerMs: 1_000,
};

/** More than any test needs, and fewer than a process may have open. */
const mostConnections = 800;

/** A socket in front of a handler: bounded in header, body and time, and with the documented body for each refusal. */
export function createHttpServer(limits: Partial<ConnectionLimits> = {}): Server {
  const { headersMs, requestMs, idleMs, lingerMs } = { ...usualLimits, ...limits };
  const server = createServer({
    maxHeaderSize: 32 * 1024,
    requestTimeout: requestMs,
    headersTimeout: headersMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs),
  });
  server.maxConnections = mostConnections;
  server.on('clientError', (error, socket) => refuseBroken(error, socket, lingerMs));
  return server;
}

interface Responding {
  readonly handle: Handle;
  readonly owner: Owner;
  /** Receives errors that no caller caused. */
  readonly report: (error: unknown) => void;
  /** Which faults fall on a request. */
  readonly draw: Draw;
  /** Where requests are written down. */
  readonly requests: RequestLog;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Ends delays that faults make. */
  readonly signal?: AbortSignal;
  /** How long a reader may take none of its response, ms. */
  readonly stalledMs?: number;
}

/** A reader may be a pager that a person pages through. */
const usualStalledMs = 10 * 60_000;

/** Responds to requests with `handle`. */
export function respondWith(server: Server, responding: Responding): void {
  const uploads = new Uploads();
  server.on('request', (request, response) => {
    respond(responding, uploads, request, response).catch((error: unknown) => {
      // A caller that hung up is nobody's bug, and a closed server sends no more responses.
      if (!request.destroyed && !response.destroyed && server.listening) responding.report(error);
      response.destroy();
    });
  });
}

export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, listeningAddress(host), () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Takes no new requests; callers that still read get a moment to finish. */
export function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}

/** What Node's parser gave up on, by its error code; everything else is a 400. */
const broken: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not come in time.'],
};

function refuseBroken(error: Error & { code?: string }, socket: Duplex, lingerMs: number): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = broken[error.code ?? ''] ?? ['400 Bad Request', 'This is not an HTTP request.'];
  const body = JSON.stringify({ code: 'bad_request', message, details: {} });
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\nx-request-id: ${randomUUID()}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  // A caller that was too slow may never hang up.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

async function respond(
  { handle, owner, draw, requests, now, signal, stalledMs = usualStalledMs }: Responding,
  uploads: Uploads,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: target = '/' } = request;
  // Its connection was refused.
  if (request.socket.destroyed) return;
  // The id is for responses made here; the service gives its own.
  const usual = { 'x-request-id': randomUUID(), ...corsHeaders(request) };
  const whole = (made: SandboxResponse): SandboxResponse => ({
    ...made,
    headers: { ...usual, ...made.headers },
  });
  const asked = preflight(request);
  if (asked) return write(whole({ status: 204, headers: asked, body: null }), response, false);
  const found = findRoute(method, readTarget(target).pathname);
  const drawn = draw({ method, target, headers: request.headers });
  const { headers } = request;
  const noted = requests.begin({
    at: now(),
    method,
    target,
    headers,
    fault: drawn.fault ?? drawn.altering[0],
  });
  const headOnly = method === 'HEAD';
  const { bytes } = limitsFor(found);
  const upload = await uploads.read(request, bytes);
  if ('refusal' in upload) {
    const refusal = await forReader(request, upload.refusal);
    noted.done(refusal);
    const last = whole({ ...refusal, headers: { ...refusal.headers, connection: 'close' } });
    return write(last, response, headOnly);
  }
  const { body, release } = upload;
  noted.took(body);
  const work = (): Promise<SandboxResponse> =>
    handle({
      method: headOnly ? 'GET' : method,
      target,
      headers: request.headers,
      body,
      remoteAddress: request.socket.remoteAddress ?? '',
      localAddress: request.socket.localAddress,
      sender: owner.sender(request),
      identified: noted.identified,
      came: noted.came,
    });
  const reply = await replyTo({ target, drawn, noted, signal }, work).finally(release);
  response.setTimeout(stalledMs, () => response.destroy());
  if (reply.kind === 'reset') reset(response.socket);
  else if (reply.kind === 'half') await sendHalf(response, whole(reply.response));
  else await write(whole(reply.response), response, headOnly);
}

async function write(
  { status, headers, body }: SandboxResponse,
  response: ServerResponse,
  headOnly: boolean,
): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    // Node writes a text in one piece with the headers.
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length });
    response.end(headOnly ? undefined : (body ?? undefined));
    return;
  }
  response.writeHead(status, headers);
  if (headOnly) response.end();
  else await pipeline(Readable.from(body), response);
}
