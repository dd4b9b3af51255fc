import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Method } from '../../api/operation.ts';
import { isLoopback, listeningAddress } from '../../platform/net/lookup.ts';
import { isUrl } from '../../platform/net/urls.ts';
import { setTimeout } from '../../platform/own-timers.ts';
import { forReader, prefersHtml } from './browser.ts';
import { type Draw, replyTo, reset, sendHalf } from './fault-injection.ts';
import type { Owner } from './owner.ts';
import { json } from './refusal.ts';
import { bodyTooLarge, limitsFor, readTarget } from './request.ts';
import type { RequestLog } from './request-log.ts';
import type { FindRoute } from './routes.ts';
import type { Handle, SandboxResponse } from './wire.ts';

/** Connection timeouts, ms. */
export interface ConnectionLimits {
  /** Maximum time, in ms, until the headers are complete. Applies even if not a single byte has arrived. */
  readonly headersMs: number;
  /** Maximum time until the whole request has arrived. */
  readonly requestMs: number;
  /** Maximum time between two requests on a connection. */
  readonly idleMs: number;
  /** Maximum time that a rejected client has to close the connection. */
  readonly lingerMs: number;
}

const defaultLimits: ConnectionLimits = {
  headersMs: 20_000,
  requestMs: 60_000,
  idleMs: 30_000,
  lingerMs: 1_000,
};

/** Maximum number of connections. It is more than any test needs, but below a process's limit of file descriptors. */
const maxConnections = 800;

/**
 * Creates an HTTP server that limits the size of headers and the time of each phase. It answers malformed requests with
 * the documented error body.
 */
export function createHttpServer(limits: Partial<ConnectionLimits> = {}): Server {
  const { headersMs, requestMs, idleMs, lingerMs } = { ...defaultLimits, ...limits };
  const server = createServer({
    maxHeaderSize: 32 * 1024,
    requestTimeout: requestMs,
    headersTimeout: headersMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(1_000, headersMs),
  });
  server.maxConnections = maxConnections;
  server.on('clientError', (error, socket) => refuseBroken(error, socket, lingerMs));
  return server;
}

interface Responding {
  readonly findRoute: FindRoute;
  readonly handle: Handle;
  readonly owner: Owner;
  /** Receives errors not caused by a client. */
  readonly report: (error: unknown) => void;
  /** Draws the faults for a request. */
  readonly draw: Draw;
  readonly requests: RequestLog;
  /** Returns the current time, ms since the epoch. */
  readonly now: () => number;
  /** Aborts delays caused by faults. */
  readonly signal?: AbortSignal;
  /** Maximum time, in ms, for which a client may stall while reading a response. */
  readonly stalledMs?: number;
}

/** This limit is generous, because the output may go to a pager through which a person scrolls. */
const defaultStalledMs = 10 * 60_000;

/** Serves requests with `handle`. */
export function respondWith(server: Server, responding: Responding): void {
  const uploads = new Uploads();
  server.on('request', (request, response) => {
    respond(responding, uploads, request, response).catch((error: unknown) => {
      // Ignore errors from clients that have hung up. Also ignore errors after the server has closed, because no client
      // expects a response then.
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

/** Stops accepting requests. Clients still reading get a short grace period. */
export function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}

/** Responses to parser errors, by Node error code. All other parser errors get a 400. */
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
  // Close the connection by force, because a slow client may never hang up.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

async function respond(
  { findRoute, handle, owner, draw, requests, now, signal, stalledMs = defaultStalledMs }: Responding,
  uploads: Uploads,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = 'GET', url: target = '/' } = request;
  // A fault has dropped this connection.
  if (request.socket.destroyed) return;
  // The id is only for responses that are generated here. The service sets the id of its own responses.
  const defaultHeaders = { 'x-request-id': randomUUID(), ...corsHeaders(request, findRoute) };
  const whole = (made: SandboxResponse): SandboxResponse => ({
    ...made,
    headers: { ...defaultHeaders, ...made.headers },
  });
  const requested = preflight(request, findRoute);
  if (requested) return write(whole({ status: 204, headers: requested, body: null }), response, false);
  const found = findRoute(method, readTarget(target).pathname);
  const drawn = draw({ method, target, headers: request.headers });
  const { headers } = request;
  const logged = requests.begin({
    at: now(),
    method,
    target,
    headers,
    fault: drawn.fault ?? drawn.altering[0],
  });
  const headOnly = method === 'HEAD';
  const { bytes } = limitsFor(found);
  const upload = await uploads.read(request, bytes);
  if ('errorResponse' in upload) {
    const errorResponse = await forReader(request, upload.errorResponse);
    logged.done(errorResponse);
    const last = whole({ ...errorResponse, headers: { ...errorResponse.headers, connection: 'close' } });
    return write(last, response, headOnly);
  }
  const { body, release } = upload;
  logged.bodyRead(body);
  const work = (): Promise<SandboxResponse> =>
    handle({
      method: headOnly ? 'GET' : method,
      target,
      headers: request.headers,
      body,
      remoteAddress: request.socket.remoteAddress ?? '',
      localAddress: request.socket.localAddress,
      sender: owner.sender(request),
      identified: logged.identified,
      started: logged.started,
    });
  const reply = await replyTo({ target, drawn, logged, signal }, work).finally(release);
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
    // If the content length is known, Node sends a string body together with the headers in one write.
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, { ...headers, ...length });
    response.end(headOnly ? undefined : (body ?? undefined));
    return;
  }
  response.writeHead(status, headers);
  if (headOnly) response.end();
  else await pipeline(Readable.from(body), response);
}

/**
 * CORS (Fetch standard). Pages served by this machine, such as web apps in development, may call the API and read all
 * responses. The console and the control API accept only their own pages.
 */

interface Request {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Headers that let the requesting page read the response. Empty for pages from other machines. */
function corsHeaders(
  { method = 'GET', url = '/', headers }: Request,
  findRoute: FindRoute,
): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || !isApi(findRoute, method, url, headers)) return {};
  const varies = { vary: 'origin' };
  return isLocalPage(origin)
    ? { ...varies, 'access-control-allow-origin': origin, 'access-control-expose-headers': '*' }
    : varies;
}

/** Answers a CORS preflight. Returns undefined if the request is not a preflight, or is not allowed. */
function preflight(request: Request, findRoute: FindRoute): Record<string, string> | undefined {
  const { method, url, headers } = request;
  const requested = headers['access-control-request-method'];
  if (method !== 'OPTIONS' || requested === undefined) return undefined;
  const allowed = corsHeaders({ method: requested, url, headers: { origin: headers.origin } }, findRoute);
  if (allowed['access-control-allow-origin'] === undefined) return undefined;
  const names = headers['access-control-request-headers'] ?? '';
  return {
    ...allowed,
    'access-control-allow-methods': requested,
    ...(/^[\w-]+(?: ?, ?[\w-]+){0,50}$/.test(names) && { 'access-control-allow-headers': names }),
    'access-control-max-age': '600',
  };
}

/** Whether an origin is on this machine, on any port. */
function isLocalPage(origin: string): boolean {
  if (!/^https?:\/\/[^\s/\\?#@]{1,300}$/.test(origin) || !isUrl(origin)) return false;
  return isLoopback(new URL(origin).hostname);
}

/**
 * Whether a request targets the API. Unknown paths count as API, so that a page can read the error for a misspelled
 * path.
 */
function isApi(findRoute: FindRoute, method: string, url: string, { accept }: IncomingHttpHeaders): boolean {
  const { pathname } = readTarget(url);
  const found = findRoute(method === 'HEAD' ? 'GET' : method, pathname, prefersHtml(accept));
  if ('kind' in found) return isOpen(found.kind);
  const kinds = found.allowed.map((other: Method) => findRoute(other, pathname));
  return kinds.every((other) => 'kind' in other && isOpen(other.kind));
}

const isOpen = (kind: string): boolean => kind === 'operation' || kind === 'label' || kind === 'health';

/** Maximum size, in bytes, of all request bodies that are in memory at the same time. */
const maxHeldBytes = 64 * 1024 * 1024;
/** Number of bytes of each body that do not count against the total, so that small requests are never rejected. */
const alwaysFree = 64 * 1024;

const noBody = new Uint8Array();

type Upload = { readonly body: Uint8Array; release(): void } | { readonly errorResponse: SandboxResponse };

/** Reads request bodies. Limits the size of each body, and the size of all bodies together. */
class Uploads {
  readonly #maxHeldBytes: number;
  #held = 0;

  constructor(maxBytes = maxHeldBytes) {
    this.#maxHeldBytes = maxBytes;
  }

  /**
   * Reads a complete body. Call `release` once the body has been processed. A body that is rejected is still read to
   * its end and discarded, so that the client sees the response. If the body is far too long, the connection is cut
   * instead.
   */
  read(request: IncomingMessage, limit: number): Promise<Upload> | Upload {
    if (!hasBody(request)) return { body: noBody, release: () => {} };
    let chunks: Buffer[] = [];
    let size = 0;
    let taken = 0;
    let errorResponse: SandboxResponse | undefined;
    const release = (): void => {
      this.#held -= taken;
      taken = 0;
    };
    return new Promise((resolve, reject) => {
      const end = (): void => {
        const [only = noBody, ...others] = chunks;
        resolve(
          errorResponse
            ? { errorResponse }
            : { body: others.length > 0 ? Buffer.concat(chunks) : only, release },
        );
      };
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        errorResponse ??= this.#errorResponseFor(size, taken, limit);
        if (errorResponse) {
          chunks = [];
          release();
          if (size > limit * 4) {
            request.pause();
            end();
          }
          return;
        }
        const more = Math.max(0, size - alwaysFree) - taken;
        taken += more;
        this.#held += more;
        chunks.push(chunk);
      });
      request.once('end', end);
      request.once('error', reject);
      request.once('close', () => {
        if (request.readableEnded) return;
        release();
        reject(new Error('the caller hung up'));
      });
    });
  }

  #errorResponseFor(size: number, taken: number, limit: number): SandboxResponse | undefined {
    if (size > limit) return bodyTooLarge(limit);
    const more = Math.max(0, size - alwaysFree) - taken;
    return this.#held + more > this.#maxHeldBytes ? tooMuchAtOnce() : undefined;
  }
}

const tooMuchAtOnce = (): SandboxResponse =>
  json(
    503,
    { code: 'service_unavailable', message: 'Too many large bodies are being read at once.', details: {} },
    { 'retry-after': '1' },
  );

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
