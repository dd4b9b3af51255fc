import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { plainBulkFields, planColumns } from '../../../src/api/bulk-columns.ts';
import { orderOfRow, readBulkRow } from '../../../src/api/bulk-row.ts';
import { checkShape } from '../../../src/api/schemas/check.ts';
import { RowKeys, readRows } from '../../../src/bulk/rows.ts';
import { batchesOf } from '../../../src/bulk/upload/batches.ts';
import { inFlight, Window } from '../../../src/bulk/upload/concurrency-limiter.ts';

const headings = 'product_url,max_price_cents,name,address,city,zip,phone';
const line = (n: number) => `https://x.example/${n},5000,Ada Byron,${n} Main St,Austin,78701,5125550100`;
const csv = (...lines: string[]) => [headings, ...lines, ''].join('\n');

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function keysOf(text: string, run = ''): Promise<string[]> {
  const rows = readRows(bytes(text), { name: 'orders.csv', map: {} });
  const keys: string[] = [];
  for await (const batch of batchesOf(rows, new RowKeys(run), 2))
    keys.push(...batch.rows.map((row) => row.idempotency_key ?? ''));
  return keys;
}

test('the keys of a file follow from its rows: the same file has the same', async () => {
  const text = csv(line(1), line(2), line(3));
  expect(await keysOf(text)).toEqual(await keysOf(text));
  expect(new Set(await keysOf(text)).size).toBe(3);
  for (const key of await keysOf(text)) expect(key).toHaveLength(36);
});

test('a row keeps its key when rows are added, taken away or moved, and when it is written another way', async () => {
  const [one, two] = await keysOf(csv(line(1), line(2)));
  expect(await keysOf(csv(line(9), line(2), line(1)))).toEqual([expect.any(String), two, one]);
  const quoted = `${headings},note\n"https://x.example/1", 5000, Ada Byron ,1 Main St,Austin,78701,5125550100,seen\n`;
  expect(await keysOf(quoted)).toEqual([one]);
});

test('equal rows are orders of their own; another run makes new orders; a key of the file stands', async () => {
  const twins = await keysOf(csv(line(1), line(1)));
  expect(new Set(twins).size).toBe(2);
  expect(await keysOf(csv(line(1), line(1)), 'december')).not.toEqual(twins);
  expect(await keysOf(`${headings},idempotency_key\n${line(1)},mine\n`)).toEqual(['mine']);
});

test('a row that is found valid is an order by the contract, whatever its cells hold', () => {
  const plan = planColumns(
    `${headings.replace('_cents', '')},country,quantity,is_gift,gift_message,metadata.a,state`.split(','),
  );
  const cell = (...usual: string[]) =>
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...usual) },
      fc.string(),
      fc.string({ unit: 'grapheme' }),
    );
  const row = fc.tuple(
    cell('https://x.example/1', 'https://x.example/1|http://y.example'),
    cell('1', '0', '99999'),
    cell('Ada Byron', 'A B C'),
    cell('1 Main St'),
    cell('Austin'),
    cell('78701', '78701-1234', '80331'),
    cell('5'),
    cell('', 'us', 'DE'),
    cell('', '2', '1|2'),
    cell('', 'yes', 'no'),
    cell('', 'hello'),
    cell('', 'blue'),
    cell('', 'TX'),
  );
  let valid = 0;
  fc.assert(
    fc.property(row, (cells) => {
      const read = readBulkRow(plan, cells);
      if (read.issues.length > 0) return;
      valid += 1;
      expect(checkShape('OrderCreate', orderOfRow(plan, cells, read), 'body').issues).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
  expect(valid).toBeGreaterThan(0);
});

const asRow = (cells: Readonly<Record<string, string>>) => {
  const order = {
    product_url: 'https://x.example/1',
    max_price: '5000',
    name: 'Ada Byron',
    address_line1: '1 Main St',
    city: 'Austin',
    postal_code: '78701',
    phone_number: '5125550100',
    ...cells,
  };
  const plan = planColumns(Object.keys(order));
  const values = Object.values(order);
  const row = readBulkRow(plan, values);
  return { issues: row.issues, order: orderOfRow(plan, values, row) };
};

const valuesOf = { string: ['R-17', 'R-17'], integer: ['7', 7], boolean: ['yes', true] } as const;

/** A field may need another, so all are there. */
const everyPlainCell = Object.fromEntries(
  plainBulkFields.map(([name, { type }]) => [name, valuesOf[type][0]]),
);

test.each(plainBulkFields)('the cell of the plain field %s reaches the order', (column, { type }) => {
  const [cell, value] = valuesOf[type];
  const { issues, order } = asRow({ ...everyPlainCell, [column]: cell });
  expect(issues).toEqual([]);
  expect(order[column]).toBe(value);
  expect(checkShape('OrderCreate', order, 'body').issues).toBeUndefined();
});

test.each(plainBulkFields.filter(([, { maxLength }]) => maxLength !== undefined))(
  'the cell of %s has the bound of the order, in characters',
  (column, { maxLength = 0 }) => {
    const fullest = asRow({ ...everyPlainCell, [column]: '🎁'.repeat(maxLength) });
    expect(fullest.issues).toEqual([]);
    expect(checkShape('OrderCreate', fullest.order, 'body').issues).toBeUndefined();
    const message = `has more than ${maxLength} characters`;
    const { issues } = asRow({ ...everyPlainCell, [column]: 'x'.repeat(maxLength + 1) });
    expect(issues).toMatchObject([{ column, message }]);
  },
);

async function* numbers(count: number, taken: number[]): AsyncGenerator<number> {
  for (let at = 0; at < count; at += 1) {
    taken.push(at);
    yield at;
  }
}

test('pieces of work run side by side within bounds, and every result comes out once', async () => {
  let running = 0;
  let peak = 0;
  let time = 0;
  const results: number[] = [];
  const work = async (piece: number): Promise<number> => {
    running += 1;
    peak = Math.max(peak, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return piece;
  };
  for await (const result of inFlight(numbers(50, []), work, { limit: 4, now: () => (time += 1) }))
    results.push(result);
  expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  expect(peak).toBe(4);
});

test('what ends while an earlier result is worked on is not lost', async () => {
  const [results, ends]: [number[], (() => void)[]] = [[], []];
  const work = async (piece: number): Promise<number> => {
    await new Promise<void>((resolve) => ends.push(resolve));
    return piece;
  };
  // Wide enough that the end of the source is known by then.
  const limiter = new Window(5);
  for (let count = 0; count < 5; count += 1) limiter.responded(1);
  const flow = inFlight(numbers(4, []), work, { window: limiter, now: () => 0 });
  const first = flow.next();
  await vi.waitFor(() => expect(ends).toHaveLength(4));
  ends[0]?.();
  results.push(Number((await first).value));
  // The others end between two results.
  for (const end of ends) end();
  await new Promise((resolve) => setImmediate(resolve));
  for await (const result of flow) results.push(result);
  expect(results.toSorted()).toEqual([0, 1, 2, 3]);
});

test('after a failure nothing more is begun, what is under way ends, and the failure is told', async () => {
  const taken: number[] = [];
  const done: number[] = [];
  const work = async (piece: number): Promise<number> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (piece === 3) throw new Error('the third');
    done.push(piece);
    return piece;
  };
  const run = async () => {
    for await (const _ of inFlight(numbers(1000, taken), work, { limit: 4, now: () => 0 }));
  };
  await expect(run()).rejects.toThrow('the third');
  expect(taken.length).toBeLessThan(15);
});
