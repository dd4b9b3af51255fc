import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Row } from '../../../../src/format/result.ts';
import { printed } from '../../../support/streams.ts';

const records = fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), { maxLength: 5 });
const list = (rows: readonly unknown[]) => ({ kind: 'list', rows: rows as Row[], columns: [] }) as const;

describe('JSON', () => {
  test('a list is one array, indented like JSON.stringify does it', async () => {
    const rows = [
      { id: 'a', items: [{ url: 'x' }], none: null },
      { id: 'b', empty: [], object: {} },
    ];
    expect((await printed(list(rows), { format: 'json' })).out).toBe(`${JSON.stringify(rows, null, 2)}\n`);
  });

  test('an empty list is an empty array', async () => {
    expect((await printed(list([]), { format: 'json' })).out).toBe('[]\n');
    expect((await printed(list([]), { format: 'ndjson' })).out).toBe('');
  });

  test('a record is itself, unknown fields kept', async () => {
    const record = { id: 'a', new_field: { deep: [1] } };
    const result = { kind: 'record', record, columns: [{ name: 'id', path: 'id' }] } as const;
    expect((await printed(result, { format: 'json' })).out).toBe(`${JSON.stringify(record, null, 2)}\n`);
    expect((await printed(result, { format: 'ndjson' })).out).toBe(`${JSON.stringify(record)}\n`);
  });

  test('whatever the records hold, the output parses back to them and shows nothing hidden', async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.constantFrom('json', 'ndjson'), async (rows, format) => {
        const { out } = await printed(list(rows), { format });
        const read =
          format === 'json'
            ? JSON.parse(out)
            : out
                .split('\n')
                .slice(0, -1)
                .map((line) => JSON.parse(line));
        expect(read).toEqual(JSON.parse(JSON.stringify(rows)));
        expect(out.replaceAll('\n', '')).not.toMatch(
          /[\p{Cc}\p{Bidi_Control}\u200b-\u200f\u2028\u2029\ufeff\u{e0000}-\u{e0fff}]/u,
        );
      }),
    );
  });

  test('controls and bidirectional marks are escaped, in every chunk', async () => {
    const rows = Array.from({ length: 3000 }, (_, index) => ({
      id: index,
      title: index % 1000 === 999 ? '\u009b2J\u202e\u{e0041}\u007f' : 'plain',
    }));
    const { out } = await printed(list(rows), { format: 'ndjson' });
    expect(out.split('\n')[999]).toBe('{"id":999,"title":"\\u009b2J\\u202e\\udb40\\udc41\\u007f"}');
    expect(out.split('\n')[2999]).toBe('{"id":2999,"title":"\\u009b2J\\u202e\\udb40\\udc41\\u007f"}');
  });

  test('a key named __proto__ is a key like any other', async () => {
    const record: Row = JSON.parse('{"__proto__": {"x": 1}, "id": "a"}');
    const result = { kind: 'record', record, columns: [] } as const;
    expect((await printed(result, { format: 'ndjson' })).out).toBe('{"__proto__":{"x":1},"id":"a"}\n');
    expect((await printed(result, { format: 'ndjson', fields: ['__proto__', 'constructor'] })).out).toBe(
      '{"__proto__":{"x":1},"constructor":null}\n',
    );
  });
});
