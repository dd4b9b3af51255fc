import { describe, expect, test } from 'vitest';
import { readPath } from '../../../src/format/path.ts';
import type { Column } from '../../../src/format/result.ts';
import { printed } from '../../support/streams.ts';

const columns: readonly Column[] = [
  { name: 'id', path: 'id' },
  { name: 'total', path: 'total', kind: 'money', value: () => 1234 },
];
const order = { id: 'a', status: 'pending', items: [{ url: 'u1' }, { url: 'u2' }], metadata: { team: 'x' } };
const list = { kind: 'list', rows: [order], columns } as const;

describe('--fields', () => {
  test('picks and orders, with the paths as flat keys, null where nothing is', async () => {
    const fields = ['items.1.url', 'id', 'nothing.0.here', 'metadata.team', 'total'];
    const { out } = await printed(list, { format: 'ndjson', fields });
    expect(out).toBe(
      '{"items.1.url":"u2","id":"a","nothing.0.here":null,"metadata.team":"x","total":1234}\n',
    );
    expect((await printed(list, { format: 'yaml', fields: ['id', 'none'] })).out).toBe(
      '- id: a\n  none: null\n',
    );
  });

  test('picks the columns of tables and CSV, keeping how a known column looks', async () => {
    const fields = ['total', 'items.0.url', 'no'];
    expect((await printed(list, { format: 'csv', fields })).out).toBe('total,items.0.url,no\n1234,u1,\n');
    expect((await printed(list, { fields })).out).toBe(' TOTAL  ITEMS.0.URL  NO\n$12.34  u1\n');
  });

  test('a path reads own properties only', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'toString',
      'items.map',
      'id.length',
      'metadata.constructor.name',
    ]) {
      expect(readPath(order, path)).toBeUndefined();
    }
    expect(readPath({ metadata: JSON.parse('{"__proto__": 5}') }, 'metadata.__proto__')).toBe(5);
    expect(readPath(null, 'id')).toBeUndefined();
    expect(readPath('text', '0')).toBeUndefined();
  });
});

describe('-o id', () => {
  test('is one id a line, from the path that the result names', async () => {
    const rows = [{ id: 'a', order_id: '1' }, { id: 'b', order_id: '2' }, { other: 1 }];
    expect((await printed({ kind: 'list', rows, columns }, { format: 'id' })).out).toBe('a\nb\n');
    expect((await printed({ kind: 'list', rows, columns, id: 'order_id' }, { format: 'id' })).out).toBe(
      '1\n2\n',
    );
    expect((await printed({ kind: 'record', record: order, columns }, { format: 'id' })).out).toBe('a\n');
  });

  test('never makes two lines of one id', async () => {
    const rows = [{ id: 'a\nb' }];
    expect((await printed({ kind: 'list', rows, columns }, { format: 'id' })).out).toBe('a⏎b\n');
  });
});
