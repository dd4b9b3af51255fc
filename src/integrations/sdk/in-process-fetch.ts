import {
  halfOf,
  type InProcess,
  piecesOf,
  type SandboxBody,
  type SandboxResponse,
} from '../../sandbox/in-process.ts';

type Send = InProcess['send'];
type Fetch = typeof globalThis.fetch;

/** Same limit as Node's fetch. */
const maxRedirects = 20;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses without a body (Fetch standard, null body status). */
const bodyless: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Creates a `fetch` that calls a single service through a function. Requests, redirects, aborts and responses have the
 * standard semantics. A path alone is also accepted as URL. Faults surface as they do in Node's own fetch.
 * @param origin is the origin of the service. A request to any other origin rejects with a TypeError.
 */
export function fetchThrough(origin: string, send: Send): Fetch {
  return async (input, init) => {
    const request = requestOf(origin, input, init);
    const body = new Uint8Array(await request.arrayBuffer());
    return await follow({
      origin,
      send,
      url: checkedUrl(origin, request.url),
      method: request.method,
      headers: [...request.headers],
      body,
      redirect: request.redirect,
      signal: request.signal,
    });
  };
}

/** @throws TypeError for an invalid request, as fetch does. */
function requestOf(origin: string, input: Parameters<Fetch>[0], init: RequestInit | undefined): Request {
  const isPath = typeof input === 'string' && /^\/(?!\/)/.test(input);
  return new Request(isPath ? `${origin}${input}` : input, init);
}

interface Exchange {
  readonly origin: string;
  readonly send: Send;
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly redirect: Request['redirect'];
  readonly signal: AbortSignal;
}

async function follow(exchange: Exchange): Promise<Response> {
  let { url, method, headers, body } = exchange;
  const { origin, send, redirect, signal } = exchange;
  for (let count = 0; ; count += 1) {
    signal.throwIfAborted();
    const target = `${url.pathname}${url.search}`;
    const sent = { method, target, headers: { host: url.host, ...Object.fromEntries(headers) }, body };
    const reply = await unlessAborted(send(sent, signal), signal);
    if (reply.kind === 'reset') throw failure('fetch failed', 'ECONNRESET', 'read ECONNRESET');
    const { response } = reply;
    const { STATUS_CODES } = await import('node:http');
    const location = redirects.has(response.status) ? response.headers.location : undefined;
    if (location === undefined || redirect === 'manual')
      return responseOf(response, {
        url,
        isHead: method === 'HEAD',
        isHalf: reply.kind === 'half',
        isRedirected: count > 0,
        statusText: STATUS_CODES[response.status] ?? '',
        signal,
      });
    if (redirect === 'error')
      throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
    if (count === maxRedirects)
      throw new TypeError('fetch failed', { cause: new Error('redirect count exceeded') });
    url = checkedUrl(origin, new URL(String(location), url).href);
    // Redirects change the method as they do in all browsers (Fetch standard, HTTP-redirect fetch, step 12).
    const isGetNow =
      response.status === 303
        ? method !== 'GET' && method !== 'HEAD'
        : response.status < 303 && method === 'POST';
    if (isGetNow) {
      method = 'GET';
      body = new Uint8Array();
      headers = headers.filter(([name]) => !name.startsWith('content-'));
    }
  }
}

function checkedUrl(origin: string, text: string): URL {
  const url = new URL(text);
  if (url.origin === origin) return url;
  throw new TypeError(
    `sandbox.fetch answers ${origin} alone, not ${url.origin}; use the global fetch for it`,
  );
}

/** Throws the same errors as undici: a generic message, with the actual reason as the cause. */
function failure(message: string, code: string, reason: string): TypeError {
  return new TypeError(message, { cause: Object.assign(new Error(reason), { code }) });
}

/** Let the service continue its work after an abort, as a remote service would. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

interface Received {
  readonly url: URL;
  readonly isHead: boolean;
  /** Break the connection in the middle of the body. */
  readonly isHalf: boolean;
  readonly isRedirected: boolean;
  /** The status text that Node's own server would send. */
  readonly statusText: string;
  readonly signal: AbortSignal;
}

function responseOf({ status, headers: given, body }: SandboxResponse, received: Received): Response {
  const { url, isHead, isHalf, isRedirected, statusText, signal } = received;
  const headers = new Headers();
  for (const [name, values] of Object.entries(given))
    for (const value of [values].flat()) headers.append(name, value);
  if (typeof body === 'string' || body instanceof Uint8Array)
    headers.set('content-length', String(Buffer.byteLength(body)));
  const hasBody = body !== null && !isHead && !bodyless.has(status);
  const sent = isHalf ? ReadableStream.from(brokenOff(body)) : wholeOf(body, signal);
  const response = new Response(hasBody ? sent : null, { status, statusText, headers });
  // Set the URL here, because a response that was constructed has none.
  Object.defineProperty(response, 'url', { value: url.href });
  Object.defineProperty(response, 'redirected', { value: isRedirected });
  return response;
}

function wholeOf(body: SandboxBody, signal: AbortSignal): Uint8Array | ReadableStream {
  return typeof body === 'string' || body instanceof Uint8Array
    ? Buffer.from(body)
    : ReadableStream.from(bytesOf(body, signal));
}

async function* bytesOf(body: SandboxBody, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of piecesOf(body)) {
    signal.throwIfAborted();
    yield Buffer.from(chunk);
  }
}

async function* brokenOff(body: SandboxBody): AsyncGenerator<Uint8Array> {
  yield (await halfOf(body)).half;
  throw failure('terminated', 'UND_ERR_SOCKET', 'other side closed');
}
