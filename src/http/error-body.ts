import type { ValidationIssue } from '../api/validation.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { parseJson } from './read-body.ts';

/** What a refusal says of itself. */
export interface ErrorBody {
  readonly code?: string | undefined;
  readonly message?: string | undefined;
  readonly details?: unknown;
  /** Of the 422 body. */
  readonly issues?: readonly ValidationIssue[] | undefined;
}

const longestText = 2000;
const mostEntries = 200;

/**
 * Reads every form of error body: the service's own, the same wrapped as `{error: …}` by a gateway, the 422 body, and
 * problem+json. Of texts and lists the beginning is kept, without secrets. What is no such body reads as an empty one.
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
  return detail.slice(0, mostEntries).map((entry) => {
    const { loc, msg, type } = asObject(entry);
    const place = Array.isArray(loc) ? loc.filter(isPlace) : [];
    return { loc: place, msg: text(msg) ?? 'refused', type: text(type) ?? 'value_error' };
  });
}

const isPlace = (part: unknown): part is string | number =>
  typeof part === 'string' || typeof part === 'number';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? redactor.start(value, longestText) : undefined;

/** The same value with no text and no list longer than a user could want. */
function capped(value: unknown): unknown {
  if (typeof value === 'string') return redactor.start(value, longestText);
  if (Array.isArray(value)) return value.slice(0, mostEntries).map(capped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostEntries)
      .map(([key, inner]) => [key, capped(inner)]),
  );
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
