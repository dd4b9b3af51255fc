import { describe, expect, test } from 'vitest';
import { layOut } from '../../../../src/cli/output/table.ts';
import type { Column } from '../../../../src/format/result.ts';

const column = (name: string, weight: number, kind: Column['kind'] = 'id'): Column => ({
  name,
  path: name,
  weight,
  kind,
});
const placed = (columns: readonly Column[], natural: readonly number[], limit?: number) => {
  const { shown, hidden } = layOut(columns, natural, limit);
  return { shown: shown.map(({ index, width }) => [columns[index]?.name, width]), hidden };
};

describe('placing columns', () => {
  test('in a pipe every column has its natural width', () => {
    expect(placed([column('a', 1), column('b', 0)], [500, 500])).toEqual({
      shown: [
        ['a', 500],
        ['b', 500],
      ],
      hidden: [],
    });
  });

  test('drops the lowest weight first, of equals the last, and keeps the order of the rest', () => {
    const columns = [column('a', 1), column('b', 3), column('c', 1), column('d', 2)];
    expect(placed(columns, [10, 10, 10, 10], 46)).toEqual({
      shown: [
        ['a', 10],
        ['b', 10],
        ['c', 10],
        ['d', 10],
      ],
      hidden: [],
    });
    expect(placed(columns, [10, 10, 10, 10], 45)).toEqual({
      shown: [
        ['a', 10],
        ['b', 10],
        ['d', 10],
      ],
      hidden: ['c'],
    });
    expect(placed(columns, [10, 10, 10, 10], 33).hidden).toEqual(['a', 'c']);
  });

  test('narrows the widest text, never an amount or id, before it drops anything', () => {
    const columns = [column('id', 1), column('title', 0, 'text'), column('note', 0, 'text')];
    expect(placed(columns, [36, 100, 20], 80)).toEqual({
      shown: [
        ['id', 36],
        ['title', 20],
        ['note', 20],
      ],
      hidden: [],
    });
    expect(placed(columns, [36, 100, 20], 70)).toEqual({
      shown: [
        ['id', 36],
        ['title', 15],
        ['note', 15],
      ],
      hidden: [],
    });
  });

  test('puts back what was dropped before a wide column, where there is room for it', () => {
    const columns = [
      column('id', 10),
      column('status', 9),
      column('delivery', 8),
      column('total', 6),
      column('error', 7),
    ];
    expect(placed(columns, [36, 21, 20, 6, 30], 80)).toEqual({
      shown: [
        ['id', 36],
        ['status', 21],
        ['total', 6],
      ],
      hidden: ['delivery', 'error'],
    });
  });

  test('an id that stands alone and is cut all the same is told as one that was narrowed', () => {
    const { shown, narrowed } = layOut([column('id', 1), column('status', 0)], [36, 12], 30);
    expect(shown).toMatchObject([{ width: 30, cuts: true }]);
    expect(narrowed).toEqual(['id']);
  });

  test('a text keeps the width it asks for, and which ones were narrowed is told', () => {
    const columns = [
      { ...column('title', 2, 'text'), minWidth: 24 },
      column('url', 1, 'url'),
      column('note', 3, 'text'),
    ];
    const { shown, hidden, narrowed } = layOut(columns, [60, 80, 4], 44);
    expect(shown.map(({ width, keeps }) => [width, keeps])).toEqual([
      [24, 'start'],
      [12, 'host'],
      [4, 'start'],
    ]);
    expect([hidden, narrowed]).toEqual([[], ['title', 'url']]);
    expect(layOut(columns, [60, 80, 4], 43).hidden).toEqual(['url']);
  });

  test('a status stays whatever weighs more, and is cut where nothing else is left to go', () => {
    const columns = [column('id', 10), column('state', 1, 'status'), column('total', 9, 'money')];
    expect(placed(columns, [36, 24, 8], 40)).toEqual({
      shown: [
        ['state', 24],
        ['total', 8],
      ],
      hidden: ['id'],
    });
    expect(placed([column('a', 1, 'status'), column('b', 1, 'status')], [30, 30], 40).shown).toEqual([
      ['a', 19],
      ['b', 19],
    ]);
  });

  test('every other text gives way before a status does', () => {
    const columns = [column('state', 1, 'status'), column('product', 8, 'url'), column('total', 7, 'money')];
    expect(placed(columns, [23, 60, 18], 60).shown).toEqual([
      ['state', 23],
      ['product', 15],
      ['total', 18],
    ]);
    expect(placed(columns, [23, 60, 18], 50)).toEqual({
      shown: [
        ['state', 16],
        ['product', 12],
        ['total', 18],
      ],
      hidden: [],
    });
  });

  test('an extra column comes where all others have their full width, and is not told where not', () => {
    const columns: Column[] = [
      column('title', 1, 'text'),
      { ...column('recipient', 3), isExtra: true },
      { ...column('number', 9), isExtra: true },
    ];
    expect(placed(columns, [40, 10, 30], 60)).toEqual({
      shown: [
        ['title', 40],
        ['recipient', 10],
      ],
      hidden: [],
    });
    expect(placed(columns, [40, 10, 30], 40)).toEqual({ shown: [['title', 40]], hidden: [] });
  });

  test('the last one left fits whatever it is', () => {
    expect(placed([column('id', 1), column('x', 0)], [36, 5], 10)).toEqual({
      shown: [['id', 10]],
      hidden: ['x'],
    });
    expect(placed([], [], 10)).toEqual({ shown: [], hidden: [] });
  });
});
