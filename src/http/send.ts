import type { RetryPolicy } from '../api/operation.ts';
import { backoffMs, requestBackoff } from '../platform/async.ts';
import type { Clock } from '../platform/clock.ts';
import { isSafeToSend, isSameOrigin } from './request.ts';
import { longestJson, readStart, readWhole } from './response.ts';
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
async function send(request: WireRequest, options: SendOptions): Promise<ServiceResponse> {
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

/** How a request ended after all its attempts. */
export interface Attempted {
  readonly response?: ServiceResponse | undefined;
  readonly failure?: TransportFailure | undefined;
  readonly cutShort?: CutShort | undefined;
  readonly attempts: number;
  /** An attempt before the last one may have been acted on: it got no response, or one that the service failed. */
  readonly earlierMayHaveActed: boolean;
  readonly retryAfterMs?: number | undefined;
}

interface AttemptOptions extends SendOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  readonly retries: number | undefined;
  /** When all must be over, ms of the monotonic clock. */
  readonly deadline: number | undefined;
  readonly scope: Scope;
}

/** Sends a request, and again while the policy allows it. Never throws for what the network or the service do. */
export async function sendWithRetries(request: WireRequest, options: AttemptOptions): Promise<Attempted> {
  const { clock, scope } = options;
  let earlierMayHaveActed = false;
  let earlierLimited = false;
  for (let attempts = 1; ; attempts += 1) {
    const ended = await attempt(request, options);
    // What stands before a service may return 429 after the work was done; only a response to a later attempt shows.
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
      // Only the scope's signal ends a sleep early.
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

/** A 5xx comes from a service that may have worked before it failed, or from a gateway that lost the response. */
const mayHaveActed = (result: AttemptResult): boolean =>
  'status' in result ? result.status >= 500 : result.sent === 'unknown';

/** Why a call was cut short. */
type CutShort = 'deadline' | 'interrupted';

/** The life of one call: it ends by itself, at its deadline, or with one of the signals it was made under. */
export class Scope {
  readonly #controller = new AbortController();
  readonly #outer: readonly AbortSignal[];
  readonly #timeoutMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cut: CutShort | undefined;

  /** @param timeoutMs how long the call may take; undefined for as long as it takes. */
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

  /** What the signal that ended it was aborted with. */
  get reason(): unknown {
    return this.#outer.find(({ aborted }) => aborted)?.reason;
  }

  /** The response has begun to come: from here on the pauses within it are bounded, not its whole length. */
  liftDeadline(): void {
    clearTimeout(this.#timer);
  }

  /** The next piece of the response is waited for: the time begins anew. */
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

/** How one attempt ended: with a response, or without one. */
export type AttemptResult =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: Sent; readonly isPermanent: boolean };

interface RetryOptions {
  /** Attempts after the first one; without it the policy's own number. */
  readonly retries?: number | undefined;
  /** When all must be over, ms of the clock that `now` is of. */
  readonly deadline?: number | undefined;
}

/** An order is worth one try more: whoever gives up leaves it in doubt. */
export const defaultRetries: Readonly<Record<RetryPolicy, number>> = {
  safe: 3,
  idempotency_key: 4,
  never: 3,
};
/** A service that asks for a longer wait than this is not waited for: its wish is reported to the user instead. */
export const longestRetryAfterMs = 60_000;

/**
 * What follows attempt number `attempt` (from 1): how long to wait before the next one, in ms, or to stop.
 * Exponential backoff with full jitter, never less than `Retry-After` asks for, never beyond the deadline.
 * Pure but for `random`, which gives a number from 0 to 1.
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
  const leastMs = 'status' in result ? (result.retryAfterMs ?? 0) : 0;
  const wait = backoffMs(attempt, random, { ...requestBackoff, leastMs });
  return leastMs > longestRetryAfterMs || now + wait >= deadline ? 'stop' : wait;
}

/** Whether trying again can help, and cannot make anything happen twice. */
function mayRetry(retry: RetryPolicy, result: AttemptResult): boolean {
  if ('status' in result) return retry !== 'never' && isTemporary(result.status);
  if (result.isPermanent) return false;
  return retry !== 'never' || result.sent === 'not_sent';
}

/** Responses that may be another the next time: too many requests, and failures of the service. */
export const isTemporary = (status: number): boolean => status === 429 || status >= 500;

/**
 * How long the service asks to wait, in ms, from `Retry-After` in seconds or as an HTTP date; undefined where it does
 * not say. A date is measured against the response's own `Date`, so that a wrong clock here does no harm. Pure.
 */
export function readRetryAfter(headers: WireHeaders, now: number): number | undefined {
  const text = headerText(headers, 'retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d{1,9}(?:\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  const until = httpDate(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (httpDate(headerText(headers, 'date') ?? '') ?? now));
}

/** Only the forms of HTTP, all of which begin with a weekday: `Date.parse` alone takes far more for a date. */
function httpDate(text: string): number | undefined {
  const time = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}
