import { isSafeToSend, isSameOrigin } from './request.ts';
import { longestJson, readStart, readWhole } from './response.ts';
import type { Trace } from './trace.ts';
import {
  headerText,
  type Transport,
  TransportFailure,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from './transport/transport.ts';

/** A response of the service, good or bad. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: WireHeaders;
  /** Where it came from, after redirects. */
  readonly url: URL;
  /** The body whole; empty where it is streamed. */
  readonly bytes: Uint8Array;
  /** The body of a good response that was requested as a stream, still to be read. */
  readonly stream?: AsyncIterable<Uint8Array> | undefined;
}

export interface SendOptions {
  readonly transport: Transport;
  readonly trace?: Trace | undefined;
  readonly now: () => number;
  /** Whether the body of a good response is left to be read as it comes; called when the headers are there. */
  readonly streams: (headers: WireHeaders) => boolean;
  /** Which redirects of a read are followed: its own origin only, or any address at all (never with credentials). */
  readonly follow: 'same-origin' | 'anywhere';
  /** Whether an address is one that the service named and the user did not. */
  readonly isForeign?: (url: URL) => boolean;
  readonly allowPlainHttp: boolean;
}

const mostRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * One attempt, redirects included. A redirect that may not be followed is the response.
 * @throws TransportFailure where no whole response came.
 */
export async function send(request: WireRequest, options: SendOptions): Promise<ServiceResponse> {
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const started = options.now();
    const response = await traced(options, started, () => sendOnce({ ...request, url }, options));
    const target = hops < mostRedirects ? redirectTarget(request, url, response, options) : undefined;
    if (!target) return traced(options, started, () => readResponse(url, response, options, started));
    options.trace?.({
      type: 'response',
      status: response.status,
      headers: response.headers,
      ms: options.now() - started,
    });
    response.discard();
    url = target;
  }
}

async function sendOnce(
  request: WireRequest,
  { transport, trace, isForeign }: SendOptions,
): Promise<WireResponse> {
  trace?.({ type: 'request', request });
  return transport.send({ ...request, isForeign: isForeign?.(request.url) === true });
}

/** Only reads are followed: a write that is redirected was meant for another address, and its body stays here. */
function redirectTarget(
  { method }: WireRequest,
  from: URL,
  { status, headers }: WireResponse,
  { follow, allowPlainHttp }: SendOptions,
): URL | undefined {
  if (!redirects.includes(status) || (method !== 'GET' && method !== 'HEAD')) return undefined;
  const target = locationOf(headers, from);
  if (!target) return undefined;
  if (follow === 'same-origin') return isSameOrigin(from, target) ? target : undefined;
  return isSafeToSend(target, allowPlainHttp) ? target : undefined;
}

/** Where a redirect points; undefined where it does not say, or says no address. */
export function locationOf(headers: WireHeaders, from: URL): URL | undefined {
  const location = headerText(headers, 'location');
  return location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}

async function readResponse(
  url: URL,
  response: WireResponse,
  options: SendOptions,
  started: number,
): Promise<ServiceResponse> {
  const { status, headers, body } = response;
  const isGood = status >= 200 && status < 300;
  const event = { type: 'response', status, headers } as const;
  if (isGood && options.streams(headers)) {
    options.trace?.({ ...event, ms: options.now() - started });
    return { status, headers, url, bytes: new Uint8Array(), stream: body };
  }
  const bytes = await (isGood ? readWhole(body, longestJson) : readStart(body));
  options.trace?.({ ...event, body: bytes, ms: options.now() - started });
  return { status, headers, url, bytes };
}

async function traced<T>({ trace, now }: SendOptions, started: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = error instanceof TransportFailure ? error : undefined;
    if (failure) trace?.({ type: 'failure', message: failure.message, ms: now() - started });
    throw error;
  }
}
