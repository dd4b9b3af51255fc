import type { RetryPolicy } from '../api/operation.ts';
import { backoffMs, requestBackoff } from '../platform/async.ts';
import type { Clock } from '../platform/clock.ts';
import { parseUrl } from '../platform/net/urls.ts';
import { clearTimeout, setTimeout } from '../platform/own-timers.ts';
import { isSafeToSend, isSameOrigin } from './request.ts';
import { maxJsonBytes, readStart, readWhole } from './response.ts';
import type { Trace } from './trace.ts';
import {
  headerText,
  type Sent,
  type Transport,
  TransportFailure,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from './transport/transport.ts';

/** A response of the service, successful or not. */
export interface ServiceResponse {
  readonly status: number;
  readonly headers: WireHeaders;
  /** URL of the response, after redirects. */
  readonly url: URL;
  /** The whole body; empty if streamed. */
  readonly bytes: Uint8Array;
  /** The body of a successful response, not read yet. Present if it was requested as a stream. */
  readonly stream?: AsyncIterable<Uint8Array> | undefined;
}

export interface SendOptions {
  readonly transport: Transport;
  readonly trace?: Trace | undefined;
  readonly now: () => number;
  /** Whether to stream the body of a successful response; called once the headers are in. */
  readonly streams: (headers: WireHeaders) => boolean;
  /**
   * Which redirects of a read to follow: only redirects to the same origin, or all. `anywhere` is for requests without
   * credentials.
   */
  readonly follow: 'same-origin' | 'anywhere';
  /** Whether the service, rather than the user, chose an address. */
  readonly isForeign?: (url: URL) => boolean;
  readonly allowPlainHttp: boolean;
}

const maxRedirects = 5;
const redirects: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Makes one attempt, and follows redirects. If a redirect must not be followed, it becomes the response.
 * @throws TransportFailure if no complete response arrives.
 */
async function send(request: WireRequest, options: SendOptions): Promise<ServiceResponse> {
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    const started = options.now();
    const response = await traced(options, started, () => sendOnce({ ...request, url }, options));
    const target = hops < maxRedirects ? redirectTarget(request, url, response, options) : undefined;
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

/**
 * Follows only redirects of reads. A write is meant for its original address, and its body must not be sent to another.
 */
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

/** Target of a redirect; undefined if the target is missing or invalid. */
export function locationOf(headers: WireHeaders, from: URL): URL | undefined {
  const location = headerText(headers, 'location');
  return location === undefined ? undefined : parseUrl(location, from);
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
  const bytes = await (isGood ? readWhole(body, maxJsonBytes) : readStart(body));
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

/** Result of a request after all attempts. */
export interface Attempted {
  readonly response?: ServiceResponse | undefined;
  readonly failure?: TransportFailure | undefined;
  readonly cutShort?: CutShort | undefined;
  readonly attempts: number;
  /**
   * Whether the service may have acted on an attempt before the last one, because that attempt got no response or a
   * server error.
   */
  readonly earlierMayHaveActed: boolean;
  readonly retryAfterMs?: number | undefined;
}

interface AttemptOptions extends SendOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  readonly retries: number | undefined;
  /** Deadline of all attempts, in ms of the monotonic clock. */
  readonly deadline: number | undefined;
  readonly scope: Scope;
}

/** Sends a request, and retries as the policy allows. Does not throw if the network or the service fails. */
export async function sendWithRetries(request: WireRequest, options: AttemptOptions): Promise<Attempted> {
  const { clock, scope } = options;
  let earlierMayHaveActed = false;
  let earlierLimited = false;
  for (let attempts = 1; ; attempts += 1) {
    const ended = await attempt(request, options);
    // A proxy may return 429 although the service did the work. If no later response arrives, it remains unknown
    // whether the work was done.
    if (ended.failure && earlierLimited) earlierMayHaveActed = true;
    const result = resultOf(ended);
    const all = { ...ended, attempts, earlierMayHaveActed, cutShort: scope.cutShort };
    if (scope.cutShort || (ended.response && !isFailed(ended.response.status))) return all;
    const wait = nextAttempt(options, result, attempts, clock.monotonic(), options, options.random);
    if (wait === 'stop') return all;
    earlierMayHaveActed ||= mayHaveActed(result);
    earlierLimited ||= ended.response?.status === 429;
    options.trace?.({ type: 'retry', attempt: attempts + 1, waitMs: wait });
    try {
      await clock.sleep(wait, scope.signal);
    } catch {
      // Only the scope's signal interrupts a sleep.
      return { ...all, earlierMayHaveActed, cutShort: scope.cutShort ?? 'interrupted' };
    }
  }
}

async function attempt(
  request: WireRequest,
  options: AttemptOptions,
): Promise<Pick<Attempted, 'response' | 'failure' | 'retryAfterMs'>> {
  try {
    const response = await send(request, options);
    return { response, retryAfterMs: readRetryAfter(response.headers, options.clock.now()) };
  } catch (error) {
    if (error instanceof TransportFailure) return { failure: error };
    throw error;
  }
}

function resultOf({
  response,
  failure,
  retryAfterMs,
}: Pick<Attempted, 'response' | 'failure' | 'retryAfterMs'>): AttemptResult {
  if (response) return { status: response.status, retryAfterMs };
  return { sent: failure?.sent ?? 'unknown', isPermanent: failure?.isPermanent ?? true };
}

const isFailed = (status: number): boolean => status >= 400;

/** A 5xx comes from a service that may have acted before failing, or from a gateway that lost the response. */
const mayHaveActed = (result: AttemptResult): boolean =>
  'status' in result ? result.status >= 500 : result.sent === 'unknown';

type CutShort = 'deadline' | 'interrupted';

/** Lifetime of a call. Ends when the call ends, at the deadline, or when one of the call's signals aborts. */
export class Scope {
  readonly #controller = new AbortController();
  readonly #outer: readonly AbortSignal[];
  readonly #timeoutMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cut: CutShort | undefined;

  /** @param timeoutMs is the maximum duration of the call; undefined for no limit. */
  constructor(outer: readonly (AbortSignal | undefined)[], timeoutMs: number | undefined) {
    this.#outer = outer.filter((signal) => signal !== undefined);
    for (const signal of this.#outer) signal.addEventListener('abort', this.#interrupt);
    if (this.#outer.some(({ aborted }) => aborted)) this.#interrupt();
    this.#timeoutMs = timeoutMs;
    this.restartDeadline();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cutShort(): CutShort | undefined {
    return this.#cut;
  }

  /** Abort reason of the signal that ended the call. */
  get reason(): unknown {
    return this.#outer.find(({ aborted }) => aborted)?.reason;
  }

  /**
   * Call this when the response has begun. From then on, the timeout limits each pause in the response instead of the
   * total duration.
   */
  liftDeadline(): void {
    clearTimeout(this.#timer);
  }

  /** Restarts the timer while waiting for the next chunk. */
  restartDeadline(): void {
    this.liftDeadline();
    const ms = this.#timeoutMs;
    if (ms !== undefined) this.#timer = setTimeout(() => this.#end('deadline'), Math.min(ms, 2 ** 31 - 1));
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const signal of this.#outer) signal.removeEventListener('abort', this.#interrupt);
  }

  readonly #interrupt = (): void => this.#end('interrupted');

  #end(why: CutShort): void {
    this.#cut ??= why;
    this.#controller.abort(this.reason);
  }
}

/** Result of a single attempt, with or without a response. */
export type AttemptResult =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: Sent; readonly isPermanent: boolean };

interface RetryOptions {
  /** Number of retries after the first attempt. Defaults to the number for the policy. */
  readonly retries?: number | undefined;
  /** Deadline of all attempts, in ms by the clock of `now`. */
  readonly deadline?: number | undefined;
}

/**
 * Default number of retries. An order gets one more than other requests, because giving up leaves the order in doubt.
 */
export const defaultRetries: Readonly<Record<RetryPolicy, number>> = {
  safe: 3,
  idempotency_key: 4,
  never: 3,
};
/** Longest `Retry-After` that is honored, in ms. A longer wait is reported to the user instead. */
export const maxRetryAfterMs = 60_000;

/**
 * Decides what follows attempt number `attempt`, counted from one: a wait, in ms, before the next attempt, or `stop`.
 * The wait is an exponential backoff with full jitter. It is never shorter than `Retry-After`, and never extends beyond
 * the deadline. Pure except for `random`, which returns a number from 0 to 1.
 */
export function nextAttempt(
  { retry }: { readonly retry: RetryPolicy },
  result: AttemptResult,
  attempt: number,
  now: number,
  { retries = defaultRetries[retry], deadline = Number.POSITIVE_INFINITY }: RetryOptions,
  random: () => number,
): number | 'stop' {
  if (attempt > retries || !mayRetry(retry, result)) return 'stop';
  const minMs = 'status' in result ? (result.retryAfterMs ?? 0) : 0;
  const wait = backoffMs(attempt, random, { ...requestBackoff, minMs });
  return minMs > maxRetryAfterMs || now + wait >= deadline ? 'stop' : wait;
}

/** Whether a retry can help, without the risk that something is executed twice. */
function mayRetry(retry: RetryPolicy, result: AttemptResult): boolean {
  if ('status' in result) return retry !== 'never' && isTemporary(result.status);
  if (result.isPermanent) return false;
  return retry !== 'never' || result.sent === 'not_sent';
}

/** Whether a retry may lead to another status: after rate limiting and server errors. */
export const isTemporary = (status: number): boolean => status === 429 || status >= 500;

/**
 * Reads the wait that `Retry-After` asks for, in seconds or as an HTTP date. Returns ms; undefined if there is no wait.
 * A date is compared with the response's `Date`, so a wrong local clock does no harm. Pure.
 */
export function readRetryAfter(headers: WireHeaders, now: number): number | undefined {
  const text = headerText(headers, 'retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  const until = httpDate(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (httpDate(headerText(headers, 'date') ?? '') ?? now));
}

/** Accepts only HTTP dates, all of which start with a weekday. `Date.parse` alone accepts far more. */
function httpDate(text: string): number | undefined {
  const time = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
