import {
  type CodeRow,
  type ErrorCode,
  errorCodes,
  errorHint,
  errorResponseHint,
} from '../api/error-codes.ts';
import { own, textIn } from '../api/json.ts';
import type { ValidationIssue } from '../api/validation.ts';
import {
  type ErrandError,
  type ErrorCategory,
  type ErrorFacts,
  type Outcome,
  stopOf,
} from '../platform/errors.ts';
import { pageAt } from '../platform/net/page.ts';
import { redactor } from '../platform/redact/redactor.ts';
import {
  DeadlineError,
  InDoubtError,
  InterruptedError,
  PaymentRequiredError,
  ServiceError,
  UnavailableError,
  UnpaidOrderError,
  ValidationError,
} from './errors.ts';
import { isSameOrigin, type Prepared, requestLine, shownOrigin, shownUrl } from './request.ts';
import { type Advice, checkFirst, parseJson } from './response.ts';
import { type Attempted, isTemporary, locationOf, type ServiceResponse } from './send.ts';
import { headerText, type WireHeaders } from './transport/transport.ts';
import { paymentOffered, readChallenges, readSettlement } from './x402.ts';

interface Circumstances {
  readonly timeoutMs: number | undefined;
  readonly advice: Advice;
  /** Abort reason of the signal that ended the call. */
  readonly reason: unknown;
}

/**
 * Builds the error for a failed request. The error says what happened, and what the outcome of the request is. Pure.
 */
export function failureOf(request: Prepared, ended: Attempted, circumstances: Circumstances): ErrandError {
  const facts = factsOf(request, ended);
  if (ended.cutShort === 'interrupted') return interruption(request, facts, circumstances);
  const failure = ended.cutShort
    ? deadline(request, facts, circumstances)
    : lastFailure(request, ended, facts, circumstances);
  // `already_exists` removes the doubt, because the order exists, no matter which attempt placed it.
  if (facts.outcome !== 'unknown' || !request.movesMoney || failure.facts.code === 'already_exists')
    return failure;
  return inDoubt(request, reasonOf(ended, failure, circumstances), failure.facts, circumstances.advice);
}

/**
 * The error for a response with a success status and an invalid body. If the request moves money, the outcome is
 * unknown. Pure.
 */
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

/** Outcome of the request over all attempts. A read without a response has no outcome. */
function outcomeOf(request: Prepared, ended: Attempted): Outcome | undefined {
  if (lastMayHaveActed(request, ended) || ended.earlierMayHaveActed)
    return request.retry === 'safe' ? undefined : 'unknown';
  return ended.response ? 'rejected' : 'not_sent';
}

/**
 * Whether the service may have acted on the last attempt. If a request that moves money got a response, only a refusal
 * by the service itself proves that the service did not act.
 */
function lastMayHaveActed(request: Prepared, { response, failure }: Attempted): boolean {
  if (!response) return failure?.sent !== 'not_sent';
  return response.status >= 500 || (request.movesMoney && !isProvenRejection(request, response));
}

function lastFailure(
  request: Prepared,
  { response, failure }: Attempted,
  facts: ErrorFacts,
  { advice }: Circumstances,
): ErrandError {
  if (response) return errorOfResponse(request, response, facts);
  return new UnavailableError(`${requestLine(request)} failed: ${failure?.message ?? 'no response came'}`, {
    ...facts,
    hint: failure?.hint ?? (request.isLink ? linkHint : advice.network),
  });
}

const linkHint = 'The service gave this link; your key and the base URL are fine. Try again later.';

function deadline(request: Prepared, facts: ErrorFacts, { timeoutMs, advice }: Circumstances): ErrandError {
  const message = `${requestLine(request)} got no response within ${seconds(timeoutMs)}`;
  const cause = new DOMException(message, 'TimeoutError');
  return new DeadlineError(message, { ...facts, hint: advice.timeout, cause });
}

function interruption(
  request: Prepared,
  { cause, ...more }: ErrorFacts,
  { reason, advice }: Circumstances,
): ErrandError {
  const stop = stopOf(reason);
  const category = stop ?? 'interrupted';
  // If a program aborted the call, the abort reason becomes the cause of the error, so that the program recognizes it.
  // If a signal stopped the command, the error needs no such cause.
  const facts = { ...more, cause: stop ? cause : (reason ?? cause) };
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

/** Codes that mean that the state of the record forbids the action. The status of such a response is only 400. */
const refusedByState: readonly string[] = [
  'order_not_cancellable',
  'return_not_allowed',
] satisfies ErrorCode[];

const categories: Readonly<Record<number, ErrorCategory>> = {
  401: 'authentication',
  402: 'payment',
  403: 'authentication',
  404: 'not_found',
  408: 'unavailable',
  409: 'conflict',
  410: 'not_found',
};

/** Converts an unsuccessful response to an error. Pure. */
function errorOfResponse(request: Prepared, response: ServiceResponse, facts: ErrorFacts): ErrandError {
  if (response.status < 400) return redirection(request, response, facts);
  const body = readErrorBody(response.bytes);
  const { code, message = `${requestLine(request)} returned ${response.status}`, details } = body;
  const category = categoryOf(request, response.status, code);
  const isTheService = body.message !== undefined || code !== undefined || body.issues !== undefined;
  if (!isTheService && isHtml(response) && (category === 'not_found' || category === 'usage')) {
    return new UnavailableError(
      `${requestLine(request)} returned ${response.status} with HTML, not the service's JSON; is the base URL right?`,
      { ...facts, retryable: false },
    );
  }
  const known = {
    ...facts,
    code,
    details,
    hint:
      code === undefined
        ? undefined
        : errorResponseHint(code, request.auth, details, request.method === 'GET'),
  };
  if (body.issues) return validation(body, known);
  const { headers, status } = response;
  if (code === ('payment_required' satisfies ErrorCode)) return unpaid(message, known, request, response);
  if (status === 402) return paymentDemanded(category, message, known, headers);
  return new ServiceError(category, message, { ...known, retryable: isTemporary(status) }, headers);
}

/** Error for a 402 without a page to pay at. It says what the service takes, if it says so. */
function paymentDemanded(
  category: ErrorCategory,
  message: string,
  known: ErrorFacts,
  headers: WireHeaders,
): ServiceError {
  const challenges = readChallenges(headers);
  const hint = paymentOffered(headers, challenges) ?? known.hint;
  const facts = { ...known, hint, retryable: false };
  if (challenges.length > 0) return new PaymentRequiredError(message, facts, headers, challenges);
  return new ServiceError(category, message, facts, headers);
}

/**
 * The error for an order that must first be paid for on a web page. If the address of the page may not be opened,
 * leaves out the address and says why.
 */
function unpaid(
  message: string,
  known: ErrorFacts,
  { url }: Prepared,
  { bytes, headers }: ServiceResponse,
): UnpaidOrderError {
  const facts = { ...known, retryable: false };
  const body = asObject(parseJson(bytes));
  // Read the address from the response. The details of the error are redacted, which may break the address.
  const address = textIn(own(body.error, 'details') ?? body.details, 'pay_url');
  if (address === undefined || address === '')
    return new UnpaidOrderError(message, facts, headers, undefined);
  const page = address.length < maxTextLength ? pageAt(address, url) : { problem: 'is too long' };
  if ('url' in page) {
    const hint = `Pay at ${page.url.href} first. Then send the same order again with its key.`;
    return new UnpaidOrderError(message, { ...facts, hint }, headers, page.url);
  }
  const details = { ...Object(known.details), pay_url: null };
  const hint = `The address to pay at, which the service gives, ${page.problem}, so it is not shown: ask the service how to pay.`;
  return new UnpaidOrderError(message, { ...facts, details, hint }, headers, undefined);
}

/**
 * Whether a response is a refusal by the service itself, which proves that nothing was done. Such a refusal is an error
 * body with a code that the contract lists for the operation, a validation body, or a payment challenge. A redirect,
 * the page of a gateway, or a 403 or 408 without such a body proves nothing. Pure.
 */
function isProvenRejection(
  { refusals, auth }: Prepared,
  { status, bytes, headers }: ServiceResponse,
): boolean {
  if (status < 400 || status >= 500 || provesNothing.has(status)) return false;
  // A successful settlement means that money has moved, whatever the body says.
  if (readSettlement(headers)?.status === 'success') return false;
  if (status === 402 && auth === 'payment' && readChallenges(headers).length > 0) return true;
  const { code, message, issues = [] } = readErrorBody(bytes);
  if (status === 422 && issues.length > 0) return true;
  return message !== undefined && refusals.some((known) => known === code);
}

/** Request Timeout and Too Early are about the transfer, no matter what their body says. */
const provesNothing: ReadonlySet<number> = new Set([408, 425]);

function validation({ issues = [] }: ErrorBody, facts: ErrorFacts): ErrandError {
  const code = 'validation_error' satisfies ErrorCode;
  return new ValidationError(issues, { ...facts, code, hint: errorHint(code), retryable: false });
}

/** Determines the category. The code takes precedence over the status, unless the status indicates a server failure. */
function categoryOf({ idempotencyKey }: Prepared, status: number, code: string | undefined): ErrorCategory {
  if (isTemporary(status)) return 'unavailable';
  if (code !== undefined && refusedByState.includes(code)) return 'conflict';
  const known: CodeRow | undefined = code !== undefined && isKnown(code) ? errorCodes[code] : undefined;
  // An order that is rejected at once gets the same category as one that fails later. Only requests that place an order
  // have a key.
  if (known?.isOfOrder && idempotencyKey !== undefined) return 'ended_badly';
  const effectiveStatus = known?.status ?? status;
  return categories[effectiveStatus] ?? (isTemporary(effectiveStatus) ? 'unavailable' : 'usage');
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

export const isHtml = ({ headers, bytes }: Pick<ServiceResponse, 'headers' | 'bytes'>): boolean =>
  /^\s*text\/html\b/i.test(headerText(headers, 'content-type') ?? '') ||
  /^\s*<(?:!doctype|html|head|body)\b/i.test(Buffer.from(bytes.subarray(0, 200)).toString());

/** The error for a redirect that is not followed, because the key may be sent only to its own service. */
function redirection(request: Prepared, response: ServiceResponse, facts: ErrorFacts): ErrandError {
  const target = locationOf(response.headers, response.url);
  return new UnavailableError(`${requestLine(request)} ${redirectionText(request, response, target)}`, {
    ...facts,
    retryable: false,
    hint: 'If that is the service, make it the base URL: `errand profile set NAME --base-url URL`.',
  });
}

function redirectionText(
  { method, isLink }: Prepared,
  { status, url }: ServiceResponse,
  target: URL | undefined,
): string {
  if (!target) return `returned ${status}, which is not a valid redirect`;
  const where = `is redirected (${status}) to ${isLink ? shownOrigin(target) : shownUrl(target)}`;
  if (method !== 'GET' && method !== 'HEAD') return `${where}; a write is not sent to another address`;
  return isSameOrigin(url, target)
    ? `${where}, again and again`
    : `${where}; only the origin of the base URL is called`;
}

/** Content of an error response. */
interface ErrorBody {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly details?: unknown;
  /** From the 422 body. */
  readonly issues?: readonly ValidationIssue[] | undefined;
}

const maxTextLength = 2000;
const maxEntries = 200;

/**
 * Reads every format of error body: the service's own format, the same wrapped as `{error: …}` by a gateway, the body
 * of a 422, and problem+json. Truncates texts and lists, and redacts secrets. For any other body, returns an empty
 * result.
 */
export function readErrorBody(bytes: Uint8Array): ErrorBody {
  const body = asObject(parseJson(bytes));
  const { error } = body;
  const inner = typeof error === 'object' && error !== null ? asObject(error) : body;
  const { code, message, details, detail, title } = inner;
  const issues = Array.isArray(detail) ? readIssues(detail) : undefined;
  return {
    code: text(code),
    message: text(message) ?? text(detail) ?? text(title),
    details: capped(issues ?? details ?? (title === undefined ? undefined : inner)),
    issues,
  };
}

function readIssues(detail: readonly unknown[]): ValidationIssue[] {
  return detail.slice(0, maxEntries).map((entry) => {
    const { loc, msg, type } = asObject(entry);
    const place = Array.isArray(loc) ? loc.filter(isPlace) : [];
    return { loc: place, msg: text(msg) ?? 'refused', type: text(type) ?? 'value_error' };
  });
}

const isPlace = (part: unknown): part is string | number =>
  typeof part === 'string' || typeof part === 'number';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? redactor.start(value, maxTextLength) : undefined;

/** Truncates texts and lists in a value if they are too long. */
function capped(value: unknown): unknown {
  if (typeof value === 'string') return redactor.start(value, maxTextLength);
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(capped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxEntries)
      .map(([key, inner]) => [key, capped(inner)]),
  );
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
