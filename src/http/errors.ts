import type { ErrorCode } from '../api/error-codes.ts';
import type { ValidationIssue } from '../api/validation.ts';
import { ErrandError, type ErrorCategory, type ErrorFacts, type Stop } from '../platform/errors.ts';
import type { PaymentChallenge } from './payment-challenge.ts';
import type { WireHeaders } from './transport/transport.ts';

/** The service refused the request or failed; `facts` has code, status and details. */
export class ServiceError extends ErrandError {
  override readonly name: string = 'ServiceError';
  readonly #headers: WireHeaders;

  constructor(category: ErrorCategory, message: string, facts: ErrorFacts, headers: WireHeaders = {}) {
    super(category, message, facts);
    this.#headers = headers;
  }

  /** An error code of the contract, or a code that the service introduced later. */
  override get code(): ErrorCode | (string & {}) | undefined {
    return super.code;
  }

  /** Response headers. Private, because they may contain secrets that must not be printed with the error. */
  get headers(): WireHeaders {
    return this.#headers;
  }
}

/** Status 402 with challenges that say how to pay for the request. */
export class PaymentRequiredError extends ServiceError {
  override readonly name = 'PaymentRequiredError';
  readonly challenges: readonly PaymentChallenge[];

  constructor(
    message: string,
    facts: ErrorFacts,
    headers: WireHeaders,
    challenges: readonly PaymentChallenge[],
  ) {
    super('payment', message, facts, headers);
    this.challenges = challenges;
  }
}

/** The service placed nothing, because the order must first be paid for on a web page (402 `payment_required`). */
export class UnpaidOrderError extends ServiceError {
  override readonly name = 'UnpaidOrderError';
  readonly #page: URL | undefined;

  /** @param page is undefined if the service gives no address that may be opened. */
  constructor(message: string, facts: ErrorFacts, headers: WireHeaders, page: URL | undefined) {
    super('payment', message, facts, headers);
    this.#page = page;
  }

  /** The page on which to pay. Private, because the address of the page may grant access. */
  get page(): URL | undefined {
    return this.#page;
  }
}

const maxIssues = 10;

/** The service rejected the input (422): the message lists fields and problems. */
export class ValidationError extends ErrandError {
  override readonly name = 'ValidationError';
  readonly issues: readonly ValidationIssue[];

  /**
   * @param describe formats one issue, beginning with the field. Defaults to a format with the service's own field
   * names.
   */
  constructor(issues: readonly ValidationIssue[], facts: ErrorFacts, describe = issueText) {
    const more = issues.length > maxIssues ? `; and ${issues.length - maxIssues} more` : '';
    const listed = issues.slice(0, maxIssues).map(describe);
    super('usage', `the service refused the input: ${listed.join('; ')}${more}`, facts);
    this.issues = issues;
  }
}

const issueText = ({ loc, msg }: ValidationIssue): string =>
  loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg;

/** The operation needs a key, but no key is available. Nothing was sent. */
export class MissingKeyError extends ErrandError {
  override readonly name = 'MissingKeyError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('authentication', message, { outcome: 'not_sent', retryable: false, ...facts });
  }
}

/** The service is unreachable, or the response did not come from the service. */
export class UnavailableError extends ErrandError {
  override readonly name: string = 'UnavailableError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('unavailable', message, facts);
  }
}

/** `--timeout` passed before a response arrived. */
export class DeadlineError extends UnavailableError {
  override readonly name = 'DeadlineError';
}

/** A request that moves money may have taken effect, and nothing confirms whether it did. */
export class InDoubtError extends ErrandError {
  override readonly name = 'InDoubtError';
  /**
   * @param category defaults to `in_doubt`. If a signal ended the process, pass the category of the signal, so that the
   * process ends with the exit code of the signal.
   */
  constructor(message: string, facts: ErrorFacts = {}, category: 'in_doubt' | Stop = 'in_doubt') {
    super(category, message, { ...facts, outcome: 'unknown' });
  }
}

/** The user stopped the request. `outcome` says whether the request may have taken effect. */
export class InterruptedError extends ErrandError {
  override readonly name = 'InterruptedError';
  constructor(category: Stop, message: string, facts: ErrorFacts = {}) {
    super(category, message, facts);
  }
}
