import type { ValidationIssue } from '../api/validation.ts';
import { ErrandError, type ErrorCategory, type ErrorFacts, type Stop } from '../platform/errors.ts';
import type { PaymentChallenge } from './payment-challenge.ts';
import type { WireHeaders } from './transport/transport.ts';

/** The service refused the request, or failed: its code, status and details are in the facts. */
export class ServiceError extends ErrandError {
  override readonly name: string = 'ServiceError';
  readonly #headers: WireHeaders;

  constructor(category: ErrorCategory, message: string, facts: ErrorFacts, headers: WireHeaders = {}) {
    super(category, message, facts);
    this.#headers = headers;
  }

  /** Of the response. They may hold secrets, so they are no part of what is shown of an error. */
  get headers(): WireHeaders {
    return this.#headers;
  }
}

/** 402 with challenges: what would pay for the request. */
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

const mostIssues = 10;

/** The service refused the input (422): the message lists the places and what is wrong there. */
export class ValidationError extends ErrandError {
  override readonly name = 'ValidationError';
  readonly issues: readonly ValidationIssue[];

  /** @param describe says one issue, its place first; as the service names it where none is given. */
  constructor(issues: readonly ValidationIssue[], facts: ErrorFacts, describe = issueText) {
    const more = issues.length > mostIssues ? `; and ${issues.length - mostIssues} more` : '';
    const listed = issues.slice(0, mostIssues).map(describe);
    super('usage', `the service refused the input: ${listed.join('; ')}${more}`, facts);
    this.issues = issues;
  }
}

const issueText = ({ loc, msg }: ValidationIssue): string =>
  loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg;

/** No key, where the operation needs one; nothing was sent. */
export class MissingKeyError extends ErrandError {
  override readonly name = 'MissingKeyError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('authentication', message, { outcome: 'not_sent', retryable: false, ...facts });
  }
}

/** The service cannot be reached, or what responds is not the service. */
export class UnavailableError extends ErrandError {
  override readonly name: string = 'UnavailableError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('unavailable', message, facts);
  }
}

/** `--timeout` passed before a response came. */
export class DeadlineError extends UnavailableError {
  override readonly name = 'DeadlineError';
}

/** A request that moves money may have been acted on, and nobody said so: neither success nor failure. */
export class InDoubtError extends ErrandError {
  override readonly name = 'InDoubtError';
  /** @param category of the signal that ended the process: its exit code stays its own. */
  constructor(message: string, facts: ErrorFacts = {}, category: 'in_doubt' | Stop = 'in_doubt') {
    super(category, message, { ...facts, outcome: 'unknown' });
  }
}

/** The user stopped it. `outcome` says whether the request may have been acted on. */
export class InterruptedError extends ErrandError {
  override readonly name = 'InterruptedError';
  constructor(category: Stop, message: string, facts: ErrorFacts = {}) {
    super(category, message, facts);
  }
}
