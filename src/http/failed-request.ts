import { type ErrandError, type ErrorFacts, type Outcome, stopOf } from '../platform/errors.ts';
import type { Attempted } from './attempts.ts';
import { DeadlineError, InDoubtError, InterruptedError, UnavailableError } from './errors.ts';
import { type Prepared, requestLine } from './request.ts';
import { type Advice, checkFirst } from './response.ts';
import { isProvenRefusal, refusalOf } from './service-error.ts';
import { headerText } from './transport/transport.ts';

export interface Circumstances {
  readonly timeoutMs: number | undefined;
  readonly advice: Advice;
  /** What the signal that ended the call was aborted with. */
  readonly reason: unknown;
}

/** The failure that a request without success ends with: what happened, and what became of the request. Pure. */
export function failureOf(request: Prepared, ended: Attempted, circumstances: Circumstances): ErrandError {
  const facts = factsOf(request, ended);
  if (ended.cutShort === 'interrupted') return interruption(request, facts, circumstances);
  const failure = ended.cutShort
    ? deadline(request, facts, circumstances)
    : lastFailure(request, ended, facts, circumstances);
  // `already_exists` settles the doubt: the order is there, whichever attempt made it.
  if (facts.outcome !== 'unknown' || !request.movesMoney || failure.facts.code === 'already_exists')
    return failure;
  return inDoubt(request, reasonOf(ended, failure, circumstances), failure.facts, circumstances.advice);
}

/** A good status with a body that is not the service's: for what moves money nobody knows what it did. Pure. */
export function unreadable(request: Prepared, ended: Attempted, what: string, advice: Advice): ErrandError {
  const facts = { ...factsOf(request, ended), retryable: false };
  if (request.movesMoney) return inDoubt(request, `it returned ${what}`, facts, advice);
  return new UnavailableError(`${requestLine(request)} returned ${what}`, {
    ...facts,
    outcome: request.retry === 'safe' ? undefined : 'unknown',
    hint: advice.baseUrl,
  });
}

function factsOf(
  request: Prepared,
  ended: Attempted,
): ErrorFacts & { readonly outcome: Outcome | undefined } {
  const { response, attempts, retryAfterMs, failure } = ended;
  const outcome = outcomeOf(request, ended);
  return {
    status: response?.status,
    requestId: response && headerText(response.headers, 'x-request-id')?.slice(0, 200),
    attempts,
    retryAfterMs,
    outcome,
    retryable: !failure?.isPermanent && (outcome !== 'unknown' || request.retry === 'idempotency_key'),
    ...(outcome === 'unknown' &&
      request.idempotencyKey !== undefined && { idempotencyKey: request.idempotencyKey }),
    cause: failure,
  };
}

/** What became of the request, over all attempts; of a read that got no response there is nothing to report. */
function outcomeOf(request: Prepared, ended: Attempted): Outcome | undefined {
  if (lastMayHaveActed(request, ended) || ended.earlierMayHaveActed)
    return request.retry === 'safe' ? undefined : 'unknown';
  return ended.response ? 'rejected' : 'not_sent';
}

/** Where money moves, only the service's own refusal proves that nothing was done. */
function lastMayHaveActed(request: Prepared, { response, failure }: Attempted): boolean {
  if (!response) return failure?.sent !== 'not_sent';
  return response.status >= 500 || (request.movesMoney && !isProvenRefusal(request, response));
}

function lastFailure(
  request: Prepared,
  { response, failure }: Attempted,
  facts: ErrorFacts,
  { advice }: Circumstances,
): ErrandError {
  if (response) return refusalOf(request, response, facts);
  return new UnavailableError(`${requestLine(request)} failed: ${failure?.message ?? 'no response came'}`, {
    ...facts,
    hint: failure?.hint ?? (request.isLink ? linkHint : advice.network),
  });
}

const linkHint = 'The service gave this link; your key and the base URL are fine. Try again later.';

function deadline(request: Prepared, facts: ErrorFacts, { timeoutMs, advice }: Circumstances): ErrandError {
  return new DeadlineError(`${requestLine(request)} got no response within ${seconds(timeoutMs)}`, {
    ...facts,
    hint: advice.timeout,
  });
}

function interruption(request: Prepared, facts: ErrorFacts, { reason, advice }: Circumstances): ErrandError {
  const stop = stopOf(reason);
  const category = stop ?? 'interrupted';
  if (facts.outcome !== 'unknown') return new InterruptedError(category, category, facts);
  const message = `${category}: ${requestLine(request)} had been sent and may have taken effect`;
  return request.movesMoney
    ? new InDoubtError(message, { ...facts, hint: hintInDoubt(request, advice) }, stop)
    : new InterruptedError(category, message, facts);
}

const inDoubt = (request: Prepared, reason: string, facts: ErrorFacts, advice: Advice): ErrandError =>
  new InDoubtError(`${requestLine(request)} may have taken effect: ${reason}`, {
    ...facts,
    hint: hintInDoubt(request, advice),
  });

const hintInDoubt = (request: Prepared, advice: Advice): string =>
  request.idempotencyKey === undefined ? checkFirst : advice.inDoubt;

function reasonOf(
  { failure, cutShort, earlierMayHaveActed }: Attempted,
  error: ErrandError,
  { timeoutMs }: Circumstances,
): string {
  if (cutShort) return `no response came within ${seconds(timeoutMs)}`;
  if (failure) return failure.message;
  return earlierMayHaveActed
    ? `an earlier attempt got no response, and this one: ${error.message}`
    : error.message;
}

const seconds = (ms = 0): string => `${ms / 1000}s`;
