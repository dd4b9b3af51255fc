import { describe, expect, test } from 'vitest';
import { checkQuery } from '../../../../src/cli/output/render.ts';
import { UsageError } from '../../../../src/platform/errors.ts';
import { printed } from '../../../support/streams.ts';

const rows = [
  { id: 'a', status: 'pending', price: 100 },
  { id: 'b', status: 'delivered', price: 200 },
];
const list = { kind: 'list', rows, columns: [{ name: 'id', path: 'id' }] } as const;
const record = { kind: 'record', record: rows[0] ?? {}, columns: list.columns } as const;

describe('--query', () => {
  test.each([
    ['json', '[].id', '[\n  "a",\n  "b"\n]\n'],
    ['json', 'sum([].price)', '300\n'],
    ['json', '[9]', 'null\n'],
    ['yaml', '[].id', '- a\n- b\n'],
    ['ndjson', 'id', '"a"\n"b"\n'],
    ['ndjson', '{s: status}', '{"s":"pending"}\n{"s":"delivered"}\n'],
    ['csv', "[?status=='pending'].{id: id, cents: price}", 'id,cents\na,100\n'],
    ['csv', '[].id', 'a\nb\n'],
    ['tsv', '[].[id, price]', '0\t1\na\t100\nb\t200\n'],
    ['table', '[].{id: id, price: price}', 'ID  PRICE\na   100\nb   200\n'],
    ['table', '[].id', 'a\nb\n'],
    ['table', 'length(@)', '2\n'],
    ['table', '[0]', 'id      a\nstatus  pending\nprice   100\n'],
    ['table', '[9]', ''],
    ['id', '[?price > `150`]', 'b\n'],
    ['id', '[].id', 'a\nb\n'],
  ] as const)('with %s, %s of a list', async (format, query, out) => {
    expect((await printed(list, { format, query })).out).toBe(out);
  });

  test.each([
    ['foo[', 'unclosed `[`'],
    ['length(items', 'unclosed `(`'],
    ["[?status=='paid", "unclosed `'`"],
    ['a[?b == `1]', 'unclosed ```'],
    ['foo]', 'unexpected `]`'],
    ['a b', 'unexpected `b`'],
    ['a..b', 'unexpected `.`'],
    ['a # b', 'unexpected `#`'],
    ['a.', 'it ends too early'],
    ['items[id]', '`[…]` takes a number, `*`, `?` or a slice'],
  ])('%s is refused in words: %s', async (query, why) => {
    await expect(checkQuery(query)).rejects.toThrow(`${JSON.stringify(query)} is not valid JMESPath: ${why}`);
  });

  test.each([
    ['json', 'status', '"pending"\n'],
    ['ndjson', 'status', '"pending"\n'],
    ['table', 'status', 'pending\n'],
    ['csv', '{id: id}', 'id\na\n'],
  ] as const)('with %s, %s of a record', async (format, query, out) => {
    expect((await printed(record, { format, query })).out).toBe(out);
  });

  test('sees what --fields leaves', async () => {
    expect((await printed(list, { format: 'json', fields: ['price'], query: '[0]' })).out).toBe(
      '{\n  "price": 100\n}\n',
    );
  });

  test('reaches no prototype', async () => {
    for (const query of ['constructor', '__proto__', 'toString', 'constructor.constructor']) {
      expect((await printed(record, { format: 'json', query })).out).toBe('null\n');
    }
  });

  test('a wrong expression is refused, naming --query, before anything is read', async () => {
    const unread = { ...list, rows: { [Symbol.iterator]: (): never => expect.unreachable() } };
    for (const query of ['[', '', 'a..b', 'nosuch(@', '[?']) {
      await expect(printed(unread, { format: 'json', query })).rejects.toThrow(UsageError);
      await expect(checkQuery(query)).rejects.toThrow(/^--query/);
    }
  });

  test('an expression that does not fit the data is refused, naming --query, with nothing on stdout', async () => {
    await expect(printed(list, { format: 'json', query: 'sum([].status)' })).rejects.toThrow(/^--query "sum/);
  });

  test('text of the service in a response is made visible', async () => {
    const hostile = { kind: 'list', rows: [{ id: '\u001b[2J\nx' }], columns: [] } as const;
    expect((await printed(hostile, { query: '[].id' })).out).toBe('␛[2J⏎x\n');
    expect((await printed(hostile, { format: 'csv', query: '[].id' }, { terminal: true })).out).toBe(
      '␛[2J⏎x\n',
    );
    expect((await printed({ ...hostile, rows: [{ id: '=1' }] }, { format: 'csv', query: '[].id' })).out).toBe(
      "'=1\n",
    );
  });
});
