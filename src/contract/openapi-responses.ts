import { type ErrorCode, errorCodes } from './error-codes.ts';
import type { Answer, Operation } from './operation.ts';
import { refusalCodes } from './refusals.ts';
import type { SchemaName } from './schemas/index.ts';

type Json = Readonly<Record<string, unknown>>;

/** What an operation answers, by status: its success, every error that it names, and what any may come to. Pure. */
export function responses(name: string, operation: Operation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(refusalCodes(operation))) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const refusals = [...byStatus].map(([status, named]) => [status, refusal(operation, status, named)]);
  const takesInput = operation.body || operation.query || operation.pathParameters;
  return {
    [operation.answer.status]: success(name, operation),
    ...Object.fromEntries(refusals),
    ...(takesInput && { 422: { description: 'validation error', content: content('HTTPValidationError') } }),
    default: { description: anyTime.join(', '), 'x-error-codes': anyTime, content: content('ErrorResponse') },
  };
}

export const content = (name: SchemaName) => ({ 'application/json': schemaOf(name) });

const schemaOf = (name: SchemaName): { readonly schema: Json } => ({
  schema: { $ref: `#/components/schemas/${name}` },
});

/** What any operation may answer: the service is busy, or has failed. */
const anyTime: readonly ErrorCode[] = [
  'rate_limit_exceeded',
  'internal_error',
  'external_service_error',
  'service_unavailable',
];

function refusal({ auth }: Operation, status: number, codes: readonly ErrorCode[]): Json {
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

function success(name: string, { answer, auth }: Operation): Json {
  const told = {
    ...(auth === 'payment' && receipt),
    ...(name === 'agent.order.create' && temporaryKey),
  };
  return { ...headersOf(told), ...successBody(answer) };
}

function successBody(answer: Answer): Json {
  if (answer.type === 'none') return { description: 'done' };
  if (answer.type === 'csv')
    return { description: 'CSV', content: { 'text/csv': { schema: { type: 'string' } } } };
  return { description: answer.schema, content: content(answer.schema) };
}

/** Headers by name, with what they say. */
type Headers = Readonly<Record<string, string>>;

const headersByStatus: Readonly<Record<number, Headers>> = {
  401: { 'WWW-Authenticate': 'the scheme to authenticate with, where there was none' },
  429: { 'Retry-After': 'seconds to wait' },
};
const challenge: Headers = { 'WWW-Authenticate': 'a challenge of the Payment scheme for each method' };
const receipt: Headers = { 'Payment-Receipt': 'base64url of JSON: method, reference, status, timestamp' };
const temporaryKey: Headers = { 'X-Api-Key': 'a temporary key that reads this one order' };

const headersOf = (told: Headers): Json => {
  const named = Object.entries(told).map(([header, description]) => [
    header,
    { description, schema: { type: 'string' } },
  ]);
  return named.length === 0 ? {} : { headers: Object.fromEntries(named) };
};
