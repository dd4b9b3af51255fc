import type { RetryPolicy } from '../api/operation.ts';
import { backoffMs, requestBackoff } from '../platform/async.ts';
import type { Sent } from './transport/transport.ts';

/** How one attempt ended: with a response, or without one. */
export type AttemptResult =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly sent: Sent; readonly isPermanent: boolean };

export interface RetryOptions {
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
