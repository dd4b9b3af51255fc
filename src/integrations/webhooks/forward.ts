import { request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { webhookEventHeader, webhookSignatureHeader } from '../../api/events.ts';
import type { ForwardOutcome } from '../../journal/events.ts';
import { backoffMs, requestBackoff } from '../../platform/async.ts';
import type { Clock } from '../../platform/clock.ts';
import { addressKind } from '../../platform/net/addresses.ts';
import { checkedLookup, isLocalName } from '../../platform/net/lookup.ts';

export interface ForwardTarget {
  readonly url: string;
  /** Whether a host name is allowed to resolve to a private address. */
  readonly allowPrivate: boolean;
  /** Retries after the first attempt. */
  readonly retries: number;
  readonly clock: Clock;
  readonly version: string;
  readonly random?: () => number;
}

/** What is forwarded: the name of an event, and its JSON text. The text is either as received or as read again. */
export interface Delivery {
  readonly event: string | null;
  readonly body: string;
  /** The service's signature of exactly this body. */
  readonly signature?: string | undefined;
}

/** Timeout of one attempt including its response, in ms. */
const attemptMs = 10_000;
/** Maximum number of response bytes to read. The limit is low because nobody uses the response body. */
const responseBytes = 64 * 1024;

/**
 * Forwards an event with retries, without following redirects. Always resolves to an outcome.
 * @throws the signal's reason if aborted.
 */
export async function forward(
  delivery: Delivery,
  target: ForwardTarget,
  signal: AbortSignal,
): Promise<ForwardOutcome> {
  const { clock, retries, random = Math.random } = target;
  for (let attempts = 1; ; attempts += 1) {
    const attempt = await sendOnce(delivery, target, signal);
    signal.throwIfAborted();
    const next = nextAttempt(attempt, attempts, retries, random);
    if (typeof next === 'number') {
      await clock.sleep(next, signal);
      continue;
    }
    return {
      url: target.url,
      delivered: next === 'delivered',
      status: 'status' in attempt ? attempt.status : null,
      attempts,
      message: next === 'delivered' ? null : messageOf(attempt),
      at: new Date(clock.now()).toISOString(),
    };
  }
}

/** The request headers. `--dry-run` shows them too. */
const forwardHeaders = ({ event, body, signature }: Delivery, version: string): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  'user-agent': `errand/${version}`,
  ...(event !== null && { [webhookEventHeader.toLowerCase()]: headerSafe(event) }),
  ...(signature !== undefined && { [webhookSignatureHeader.toLowerCase()]: headerSafe(signature) }),
});

/** Makes a name from outside safe for a header. */
const headerSafe = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

function sendOnce(delivery: Delivery, target: ForwardTarget, signal: AbortSignal): Promise<Attempt> {
  const url = new URL(target.url);
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const timeout = AbortSignal.timeout(attemptMs);
  const options: RequestOptions = {
    method: 'POST',
    headers: forwardHeaders(delivery, target.version),
    lookup: guardedLookup(target.allowPrivate),
    signal: AbortSignal.any([signal, timeout]),
    agent: false,
  };
  return new Promise((resolve) => {
    const request = send(url, options, (response) => {
      let size = 0;
      response.on('error', () => {});
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > responseBytes) response.destroy();
      });
      const { statusCode = 0, headers } = response;
      resolve({ status: statusCode, retryAfter: headers['retry-after'] });
    });
    request.on('error', (error) =>
      resolve(
        timeout.aborted
          ? { failure: `no response within ${attemptMs / 1000} s`, isPermanent: false }
          : { failure: reasonOf(error), isPermanent: isPermanent(error) },
      ),
    );
    request.end(delivery.body);
  });
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
};

function reasonOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  return reasons[code] ?? (error.message || code || 'the connection failed');
}

/** If an address is forbidden or a certificate is invalid, a retry does not help. */
const isPermanent = (error: Error): boolean =>
  error instanceof ForbiddenAddress || ('code' in error && /CERT|SIGNATURE|ERR_TLS/.test(String(error.code)));

function messageOf(attempt: Attempt): string {
  if ('failure' in attempt) return attempt.failure;
  const { status } = attempt;
  return status >= 300 && status < 400
    ? `returned ${status}; redirects are not followed`
    : `returned ${status}`;
}

/** The error for a host name that resolves to a forbidden address. A retry does not help. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/** Explains why a name must not resolve to an address. Undefined if connecting to that address is allowed. Pure. */
export function whyForbidden(address: string, name: string, allowPrivate: boolean): string | undefined {
  const kind = addressKind(address);
  if (kind === 'forbidden') return `${name} leads to ${address}, a link-local or reserved address`;
  if (kind === 'public' || allowPrivate || isLocalName(name)) return undefined;
  return `${name} leads to the private address ${address}; name that address, or add --allow-private`;
}

/**
 * DNS lookup that returns only addresses to which a name is allowed to resolve. If the user gave an IP address instead
 * of a name, there is no lookup, so the address is allowed (security: "unless named by the user").
 */
export const guardedLookup = (allowPrivate: boolean): LookupFunction =>
  checkedLookup((address, name) => {
    const reason = whyForbidden(address, name, allowPrivate);
    return reason === undefined ? undefined : new ForbiddenAddress(reason);
  });

/** Result of one attempt to forward. `retryAfter` is the unparsed header. */
type Attempt =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly failure: string; readonly isPermanent: boolean };

const maxRetryAfterMs = 30_000;

/**
 * Decides what follows attempt number `attempts` (one-based): a wait in ms before the next attempt, or the end. The
 * wait is an exponential backoff with full jitter, never shorter than `Retry-After` in seconds. Retries 408, 429 and
 * 5xx; any other refusal is final. Pure except for `random`, which returns a number from 0 to 1.
 */
export function nextAttempt(
  attempt: Attempt,
  attempts: number,
  retries: number,
  random: () => number,
): number | 'delivered' | 'failed' {
  if ('status' in attempt && attempt.status >= 200 && attempt.status < 300) return 'delivered';
  if (attempts > retries || isFinal(attempt)) return 'failed';
  return backoffMs(attempts, random, { ...requestBackoff, minMs: retryAfterMs(attempt) });
}

const isFinal = (attempt: Attempt): boolean =>
  'failure' in attempt
    ? attempt.isPermanent
    : attempt.status < 500 && attempt.status !== 429 && attempt.status !== 408;

function retryAfterMs(attempt: Attempt): number {
  const text = 'status' in attempt ? (attempt.retryAfter ?? '') : '';
  return /^\d{1,6}$/.test(text) ? Math.min(Number(text) * 1000, maxRetryAfterMs) : 0;
}
