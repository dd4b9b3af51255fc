import type { RetryPolicy } from '../api/operation.ts';
import type { Clock } from '../platform/clock.ts';
import { type AttemptResult, nextAttempt } from './retry.ts';
import { readRetryAfter } from './retry-after.ts';
import type { CutShort, Scope } from './scope.ts';
import { type SendOptions, type ServiceResponse, send } from './send.ts';
import { TransportFailure, type WireRequest } from './transport/transport.ts';

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

export interface AttemptOptions extends SendOptions {
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
