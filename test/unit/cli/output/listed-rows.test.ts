import { expect, test } from 'vitest';
import type { Column, LastListRows, ListResult, OutputOptions, Row } from '../../../../src/format/result.ts';
import { printed } from '../../../support/streams.ts';

const uuid = (number: number): string =>
  `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
const columns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', names: 'orders', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'total', path: 'total', kind: 'money', weight: 6 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 8 },
  { name: 'url', path: 'url', weight: 1 },
];
const orders = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: uuid(index + 1), status: 'pending', total: 1999 }));
const list = (rows: ListResult['rows'], more: Partial<ListResult> = {}): ListResult => ({
  kind: 'list',
  rows,
  columns,
  ...more,
});

const terminal = { terminal: true, columns: 80 };

async function kept(result: ListResult, options: Partial<OutputOptions> = {}, stdout: object = terminal) {
  const told: LastListRows[] = [];
  const { out } = await printed(
    result,
    { onListed: async (rows) => void told.push(rows), ...options },
    stdout,
  );
  return { lines: out.split('\n').slice(0, -1), told };
}

test('each row of a terminal has its number, its short id, and is kept with what it is known by', async () => {
  const { lines, told } = await kept(list(orders(2)));
  expect(lines).toEqual([
    '@  ID        STATUS      TOTAL  CREATED  URL',
    '1  00000001  ● pending  $19.99',
    '2  00000002  ● pending  $19.99',
  ]);
  const row = { label: 'pending, $19.99', facts: {} };
  expect(told).toEqual([{ kind: 'orders', rows: [1, 2].map((number) => ({ id: uuid(number), ...row })) }]);
});

test('a pipe has neither, and nothing is kept', async () => {
  const { lines, told } = await kept(list(orders(1)), {}, {});
  expect(lines).toEqual([
    'ID                                    STATUS    TOTAL  CREATED  URL',
    `${uuid(1)}  pending  $19.99`,
  ]);
  expect(told).toEqual([]);
});

test('whatever the format, what a terminal was shown can be named by its number', async () => {
  for (const format of ['json', 'ndjson', 'csv', 'id'] as const) {
    const { lines, told } = await kept(list(orders(3)), { format });
    expect(lines.join('\n')).toContain(uuid(3));
    expect(told[0]?.rows[2]?.id).toBe(uuid(3));
  }
});

test('columns that are named stand whole, beside the numbers', async () => {
  const { lines } = await kept(list(orders(1)), { fields: ['total', 'id'] });
  expect(lines).toEqual(['@   TOTAL  ID', `1  $19.99  ${uuid(1)}`]);
});

test('rows that the command line named are not numbered anew, nor are rows that nothing names', async () => {
  for (const result of [
    list(orders(1), { isByName: true }),
    { ...list(orders(1)), columns: columns.slice(1) },
    { ...list(orders(1)), id: 'status' },
  ]) {
    const { lines, told } = await kept(result);
    expect(lines[0]).not.toContain('@');
    expect(told).toEqual([]);
  }
});

test('an empty list takes the place of the one before', async () => {
  expect((await kept(list([]))).told).toEqual([{ kind: 'orders', rows: [] }]);
});

test('a row without an id has a number that names nothing; facts that are no texts are left out', async () => {
  const rows = [{ status: 'pending' }, { id: '', status: 'pending' }, { id: 7, url: 'u', price: 3 }];
  const { told } = await kept(list(rows, { facts: ({ url, price }) => ({ url, price }) }));
  expect(told[0]?.rows).toEqual([null, null, { id: '7', label: '', facts: { url: 'u' } }]);
});

test('of a long list the first thousand rows have numbers, in a column that has room for them', async () => {
  const { lines, told } = await kept(list(orders(1002)));
  expect(lines[0]).toMatch(/^ {3}@ {2}ID/);
  expect(lines[1000]).toMatch(/^1000 {2}000003e8/);
  expect(lines[1001]).toMatch(/^ {6}000003e9/);
  expect(told[0]?.rows).toHaveLength(1000);
});

test('what came before a failure is kept, as it was shown', async () => {
  async function* failing() {
    yield* orders(2);
    throw new Error('the service is gone');
  }
  const told: LastListRows[] = [];
  const options = { onListed: async (rows: LastListRows) => void told.push(rows) };
  await expect(printed(list(failing()), { format: 'ndjson', ...options }, terminal)).rejects.toThrow('gone');
  expect(told[0]?.rows).toHaveLength(2);
});
