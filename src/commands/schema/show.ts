import * as enums from '../../api/enums.ts';
import { errorCodes } from '../../api/error-codes.ts';
import { errorTypes } from '../../api/error-types.ts';
import { webhookEvents } from '../../api/events.ts';
import { type JsonObject, own } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Operation, Parameter } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { plainText } from '../../format/path.ts';
import type { Column, ListResult, OutputOptions, RecordResult } from '../../format/result.ts';
import { forTable } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'The contract: operations, shapes, enums, limits, errors',
  description:
    'Without a name, everything there is. A name is that of an operation (order.create, or "POST /orders"), a shape (OrderCreate), a list of values, a limit, an error code, or one of operations, shapes, enums, limits, events, errors. A shape is shown as its fields, and with -o json as JSON Schema. Nothing is sent.',
  arguments: [{ name: 'name', description: 'what to show' }],
  isDefault: true,
  examples: [
    {
      command: 'errand schema order.list',
      note: 'one operation: parameters, bounds, body, response, errors',
    },
    { command: 'errand schema OrderCreate -o json', note: 'a shape as JSON Schema' },
    { command: 'errand schema errors', note: 'every error, and what to do about it' },
    {
      command: 'errand schema operations -o csv --fields name,method,path',
      note: 'the endpoints, for a script',
    },
  ],
  output: [
    { list: 'ContractRow', when: 'without a name, and of a list' },
    { record: 'ContractOperation', when: 'of an operation' },
    { record: 'JsonSchema', when: 'of a shape' },
    { record: 'ContractRow', when: 'of anything else' },
  ],
  readsOnly: true,
  related: ['schema diff', 'api'],
  async run({ output }, { name }) {
    const shapes = await import('./shape.ts');
    const topics: Readonly<Record<string, Table>> = {
      operations: { summary: '', columns: operationColumns, id: 'name', rows: operationRows },
      shapes: { summary: '', columns: shapes.shapeColumns, id: 'name', rows: shapes.shapeRows },
      ...tables,
    };
    if (name === undefined) return overview(topics);
    const exact = resolve(name, topics);
    if (isOperation(exact))
      return { kind: 'record', record: operationRecord(exact), columns: operationDetailColumns, id: 'name' };
    if (shapes.isShape(exact)) return shapes.shapeResult(exact, output);
    const topic = Object.hasOwn(topics, exact) ? topics[exact] : undefined;
    return topic ? listOf(topic) : oneRow(exact, output);
  },
});

type ContractRow = Output<'ContractRow'>;

const isOperation = (name: string): name is OperationName => Object.hasOwn(operations, name);

const listOf = ({ rows, columns, id }: Table): ListResult<ContractRow> => ({
  kind: 'list',
  rows,
  columns,
  id,
});

/**
 * Lists every name with its kind. Errors are not listed one by one, because there are many; only the table of all
 * errors is listed.
 */
function overview(topics: Readonly<Record<string, Table>>): ListResult<ContractRow> {
  const named = Object.entries(topics).filter(([topic]) => topic !== 'errors');
  return {
    kind: 'list',
    id: 'name',
    columns: [
      { name: 'name', path: 'name', weight: 3 },
      { name: 'kind', path: 'kind', weight: 2 },
      { name: 'summary', path: 'summary', weight: 1 },
    ],
    rows: [
      ...named.flatMap(([topic, { rows, id }]) =>
        rows.map((row) => ({
          name: String(own(row, id)),
          kind: topic.replace(/s$/, ''),
          summary: summaryOf(row),
        })),
      ),
      { name: 'errors', kind: 'table', summary: tables.errors.summary },
    ],
    hints: () => ['errand schema NAME shows one'],
  };
}

function summaryOf({
  method,
  path,
  summary,
  used_by: uses,
  values,
  sent_when: when,
  ...row
}: JsonObject): string {
  if (typeof method === 'string') return `${method} ${path}  ${summary}`;
  const { name: _, ...bounds } = row;
  const spelled = Object.entries(bounds).map(([bound, value]) => `${bound} ${value}`);
  const use = plainText(uses ?? when);
  return use !== '' ? use : Array.isArray(values) ? values.join(', ') : spelled.join(', ');
}

/** Looks up an enum, limit, event or error by its name. For an error, the name may be both a code and an error_type. */
function oneRow(name: string, output: OutputOptions): ListResult<ContractRow> | RecordResult<ContractRow> {
  const all: readonly Table[] = Object.values(tables);
  const table = all.find(({ rows, id }) => rows.some((row) => own(row, id) === name));
  const rows = table?.rows.filter((row) => own(row, table.id) === name) ?? [];
  const [only] = rows;
  if (!table || !only) throw new UsageError(`the contract has no "${name}"`);
  if (rows.length > 1) return listOf({ ...table, rows });
  const values = own(only, 'values');
  if (Array.isArray(values) && output.format === 'id') {
    return { kind: 'list', rows: forTable(values.map((id) => ({ id }))), columns: [] };
  }
  return { kind: 'record', record: only, columns: table.columns, id: table.id };
}

/**
 * Finds the name as spelled in the contract. `METHOD PATH` finds the operation with that method and path.
 * @throws UsageError.
 */
function resolve(name: string, topics: Readonly<Record<string, Table>>): string {
  const names = [
    ...Object.keys(topics),
    ...Object.values(topics).flatMap(({ rows, id }) => rows.map((row) => String(own(row, id)))),
  ];
  const requested = name.trim().toLowerCase();
  const endpoint = operationRows.find(({ method, path }) => `${method} ${path}`.toLowerCase() === requested);
  const found =
    endpoint?.name ?? names.find((it) => it === name) ?? names.find((it) => it.toLowerCase() === requested);
  if (found !== undefined) return String(found);
  const near = [...new Set(names)].filter((it) => isNear(it, requested)).slice(0, 5);
  const suggestion = near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
  throw new UsageError(`the contract has no "${name}"${suggestion}`, {
    next: [{ command: 'errand schema', when: 'to see all names' }],
  });
}

/** Whether one name contains the other, ignoring case, punctuation and plurals. */
function isNear(name: string, requested: string): boolean {
  const [a, b] = [name, requested].map((text) => text.toLowerCase().replace(/[^a-z]|s/g, ''));
  if (a === undefined || b === undefined || b.length < 3) return false;
  return a.includes(b) || (a.length > 4 && b.includes(a));
}

const operationRows = Object.entries<Operation>(operations).map(
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

const operationColumns: readonly Column[] = [
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

const operationDetailColumns: readonly Column[] = [
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

/** Everything that the operations table states about one operation. */
function operationRecord(name: OperationName): Output<'ContractOperation'> {
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
function boundsText({ min, max, min_length: minLength, max_length: maxLength }: JsonObject): string {
  const range = (lower: unknown, upper: unknown): string => {
    if (lower !== undefined && upper !== undefined) return `${lower} to ${upper}`;
    return lower !== undefined ? `at least ${lower}` : upper !== undefined ? `at most ${upper}` : '';
  };
  const length = range(minLength, maxLength);
  return range(min, max) || (length && `${length} characters`);
}

/** A part of the contract that renders as a plain table. */
interface Table {
  readonly summary: string;
  readonly columns: readonly Column[];
  /** Field that identifies a row. */
  readonly id: string;
  readonly rows: readonly Output<'ContractRow'>[];
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
  readonly value?: number;
}

const nameColumn: Column = { name: 'name', path: 'name', weight: 9 };

const bounds = (bound: number | Bounds): Bounds =>
  typeof bound === 'number' ? { value: bound } : { ...bound };

const errorRows: Table['rows'] = [
  ...Object.entries(errorCodes).map(([code, row]) => ({ code, kind: 'code' as const, ...row })),
  ...Object.entries(errorTypes).map(([code, { group, hint, ...row }]) => ({
    code,
    kind: 'error_type' as const,
    group,
    ...('relaxedBy' in row && { relaxed_by: row.relaxedBy }),
    hint,
    ...('observed' in row && { observed: true }),
  })),
];

/** Enums, limits, events and errors of the contract, by the name used to request them. */
const tables = {
  enums: {
    summary: 'every closed list of values',
    id: 'name',
    columns: [nameColumn, { name: 'values', path: 'values', weight: 8 }],
    rows: Object.entries(enums).map(([name, values]) => ({ name, values })),
  },
  limits: {
    summary: 'every bound; money in cents, time in seconds',
    id: 'name',
    columns: [
      nameColumn,
      ...['min', 'max', 'default', 'value'].map((name) => ({ name, path: name, kind: 'count' as const })),
    ],
    rows: Object.entries(limits).map(([name, bound]) => ({ name, ...bounds(bound) })),
  },
  events: {
    summary: 'every webhook event',
    id: 'name',
    columns: [nameColumn, { name: 'sent when', path: 'sent_when', weight: 8 }],
    rows: Object.entries(webhookEvents).map(([name, when]) => ({ name, sent_when: when })),
  },
  errors: {
    summary: 'every error code and error_type, with status and what to do',
    id: 'code',
    columns: [
      { name: 'code', path: 'code', weight: 9 },
      { name: 'kind', path: 'kind', weight: 5 },
      { name: 'status', path: 'status', kind: 'count', weight: 7 },
      { name: 'hint', path: 'hint', weight: 8, isProse: true },
      { name: 'group', path: 'group', weight: 4 },
      { name: 'relaxed by', path: 'relaxed_by', weight: 3 },
      { name: 'observed', path: 'observed', kind: 'flag', weight: 2 },
    ],
    rows: errorRows,
  },
} as const satisfies Record<string, Table>;
