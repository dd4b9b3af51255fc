import { type ErrorCode, errorCodes } from '../../api/error-codes.ts';
import type { ValidationIssue } from '../../api/validation.ts';
import type { SandboxResponse } from './wire.ts';

type Headers = Readonly<Record<string, string | string[]>>;

/** A documented refusal. Its response body follows the specification. */
export class ErrorResponse extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  /** Members of the response body in addition to `code`, `message` and `details`. */
  readonly extension: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    headers: Headers = {},
    extension: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.code = code;
    this.details = details;
    this.headers = headers;
    this.extension = extension;
  }
}

/**
 * Refuses a console form that has already taken effect and is now submitted again with other values. @param did
 * describes what the form did, such as `added money`.
 */
export const usedForm = (did: string): ErrorResponse =>
  new ErrorResponse(
    'already_exists',
    `This form has ${did} already, with other values, and did nothing now. Load its page again for another.`,
  );

/** Thrown when a request fails validation. The response is a 422 with `{detail}`. */
export class Invalid extends Error {
  override readonly name = 'Invalid';
  readonly issues: readonly ValidationIssue[];

  constructor(issues: readonly ValidationIssue[]) {
    super('the request fails validation');
    this.issues = issues;
  }
}

export const json = (status: number, value: unknown, headers: Headers = {}): SandboxResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
});

/** Converts an error to a response; undefined if the error is not a refusal. */
export function responseTo(error: unknown): SandboxResponse | undefined {
  if (error instanceof Invalid) return json(422, { detail: error.issues });
  if (!(error instanceof ErrorResponse)) return undefined;
  const { code, message, details, headers, extension } = error;
  return json(errorCodes[code].status, { ...extension, code, message, details }, headers);
}
