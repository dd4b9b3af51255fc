import { errorCodes } from '../../api/error-codes.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Operation, Parameter } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Column } from '../../format/result.ts';

export const operationRows = Object.entries<Operation>(operations).map(
  ([name, { method, path, summary, auth, retry, movesMoney, observed }]) => ({
    name,
    method,
    path,
    summary,
    auth,
    retry,
    moves_money: movesMoney === true,
    observed: observed === true,
  }),
);

export const operationColumns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 9 },
  { name: 'method', path: 'method', weight: 7 },
  { name: 'path', path: 'path', weight: 8 },
  { name: 'summary', path: 'summary', weight: 6 },
  { name: 'auth', path: 'auth', weight: 4 },
  { name: 'retry', path: 'retry', weight: 3 },
  { name: 'money', path: 'moves_money', kind: 'flag', weight: 5 },
];

const parameterColumns: readonly Column[] = [
  { name: 'name', path: 'name', weight: 9 },
  { name: 'in', path: 'in', weight: 5 },
  { name: 'type', path: 'type', weight: 8 },
  { name: 'required', path: 'required', kind: 'flag', weight: 7 },
  { name: 'bounds', path: 'min', weight: 6, value: (row) => boundsText(row) },
  { name: 'default', path: 'default', weight: 4 },
  { name: 'values', path: 'values', weight: 5 },
  { name: 'description', path: 'description', weight: 3, isProse: true },
];

export const operationDetailColumns: readonly Column[] = [
  ...operationColumns,
  { name: 'body', path: 'body.shape' },
  { name: 'response', path: 'response.shape' },
  { name: 'status', path: 'response.status', kind: 'count' },
  { name: 'records in', path: 'response.rows' },
  { name: 'parameters', path: 'parameters', columns: parameterColumns },
  { name: 'rules', path: 'rules', value: ({ rules }) => rules && JSON.stringify(rules) },
  {
    name: 'errors',
    path: 'errors',
    columns: [
      { name: 'code', path: 'code', weight: 3 },
      { name: 'status', path: 'status', kind: 'count', weight: 2 },
      { name: 'hint', path: 'hint', weight: 1, isProse: true },
    ],
  },
];

/** One operation with everything the table says of it. */
export function operationRecord(name: OperationName): Output<'ContractOperation'> {
  const operation: Operation = operations[name];
  const { method, path, surface, summary, auth, retry, body, response, errors, rules } = operation;
  return {
    name,
    method,
    path,
    surface,
    summary,
    auth,
    retry,
    moves_money: operation.movesMoney === true,
    ...(operation.challengeCents !== undefined && { challenge_cents: operation.challengeCents }),
    ...(operation.observed && { observed: true }),
    parameters: [
      ...parameterRows('path', operation.pathParameters),
      ...parameterRows('query', operation.query),
    ],
    ...(rules && { rules }),
    ...(body && { body: { shape: body.schema, required: !body.optional } }),
    response: {
      status: response.status,
      type: response.type,
      ...(response.type === 'json' && {
        shape: response.schema,
        ...(response.rows && { rows: response.rows }),
      }),
    },
    errors: errors.map((code) => ({ code, ...errorCodes[code] })),
  };
}

const parameterRows = (place: 'path' | 'query', specs: Readonly<Record<string, Parameter>> = {}) =>
  Object.entries(specs).map(([name, { minLength, maxLength, required, ...spec }]) => ({
    name,
    in: place,
    required: required === true,
    ...spec,
    ...(minLength !== undefined && { min_length: minLength }),
    ...(maxLength !== undefined && { max_length: maxLength }),
  }));

/** `1 to 500`, `at most 200 characters`. */
function boundsText({ min, max, min_length: shortest, max_length: longest }: JsonObject): string {
  const range = (least: unknown, most: unknown): string => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}`;
    return least !== undefined ? `at least ${least}` : most !== undefined ? `at most ${most}` : '';
  };
  const length = range(shortest, longest);
  return range(min, max) || (length && `${length} characters`);
}
