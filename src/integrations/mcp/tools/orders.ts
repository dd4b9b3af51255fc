import { isObject } from '../../../api/json.ts';
import type { Operation, ParameterValues } from '../../../api/operation.ts';
import { type OperationName, operations } from '../../../api/operations/index.ts';
import { ReturnRequestCreate } from '../../../api/schemas/return.ts';
import { UnavailableError } from '../../../http/errors.ts';
import { cancelOrder } from '../../../orders/cancel.ts';
import { explain } from '../../../orders/explain/explain.ts';
import { referenceQuery } from '../../../orders/needs/reference-filter.ts';
import { observeOrder } from '../../../orders/observed.ts';
import { requestReturn } from '../../../orders/place-return.ts';
import { watchOrders } from '../../../orders/watch.ts';
import { paceFor, untilValues } from '../../../orders/watch-policy.ts';
import { UsageError } from '../../../platform/errors.ts';
import { argumentSchema, maxTextLength, parametersOf, z } from '../arguments.ts';
import { defineTool } from '../tool.ts';
import { flag, listOf, optionalText, record, shown, text } from './shapes.ts';

const { 'order.get': reading, 'order.list': listing } = operations;
const fewOrders = 10;

/** The order id parameter of tools. */
const orderId = parametersOf(reading);
type OrderId = { order_id: string };

export const orderGet = defineTool({
  name: 'order_get',
  title: 'Read an order',
  description: `${reading.summary}: status, items, tracking, price. Amounts are in cents.`,
  effect: 'reads',
  arguments: z.strictObject(orderId),
  output: () => ({ order: shown('OrderResponse') }),
  certain: ['order'],
  untrusted: ['order'],
  async run({ context }, given) {
    const client = await context.client();
    const { body: order } = await client.call('order.get', { path: given as OrderId });
    await observeOrder(context, order);
    return { record: { order } };
  },
});

export const orderList = defineTool({
  name: 'order_list',
  title: 'List orders',
  description: `${listing.summary}.`,
  effect: 'reads',
  arguments: z.strictObject({
    ...parametersOf(listing, [
      ...['limit', 'offset', 'search', 'status_filter', 'tracking_status', 'return_status'],
      ...['created_after', 'created_before', 'metadata_key', 'metadata_value'],
    ]),
    reference: z
      .string()
      .max(maxTextLength)
      .describe("the buyer's own name for the order, exact; not with metadata_key")
      .optional(),
    namespace: z.string().max(maxTextLength).describe('with reference: who numbers it').optional(),
  }),
  output: () => ({
    orders: listOf(shown('OrderResponse'), 'newest first'),
    total: { type: ['integer', 'null'], description: 'how many there are in all' },
  }),
  certain: ['orders'],
  untrusted: ['orders'],
  async run({ context }, given) {
    const client = await context.client();
    const { reference, namespace, ...filters } = given;
    const named = referenceQuery({ reference, namespace }, filters, 'fields');
    const { body } = await client.call('order.list', { query: { limit: fewOrders, ...filters, ...named } });
    return { record: { orders: body.orders, total: body.total ?? null } };
  },
});

/**
 * Default and maximum duration of a watch, in seconds. A client may give up on a call that takes longer than a minute.
 */
const watchSeconds = { usual: 30, most: 300 };

export const orderWatch = defineTool({
  name: 'order_watch',
  title: 'Wait for an order',
  description:
    'Waits until an order is placed or delivered, has failed, or the time is over; then gives it as it stands. Call it again to go on waiting.',
  effect: 'reads',
  arguments: z.strictObject({
    ...orderId,
    until: z.enum(untilValues).default('delivered').describe('what to wait for'),
    wait_seconds: z
      .int()
      .min(1)
      .max(watchSeconds.most)
      .default(watchSeconds.usual)
      .describe('how long to wait at most'),
  }),
  output: () => ({
    order: shown('OrderResponse'),
    outcome: text('reached, failed, or waiting: the time was over first'),
  }),
  certain: ['order', 'outcome'],
  untrusted: ['order'],
  async run({ context, progress }, given) {
    const { order_id: id, until, wait_seconds: seconds } = given as WatchGiven;
    const started = context.clock.monotonic();
    const events = watchOrders(context, [id], {
      until,
      allowMissing: false,
      timeoutMs: seconds * 1000,
      pace: {
        ...paceFor(context.isRehearsal(), seconds * 1000),
        maxMs: context.isRehearsal() ? 5_000 : seconds * 1000,
      },
    });
    let last: { readonly order: unknown; readonly outcome: string } | undefined;
    let outage = 'no response came';
    for await (const event of events) {
      if (event.type === 'gap') outage = event.message;
      if (event.type !== 'change') continue;
      last = { order: event.order, outcome: event.verdict };
      const passed = Math.round((context.clock.monotonic() - started) / 1000);
      await progress(Math.min(passed, seconds), seconds, `${id} is ${String(event.order.status)}`);
    }
    if (!last)
      throw new UnavailableError(`the order ${id} could not be read within ${seconds} s: ${outage}`, {
        retryable: true,
        hint: 'Nothing changed. Call order_watch again later.',
      });
    return { record: last };
  },
});

interface WatchGiven extends OrderId {
  readonly until: (typeof untilValues)[number];
  readonly wait_seconds: number;
}

export const orderExplain = defineTool({
  name: 'order_explain',
  title: 'Explain an order',
  description:
    'The whole story of one order: who asked, what the policy said, each attempt, every cent, why it failed, and what is still open. Takes the id of an order, or the idempotency key of one in doubt.',
  effect: 'reads',
  arguments: z.strictObject({
    id: z.string().min(1).max(100).describe('id of the order, or its idempotency key'),
  }),
  output: () => ({
    id: optionalText('of the order'),
    status: text('as the service has it, or of the record in the journal'),
    summary: text('in one or two sentences'),
    products: listOf({ type: 'string' }, 'URLs'),
    why: listOf({ type: 'object' }, 'why it failed, and what to do'),
    policy: { type: ['object', 'null'], description: 'what the policy holds for it' },
    steps: listOf({ type: 'object' }, 'what the audit chain tells, in its order'),
    milestones: listOf({ type: 'object' }, 'what the service tells'),
    price: { type: ['object', 'null'], description: 'what it cost, in cents' },
    money: { type: ['object', 'null'], description: 'each cent held, charged, refunded and credited' },
    returns: listOf({ type: 'object' }, 'returns of it'),
    open: listOf(
      record({ what: text('what is open'), command: optionalText('what a person can run') }),
      'what is still owed or to be done',
    ),
  }),
  certain: ['status', 'summary'],
  untrusted: ['summary', 'why', 'milestones', 'returns'],
  async run({ context }, given) {
    const { story } = await explain(context, (given as { id: string }).id);
    return { record: { ...story } };
  },
});

/**
 * Offers only operations that read and cost nothing. An operation paid by challenge spends money, whatever its method.
 */
const isOffered = ({ method, surface, auth, response }: Operation): boolean =>
  method === 'GET' &&
  surface === 'current' &&
  (auth === 'none' || auth === 'bearer') &&
  response.type === 'json';

/**
 * Operations that no model needs: the one for the complete service description, and the one for the link that claims
 * the sandbox.
 */
const leftOut: readonly string[] = ['openapi.get', 'sandbox.status'];

const all: Readonly<Record<string, Operation>> = operations;
const offered = Object.keys(all).filter((name) => {
  const operation = all[name];
  return operation !== undefined && isOffered(operation) && !leftOut.includes(name);
});

const operationName = z.string().min(1).max(100).describe('as describe_operation lists it');

/** @throws UsageError if the operation is not offered. */
function offeredOperation(name: string): { readonly name: OperationName; readonly operation: Operation } {
  const operation = offered.includes(name) ? all[name] : undefined;
  // The cast is safe, because all offered names come from the operations table.
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
    'Without a name, lists the operations that call_operation takes; with one, its path, its query and the fields of its response. With the name of a tool, every field that the tool gives.',
  effect: 'reads',
  arguments: z.strictObject({
    operation: operationName.optional(),
    tool: z.string().min(1).max(100).describe('a tool of this server, in place of an operation').optional(),
  }),
  output: () => ({
    operations: listOf(
      record({ operation: text('its name'), summary: text('what it reads') }),
      'those that call_operation takes',
    ),
    method: text('GET'),
    path: text('template'),
    parameters: { type: 'object', description: 'JSON Schemas of path and query' },
    response: { type: 'object', description: 'JSON Schema of what it gives' },
    note: optionalText('more'),
  }),
  certain: [],
  async run({ outputOf }, given) {
    const { operation: name, tool } = given as { operation?: string; tool?: string };
    if (tool !== undefined) {
      const response = outputOf(tool);
      if (response && name === undefined) return { record: { response } };
      throw response
        ? new UsageError('operation and tool exclude each other; give one')
        : new UsageError(`there is no tool ${tool}; the list of tools has them all`, {
            code: 'unknown_tool',
          });
    }
    if (name === undefined)
      return {
        record: {
          operations: offered.map((one) => ({ operation: one, summary: all[one]?.summary ?? '' })),
        },
      };
    const { operation } = offeredOperation(name);
    const { pathParameters = {}, query = {}, method, path, response } = operation;
    const schemaOf = (names: readonly string[]) =>
      argumentSchema(z.strictObject(parametersOf(operation, names)));
    return {
      record: {
        operations: [{ operation: name, summary: operation.summary }],
        method,
        path,
        parameters: { path: schemaOf(Object.keys(pathParameters)), query: schemaOf(Object.keys(query)) },
        ...(response.type === 'json' && { response: shown(response.schema) }),
      },
    };
  },
});

const scalar = z.union([z.string().max(maxTextLength), z.number(), z.boolean()]);
const values = z.record(
  z.string().max(100),
  z.union([scalar, z.array(z.string().max(maxTextLength)).max(50)]),
);

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
    const { operation: requested, path = {}, query = {} } = given as CallGiven;
    const { name } = offeredOperation(requested);
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
/**
 * A type that stands for the name of any offered operation. The exact type does not matter, because the client
 * validates path and query against the table.
 */
type Readable = 'order.list';

export const orderCancel = defineTool({
  name: 'order_cancel',
  title: 'Cancel an order',
  description: 'Cancels an order that is still pending. One that was processed already cannot be cancelled.',
  effect: 'changes',
  isIdempotent: true,
  arguments: z.strictObject(orderId),
  output: () => ({ order_id: text('of the order'), status: text('cancelled') }),
  certain: ['order_id', 'status'],
  async run({ context }, given) {
    const { order_id: id } = given as { order_id: string };
    await cancelOrder(context, id);
    return { record: { order_id: id, status: 'cancelled' } };
  },
});

export const returnCreate = defineTool({
  name: 'return_create',
  title: 'Ask to return items',
  description:
    'Asks the retailer to take back items of a placed order. The ids of items stand in order_get. The same return again is the same return.',
  effect: 'changes',
  isIdempotent: true,
  arguments: z.strictObject({
    ...ReturnRequestCreate().shape,
    notes: z.string().max(2000).optional().describe('more for the retailer'),
  }),
  output: () => ({
    return: shown('ReturnRequest'),
    existed: flag('it had been asked for before; nothing was asked for twice'),
  }),
  certain: ['return', 'existed'],
  untrusted: ['return'],
  async run({ context }, body) {
    await context.ready();
    const { order, existed } = await requestReturn(context, body, { isNew: false });
    return { record: { return: order, existed } };
  },
});
