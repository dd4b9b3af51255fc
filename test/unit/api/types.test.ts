import { expect, test } from 'vitest';
import { operationTable } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { type Received, type ReceivedRow, valueAt } from '../../../src/api/received.ts';
import type { Shape } from '../../../src/api/schemas/index.ts';
import { listCommand } from '../../../src/cli/list-command.ts';
import type { Column } from '../../../src/format/result.ts';
import type { Client } from '../../../src/http/client.ts';
import { pages } from '../../../src/http/paging.ts';
import { optionsFrom } from '../../../src/run/from-contract.ts';

type Order = Shape<'OrderResponse'>;

/** Checked by the type checker: an @ts-expect-error fails if the line below it compiles. */
const columns: readonly Column<Order>[] = [
  { name: 'status', path: 'status' },
  { name: 'url', path: 'items.0.url' },
  { name: 'computed', path: 'no_wire_path', value: (order) => order.status },
  // @ts-expect-error a misspelt path
  { name: 'status', path: 'stattus' },
  // @ts-expect-error a misspelt path inside a list
  { name: 'url', path: 'items.0.urll' },
  // @ts-expect-error a misspelt path inside a record
  { name: 'total', path: 'job_result.price_components.totall', kind: 'money' },
  // @ts-expect-error a misspelt field in a computed column
  { name: 'computed', path: 'no_wire_path', value: (order) => order.stattus },
  // @ts-expect-error the currency of a money column
  { name: 'total', path: 'max_price', kind: 'money', currency: 'currencyy' },
];

function records(order: Received<'order.get'>, row: ReceivedRow<'order.list'>): unknown[] {
  const certain: string = order.id;
  // @ts-expect-error what is not essential may be missing, or of another type
  const uncertain: string = order.po_number;
  // @ts-expect-error a row's id is not certain either
  const id: string = row.id;
  return [
    certain,
    uncertain,
    id,
    valueAt<Order>(order, 'job_result.price_components.total'),
    // @ts-expect-error a misspelt path
    valueAt<Order>(order, 'job_result.price_components.totall'),
    // @ts-expect-error a misspelt field
    order.stattus,
    // @ts-expect-error a misspelt field of a row
    row.stattus,
  ];
}

async function calls(client: Client): Promise<void> {
  await client.call('order.list', { query: { status_filter: 'pending' } });
  // @ts-expect-error a misspelt filter
  await client.call('order.list', { query: { status_filterr: 'pending' } });
  for await (const { rows } of pages(client, 'order.list', {}, { all: true })) {
    // @ts-expect-error a misspelt field of a paged row
    for (const { stattus } of rows) expect(stattus).toBeUndefined();
  }
}

const row = {
  method: 'GET',
  path: '/things/{thing_id}',
  surface: 'current',
  summary: 'A row of the table',
  auth: 'bearer',
  pathParameters: { thing_id: { type: 'uuid', description: 'id' } },
  query: { from: { type: 'string', description: 'from' }, to: { type: 'string', description: 'to' } },
  response: { status: 200, type: 'json', schema: 'OrderListResponse' },
  errors: [],
  retry: 'safe',
} as const;

const response = { status: 200, type: 'json', schema: 'OrderListResponse' } as const;

const rows = [
  operationTable({ ok: row }),
  operationTable({ ok: { ...row, rules: [{ together: ['from', 'to'] }] } }),
  // @ts-expect-error a rule over a parameter that the row does not have
  operationTable({ wrong: { ...row, rules: [{ together: ['from', 'tto'] }] } }),
  // @ts-expect-error a name in the path template that is no parameter
  operationTable({ wrong: { ...row, path: '/things/{thingg_id}' } }),
  operationTable({ ok: { ...row, response: { ...response, rows: 'orders' } } }),
  // @ts-expect-error rows that the shape does not have
  operationTable({ wrong: { ...row, response: { ...response, rows: 'orderss' } } }),
  operationTable({ ok: { ...row, response: { ...response, essential: { total: 'number' } } } }),
  // @ts-expect-error an essential field that the shape does not have
  operationTable({ wrong: { ...row, response: { ...response, essential: { totall: 'number' } } } }),
];

const listing = { summary: '', what: 'orders', empty: '', examples: [], related: [] } as const;
const lists = [
  listCommand('order.list', { ...listing, columns: [{ name: 'id', path: 'id' }] }),
  // @ts-expect-error a misspelt path of a column
  listCommand('order.list', { ...listing, columns: [{ name: 'id', path: 'idd' }] }),
  // @ts-expect-error a filter that the row does not have
  listCommand('order.list', { ...listing, columns: [], filters: { rename: { statuss_filter: 'status' } } }),
];

const exported = optionsFrom(operations['order.export'], { rename: { status_filter: 'status' } });
const queries = [
  exported.toQuery({ status: 'pending', orderId: 'x' }),
  // @ts-expect-error the option has another name than its parameter
  exported.toQuery({ statusFilter: 'pending' }),
  // @ts-expect-error a misspelt option
  exported.toQuery({ orderIdd: 'x' }),
  // @ts-expect-error a parameter that the row does not have
  optionsFrom(operations['order.export'], { rename: { statuss_filter: 'status' } }),
];

test('what is refused above is refused by the type checker alone', () => {
  expect(columns.map(({ name }) => name)).toContain('url');
  expect(rows.every((table) => Object.values(table).length === 1)).toBe(true);
  expect([records, calls]).toHaveLength(2);
  expect(lists.every(({ name }) => name === 'list')).toBe(true);
  expect(queries[0]).toEqual({ status_filter: 'pending', order_id: 'x' });
});

test('a path reads own properties through records and lists', () => {
  const order = { items: [{ url: 'https://shop.test/a' }], status: 'pending' };
  expect(valueAt<Order>(order, 'items.0.url')).toBe('https://shop.test/a');
  expect(valueAt<Order>(order, 'items.1.url')).toBeUndefined();
  expect(valueAt<{ constructor: { name: string } }>(order, 'constructor.name')).toBeUndefined();
  expect(valueAt<Order>(null, 'status')).toBeUndefined();
});

test('the table of operations is returned as it was written', () => {
  expect(operations['order.get'].response.essential).toEqual({ id: 'id', status: 'text' });
});

test('half of a pair is refused by the name of its flag', () => {
  expect(() => exported.toQuery({ metadataKey: 'team' })).toThrow('--metadata-key needs --metadata-value');
  expect(exported.toQuery({ metadataKey: 'team', metadataValue: 'web' })).toEqual({
    metadata_key: 'team',
    metadata_value: 'web',
  });
});
