import { backoffMs, requestBackoff } from '../../platform/wait/backoff.ts';

/** How one attempt to forward an event ended. `retryAfter` is the header as it came. */
export type Attempt =
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
