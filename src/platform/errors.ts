import { inspect } from 'node:util';
import { redactCause } from './redact/redact-cause.ts';
import { redactor } from './redact/redactor.ts';

/** From a failure's category to the exit code of the program. The only such table. */
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

/** What became of the request the failure belongs to. */
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
 * The base of every failure that is shown to a user: one message, one category, the facts beside it. Secrets are
 * replaced as it is made, so that none reaches what shows it or keeps it.
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

  get exitCode(): number {
    return exitCodes[this.category];
  }
}

/** A command or a key of the user's own may have the form of a secret and be none, so only those in use are replaced there. */
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

/** A signal to the process. */
export type Stop = Extract<ErrorCategory, 'interrupted' | 'terminated'>;

/** The signal that a failure tells of; undefined for any other. */
export const stopOf = (failure: unknown): Stop | undefined =>
  failure instanceof ErrandError && (failure.category === 'interrupted' || failure.category === 'terminated')
    ? failure.category
    : undefined;

/** Any failure as one that can be shown. What nobody foresaw is a bug. */
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

/** Wrong usage or input, refused before anything was sent; the message names the flag, file, line or field. */
export class UsageError extends ErrandError {
  override readonly name = 'UsageError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('usage', message, { outcome: 'not_sent', retryable: false, ...facts });
  }
}

/** Turns a parser that throws into a check that tells why a text is refused. */
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

/** A result cannot be shown as requested. What the program has done by then is no part of it. */
export class OutputError extends ErrandError {
  override readonly name = 'OutputError';
}

/** A file, folder or database of errand's own could not be read or written. */
export class StorageError extends ErrandError {
  override readonly name: string = 'StorageError';
  /** @param category `unavailable` where it lies elsewhere, and cannot be reached. */
  constructor(message: string, facts: ErrorFacts = {}, category: ErrorCategory = 'unexpected') {
    super(category, message, { outcome: 'not_sent', ...facts });
  }
}

/** A file of errand's own is not what was written, or is gone: what it said of earlier commands is not known. */
export class DamagedError extends StorageError {
  override readonly name = 'DamagedError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, { outcome: 'unknown', ...facts });
  }
}

/** What keeps the journal from being read: nothing is sent, and nobody knows whether an earlier command has ordered. */
export const unread = ({ message, facts, category }: StorageError): StorageError =>
  new StorageError(
    message,
    { ...facts, outcome: 'unknown', hint: facts.hint ? `${facts.hint} ${noOtherFolder}` : noOtherFolder },
    category,
  );

const noOtherFolder =
  'Another folder is no remedy: an earlier command may have ordered, and only this one knows of it.';
