import { ErrandError, type ErrorCategory, type ErrorFacts } from '../errors.ts';
import type { PaymentChallenge } from './payment-challenge.ts';
import type { WireHeaders } from './transport/transport.ts';

/** The service answered and refused, or failed: its code, status and details are in the facts. */
export class ServiceError extends ErrandError {
  override readonly name: string = 'ServiceError';
  readonly #headers: WireHeaders;

  constructor(category: ErrorCategory, message: string, facts: ErrorFacts, headers: WireHeaders = {}) {
    super(category, message, facts);
    this.#headers = headers;
  }

  /** Of the answer. They may hold secrets, so they are no part of what is shown of an error. */
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

/** The service refused the input (422): the message lists the places and what is wrong there. */
export class ValidationError extends ErrandError {
  override readonly name = 'ValidationError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('usage', message, facts);
  }
}

/** No key, where the operation needs one; nothing was sent. */
export class MissingKeyError extends ErrandError {
  override readonly name = 'MissingKeyError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('authentication', message, { outcome: 'not_sent', retryable: false, ...facts });
  }
}

/** The service cannot be reached, or what answers is not the service. */
export class UnavailableError extends ErrandError {
  override readonly name: string = 'UnavailableError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('unavailable', message, facts);
  }
}

/** `--timeout` passed before an answer came. */
export class DeadlineError extends UnavailableError {
  override readonly name = 'DeadlineError';
}

/** A request that moves money may have been acted on, and nobody said so: neither success nor failure. */
export class InDoubtError extends ErrandError {
  override readonly name = 'InDoubtError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('in_doubt', message, { ...facts, outcome: 'unknown' });
  }
}

/** The user stopped it. `outcome` says whether the request may have been acted on. */
export class InterruptedError extends ErrandError {
  override readonly name = 'InterruptedError';
  constructor(
    category: Extract<ErrorCategory, 'interrupted' | 'terminated'>,
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(category, message, facts);
  }
}
