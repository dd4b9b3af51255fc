import { type ErrorCode, errorCodes } from './error-codes.ts';
import type { Operation, SuccessResponse } from './operation.ts';
import { errorResponseCodes } from './refusals.ts';
import type { SchemaName } from './schemas/index.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Responses of an operation by status: the success, the errors that the operation declares, and the errors that any
 * operation may return. Pure.
 */
export function responses(name: string, operation: Operation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(errorResponseCodes(operation))) {
    const { status } = errorCodes[code];
    const codes = byStatus.get(status);
    if (codes) codes.push(code);
    else byStatus.set(status, [code]);
  }
  const refusals = [...byStatus].map(([status, named]) => [status, errorResponse(operation, status, named)]);
  const takesInput = operation.body || operation.query || operation.pathParameters;
  return {
    [operation.response.status]: success(name, operation),
    ...Object.fromEntries(refusals),
    ...(takesInput && { 422: { description: 'validation error', content: content('HTTPValidationError') } }),
    default: { description: anyTime.join(', '), 'x-error-codes': anyTime, content: content('ErrorResponse') },
  };
}

export const content = (name: SchemaName) => ({ 'application/json': schemaOf(name) });

const schemaOf = (name: SchemaName): { readonly schema: Json } => ({
  schema: { $ref: `#/components/schemas/${name}` },
});

/** Errors that any operation may return because the service is busy or has failed. */
const anyTime: readonly ErrorCode[] = [
  'rate_limit_exceeded',
  'internal_error',
  'external_service_error',
  'service_unavailable',
];

function errorResponse({ auth }: Operation, status: number, codes: readonly ErrorCode[]): Json {
  const isChallenge = auth === 'payment' && status === 402;
  return {
    description: codes.join(', '),
    'x-error-codes': codes,
    ...headersOf(isChallenge ? challenge : (headersByStatus[status] ?? {})),
    content: {
      ...content('ErrorResponse'),
      ...(isChallenge && { 'application/problem+json': schemaOf('ErrorResponse') }),
    },
  };
}

function success(name: string, { response, auth }: Operation): Json {
  const headers = {
    ...(auth === 'payment' && receipt),
    ...(name === 'agent.order.create' && temporaryKey),
  };
  return { ...headersOf(headers), ...successBody(response) };
}

function successBody(response: SuccessResponse): Json {
  if (response.type === 'none') return { description: 'done' };
  if (response.type === 'csv')
    return { description: 'CSV', content: { 'text/csv': { schema: { type: 'string' } } } };
  return { description: response.schema, content: content(response.schema) };
}

/** Header names and descriptions. */
type Headers = Readonly<Record<string, string>>;

const headersByStatus: Readonly<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': 'the scheme to authenticate with, where there was none' },
  429: { 'Retry-After': 'seconds to wait' },
};
const challenge: Headers = { 'WWW-Authenticate': 'a challenge of the Payment scheme for each method' };
const receipt: Headers = { 'Payment-Receipt': 'base64url of JSON: method, reference, status, timestamp' };
const temporaryKey: Headers = { 'X-Api-Key': 'a temporary key that reads this one order' };

const headersOf = (headers: Headers): Json => {
  const named = Object.entries(headers).map(([header, description]) => [
    header,
    { description, schema: { type: 'string' } },
  ]);
  return named.length === 0 ? {} : { headers: Object.fromEntries(named) };
};
