import { inspect } from 'node:util';
import { redactCause } from './redact/redact-cause.ts';
import { redactor } from './redact/redactor.ts';

/** Exit code for each category of error. Exit codes are defined only in this table. */
export const exitCodes = {
  unexpected: 1,
  usage: 2,
  authentication: 3,
  not_found: 4,
  conflict: 5,
  payment: 6,
  ended_badly: 7,
  deadline: 8,
  unavailable: 9,
  in_doubt: 10,
  policy: 11,
  interrupted: 130,
  terminated: 143,
} as const;

export type ErrorCategory = keyof typeof exitCodes;

/** Outcome of the request to which the error belongs. */
export type Outcome = 'not_sent' | 'rejected' | 'applied' | 'unknown';

export interface NextStep {
  readonly command: string;
  readonly when: string;
}

export interface ErrorFacts {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly details?: unknown;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly attempts?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly next?: readonly NextStep[] | undefined;
  readonly cause?: unknown;
}

/**
 * Base class of all errors that are shown to a user. Each has a message, a category and facts. Secrets are redacted on
 * construction, so that no secret reaches output or storage.
 */
export class ErrandError extends Error {
  override readonly name: string = 'ErrandError';
  readonly category: ErrorCategory;
  readonly facts: ErrorFacts;

  constructor(category: ErrorCategory, message: string, facts: ErrorFacts = {}) {
    const cause = redactCause(facts.cause, (error) => error instanceof ErrandError);
    super(redactor.text(message), cause === undefined ? undefined : { cause });
    this.category = category;
    this.facts = { ...withoutSecrets(facts), ...(cause !== undefined && { cause }) };
  }

  /** Error code for programs that handle the error. Undefined if the error has none. */
  get code(): string | undefined {
    return this.facts.code;
  }

  get exitCode(): number {
    return exitCodes[this.category];
  }
}

/** In commands, redact only known secrets, because a user's command or key may merely look like a secret. */
function withoutSecrets(facts: ErrorFacts): ErrorFacts {
  const { code, details, hint, requestId, next } = facts;
  const { known, text } = redactor;
  return {
    ...facts,
    ...(code !== undefined && { code: text(code) }),
    ...(details !== undefined && { details: redactor.value(details) }),
    ...(hint !== undefined && { hint: text(hint) }),
    ...(requestId !== undefined && { requestId: text(requestId) }),
    ...(next && { next: next.map((step) => ({ command: known(step.command), when: known(step.when) })) }),
  };
}

export type Stop = Extract<ErrorCategory, 'interrupted' | 'terminated'>;

/** The signal that an error reports. Undefined if the error reports none. */
export const stopOf = (failure: unknown): Stop | undefined =>
  failure instanceof ErrandError && (failure.category === 'interrupted' || failure.category === 'terminated')
    ? failure.category
    : undefined;

/** Converts any thrown value to an error for the user. If the value is not an ErrandError, it comes from a bug. */
export function toError(failure: unknown): ErrandError {
  if (failure instanceof ErrandError) return failure;
  const reason =
    failure instanceof Error
      ? failure.message || failure.name
      : typeof failure === 'string'
        ? failure
        : inspect(failure);
  return new ErrandError('unexpected', `errand failed unexpectedly: ${reason}`, {
    hint: 'This is a bug; rerun with --debug to see where.',
    cause: failure,
  });
}

/**
 * Invalid usage or input, which is rejected before anything is sent. The message names the flag, file, line or field.
 */
export class UsageError extends ErrandError {
  override readonly name = 'UsageError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('usage', message, { outcome: 'not_sent', retryable: false, ...facts });
  }
}

/**
 * Converts a parser that throws to a check. The check returns why a text is rejected, or undefined for a valid text.
 */
export const refusedBy =
  (parse: (text: string) => unknown) =>
  (text: string): string | undefined => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      if (error instanceof UsageError) return error.message;
      throw error;
    }
  };

/** The error for a result that cannot be shown as requested. What the program has already done stays done. */
export class OutputError extends ErrandError {
  override readonly name = 'OutputError';
}

/** One of errand's own files, folders or databases cannot be read or written. */
export class StorageError extends ErrandError {
  override readonly name: string = 'StorageError';
  /** @param category is `unavailable` if the storage is remote and unreachable. */
  constructor(message: string, facts: ErrorFacts = {}, category: ErrorCategory = 'unexpected') {
    super(category, message, { outcome: 'not_sent', ...facts });
  }
}

/** One of errand's own files is damaged or missing. What the file recorded about earlier commands is lost. */
export class DamagedError extends StorageError {
  override readonly name = 'DamagedError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { outcome: 'unknown', ...facts });
  }
}

/**
 * The error for a journal that cannot be read. The outcome is unknown: nothing is sent now, but an earlier command may
 * have placed an order.
 */
export const unread = ({ message, facts, category }: StorageError): StorageError =>
  new StorageError(
    message,
    { ...facts, outcome: 'unknown', hint: facts.hint ? `${facts.hint} ${noOtherFolder}` : noOtherFolder },
    category,
  );

const noOtherFolder =
  'Another folder is no remedy: an earlier command may have ordered, and only this one knows of it.';
