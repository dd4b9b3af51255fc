import { isObject } from '../../../api/json.ts';
import type { Operation } from '../../../api/operation.ts';
import { type OperationName, operations } from '../../../api/operations/index.ts';
import type { ParameterValues } from '../../../api/parameters.ts';
import { UsageError } from '../../../platform/errors.ts';
import { argumentSchema, longestText, parametersOf, z } from '../arguments.ts';
import { defineTool } from '../tool.ts';
import { listOf, optionalText, record, text } from './shapes.ts';

/** Only what reads, and costs nothing: an operation that is paid by challenge spends, whatever its method. */
const isOffered = ({ method, surface, auth, response }: Operation): boolean =>
  method === 'GET' &&
  surface === 'current' &&
  (auth === 'none' || auth === 'bearer') &&
  response.type === 'json';

/** What no model needs: the document of the whole service; the link that makes the sandbox somebody's. */
const leftOut: readonly string[] = ['openapi.get', 'sandbox.status'];

const all: Readonly<Record<string, Operation>> = operations;
const offered = Object.keys(all).filter((name) => {
  const operation = all[name];
  return operation !== undefined && isOffered(operation) && !leftOut.includes(name);
});

const operationName = z.string().min(1).max(100).describe('as describe_operation lists it');

/** @throws UsageError for an operation that is not offered. */
function offeredOperation(name: string): { readonly name: OperationName; readonly operation: Operation } {
  const operation = offered.includes(name) ? all[name] : undefined;
  // What is offered is a name of the table.
  if (operation) return { name: name as OperationName, operation };
  const known = Object.hasOwn(all, name) ? all[name] : undefined;
  const why = known
    ? `${name} is ${known.method} ${known.path}, and is none of those that only read and are offered`
    : 'there is no operation of this name';
  throw new UsageError(`${why}; offered are ${offered.join(', ')}`, { code: 'operation_not_offered' });
}

export const describeOperation = defineTool({
  name: 'describe_operation',
  title: 'Describe what else can be read',
  description:
    'Without a name, lists the operations that call_operation takes; with one, its path and query.',
  effect: 'reads',
  arguments: z.strictObject({ operation: operationName.optional() }),
  output: () => ({
    operations: listOf(
      record({ operation: text('its name'), summary: text('what it reads') }),
      'those that call_operation takes',
    ),
    method: text('GET'),
    path: text('template'),
    parameters: { type: 'object', description: 'JSON Schemas of path and query' },
    note: optionalText('more'),
  }),
  certain: [],
  async run(_call, given) {
    const { operation: name } = given as { operation?: string };
    if (name === undefined)
      return {
        record: {
          operations: offered.map((one) => ({ operation: one, summary: all[one]?.summary ?? '' })),
        },
      };
    const { operation } = offeredOperation(name);
    const { pathParameters = {}, query = {}, method, path } = operation;
    const schemaOf = (names: readonly string[]) =>
      argumentSchema(z.strictObject(parametersOf(operation, names)));
    return {
      record: {
        operations: [{ operation: name, summary: operation.summary }],
        method,
        path,
        parameters: { path: schemaOf(Object.keys(pathParameters)), query: schemaOf(Object.keys(query)) },
      },
    };
  },
});

const scalar = z.union([z.string().max(longestText), z.number(), z.boolean()]);
const values = z.record(z.string().max(100), z.union([scalar, z.array(z.string().max(longestText)).max(50)]));

export const callOperation = defineTool({
  name: 'call_operation',
  title: 'Read anything else',
  description:
    'Calls an operation of the service that only reads. Path and query are checked against its description; nothing that spends or changes can be called.',
  effect: 'reads',
  arguments: z.strictObject({
    operation: operationName,
    path: values.optional().describe('values for the path'),
    query: values.optional().describe('values for the query'),
  }),
  output: () => ({
    status: { type: 'integer' },
    body: { type: 'object', description: 'as the service sent it' },
  }),
  certain: ['status', 'body'],
  untrusted: ['body'],
  async run({ context }, given) {
    const { operation: wanted, path = {}, query = {} } = given as CallGiven;
    const { name } = offeredOperation(wanted);
    const client = await context.client();
    const { status, body } = await client.call(name as Readable, { path, query } as never);
    return { record: { status, body: isObject(body) ? body : {} } };
  },
});

interface CallGiven {
  readonly operation: string;
  readonly path?: ParameterValues;
  readonly query?: ParameterValues;
}
/** Path and query are checked by the client, against the table. */
type Readable = 'order.list';
