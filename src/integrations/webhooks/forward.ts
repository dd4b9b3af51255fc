import { request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { webhookEventHeader } from '../../api/events.ts';
import type { ForwardOutcome } from '../../journal/events.ts';
import { backoffMs, requestBackoff } from '../../platform/async.ts';
import type { Clock } from '../../platform/clock.ts';
import { addressKind } from '../../platform/net/addresses.ts';
import { checkedLookup, isLocalName } from '../../platform/net/lookup.ts';

export interface ForwardTarget {
  readonly url: string;
  /** Whether a name may lead to a private address. */
  readonly allowPrivate: boolean;
  /** Attempts after the first one. */
  readonly retries: number;
  readonly clock: Clock;
  readonly version: string;
  readonly random?: () => number;
}

/** What is sent on: an event's name and the JSON text that came or was read again. */
export interface Delivery {
  readonly event: string | null;
  readonly body: string;
}

/** For one attempt with its response, ms. */
const attemptMs = 10_000;
/** Of a response's body, which nobody reads. */
const responseBytes = 64 * 1024;

/**
 * Sends an event on, with retries; redirects are not followed. Ends with an outcome, whatever it is.
 * @throws the signal's reason where it is aborted.
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

/** What would be sent, as `--dry-run` shows it. */
const forwardHeaders = ({ event, body }: Delivery, version: string): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(Buffer.byteLength(body)),
  'user-agent': `errand/${version}`,
  ...(event !== null && { [webhookEventHeader.toLowerCase()]: headerSafe(event) }),
});

/** A name from outside as it may stand in a header. */
const headerSafe = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

function sendOnce(delivery: Delivery, target: ForwardTarget, signal: AbortSignal): Promise<Attempt> {
  const url = new URL(target.url);
  const send = url.protocol === 'https:' ? secureRequest : plainRequest;
  const patience = AbortSignal.timeout(attemptMs);
  const options: RequestOptions = {
    method: 'POST',
    headers: forwardHeaders(delivery, target.version),
    lookup: guardedLookup(target.allowPrivate),
    signal: AbortSignal.any([signal, patience]),
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
        patience.aborted
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

/** A forbidden address or a bad certificate is the same the next time. */
const isPermanent = (error: Error): boolean =>
  error instanceof ForbiddenAddress || ('code' in error && /CERT|SIGNATURE|ERR_TLS/.test(String(error.code)));

function messageOf(attempt: Attempt): string {
  if ('failure' in attempt) return attempt.failure;
  const { status } = attempt;
  return status >= 300 && status < 400
    ? `returned ${status}; redirects are not followed`
    : `returned ${status}`;
}

/** A name leads where it must not; trying again does not help. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

/** Why an address that a name led to must not be connected to; undefined where it may. Pure. */
export function whyForbidden(address: string, name: string, allowPrivate: boolean): string | undefined {
  const kind = addressKind(address);
  if (kind === 'forbidden') return `${name} leads to ${address}, a link-local or reserved address`;
  if (kind === 'public' || allowPrivate || isLocalName(name)) return undefined;
  return `${name} leads to the private address ${address}; name that address, or add --allow-private`;
}

/**
 * A lookup that connects only to addresses a name may lead to. An address that the user wrote is not looked up, and so
 * not refused (security: "unless named by the user").
 */
export const guardedLookup = (allowPrivate: boolean): LookupFunction =>
  checkedLookup((address, name) => {
    const reason = whyForbidden(address, name, allowPrivate);
    return reason === undefined ? undefined : new ForbiddenAddress(reason);
  });

/** How one attempt to forward an event ended. `retryAfter` is the header as it came. */
type Attempt =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly failure: string; readonly isPermanent: boolean };

const longestRetryAfterMs = 30_000;

/**
 * What follows attempt number `attempts` (from 1): a wait in ms before the next one, or the end. Exponential backoff with
 * full jitter, not below `Retry-After` in seconds. 408, 429 and 5xx may pass; any other refusal stays one.
 * Pure but for `random`, which gives a number from 0 to 1.
 */
export function nextAttempt(
  attempt: Attempt,
  attempts: number,
  retries: number,
  random: () => number,
): number | 'delivered' | 'failed' {
  if ('status' in attempt && attempt.status >= 200 && attempt.status < 300) return 'delivered';
  if (attempts > retries || isFinal(attempt)) return 'failed';
  return backoffMs(attempts, random, { ...requestBackoff, leastMs: retryAfterMs(attempt) });
}

const isFinal = (attempt: Attempt): boolean =>
  'failure' in attempt
    ? attempt.isPermanent
    : attempt.status < 500 && attempt.status !== 429 && attempt.status !== 408;

function retryAfterMs(attempt: Attempt): number {
  const text = 'status' in attempt ? (attempt.retryAfter ?? '') : '';
  return /^\d{1,6}$/.test(text) ? Math.min(Number(text) * 1000, longestRetryAfterMs) : 0;
}
