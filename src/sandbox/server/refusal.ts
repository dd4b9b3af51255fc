import { type ErrorCode, errorCodes } from '../../api/error-codes.ts';
import type { ValidationIssue } from '../../api/validation.ts';
import type { SandboxResponse } from './wire.ts';

type Headers = Readonly<Record<string, string | string[]>>;

/** A documented refusal; its response has the body that the specification gives it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
  /** Members of the body beside the three that every refusal has. */
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

/** A form of the console that did something already and comes again with other values. @param did `added money` */
export const usedForm = (did: string): Refusal =>
  new Refusal(
    'already_exists',
    `This form has ${did} already, with other values, and did nothing now. Load its page again for another.`,
  );

/** A request that fails validation: 422 with `{detail}`. */
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

/** The response to an error; undefined where the error is not a refusal. */
export function responseTo(error: unknown): SandboxResponse | undefined {
  if (error instanceof Invalid) return json(422, { detail: error.issues });
  if (!(error instanceof Refusal)) return undefined;
  const { code, message, details, headers, extension } = error;
  return json(errorCodes[code].status, { ...extension, code, message, details }, headers);
}
