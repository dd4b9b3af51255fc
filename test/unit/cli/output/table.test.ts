import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { printResult } from '../../../../src/cli/output/render.ts';
import type { Column, ColumnKind, Row } from '../../../../src/format/result.ts';
import { capture, noon, printed } from '../../../support/streams.ts';

const columns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', weight: 10 },
  { name: 'status', path: 'status', kind: 'status', weight: 9 },
  { name: 'total', path: 'total', kind: 'money', currency: 'currency', weight: 8 },
  { name: 'product', path: 'product', weight: 7 },
  { name: 'created', path: 'created_at', kind: 'time', weight: 1 },
];
const orders: readonly Row[] = [
  { id: 'a1', status: 'pending', total: 1234, product: '日本の本', created_at: '2026-06-15T11:00:00Z' },
  {
    id: 'b22',
    status: 'order_failed',
    total: 123456,
    currency: 'EUR',
    product: 'tea 👨‍👩‍👧 set',
    created_at: null,
  },
];
const list = (rows: Iterable<Row> | AsyncIterable<Row>, of = columns) =>
  ({ kind: 'list', rows, columns: of }) as const;

describe('a table', () => {
  test('has a header in capitals, aligned columns, amounts to the right, times as people say them', async () => {
    expect((await printed(list(orders), {})).out).toBe(
      [
        'ID   STATUS            TOTAL  PRODUCT     CREATED',
        'a1   pending          $12.34  日本の本    1h ago',
        'b22  order_failed  €1,234.56  tea 👨‍👩‍👧 set',
        '',
      ].join('\n'),
    );
  });

  test('has absolute UTC times with --utc', async () => {
    expect((await printed(list(orders), { utc: true })).out).toContain('2026-06-15 11:00:00Z');
  });

  test('drops the columns of lowest weight on a narrow terminal, and says so on stderr', async () => {
    const { out, err } = await printed(list(orders), {}, { terminal: true, columns: 30 });
    expect(out).toBe(
      'ID   STATUS              TOTAL\na1   ● pending          $12.34\nb22  ✖ order failed  €1,234.56\n',
    );
    expect(err).toBe('2 columns hidden: product, created; widen the terminal or use -o json\n');
  });

  test('breaks a sentence between words, under its own heading, and says of no cut', async () => {
    const sentences: readonly Column[] = [
      { name: 'id', path: 'id', kind: 'id', weight: 10 },
      { name: 'why', path: 'product', weight: 8, isProse: true },
      { name: 'total', path: 'total', kind: 'money', weight: 9 },
    ];
    const rows = [
      { id: 'a1', product: 'the ceiling is below the price 日本の本 of today', total: 1 },
      { id: 'b2', product: 'short', total: 2 },
    ];
    const { out, err } = await printed(list(rows, sentences), {}, { terminal: true, columns: 33 });
    expect(out).toBe(
      [
        'ID  WHY                     TOTAL',
        'a1  the ceiling is below    $0.01',
        '    the price 日本の本 of',
        '    today',
        'b2  short                   $0.02',
        '',
      ].join('\n'),
    );
    expect(err).toBe('');
    const piped = await printed(list(rows, sentences), {});
    expect(piped.out.split('\n')).toHaveLength(4);
  });

  test('cuts the longest texts before it is too wide', async () => {
    const rows = [
      { id: 'a1', status: 'pending', total: 1, product: 'a very long title of a product', created_at: null },
    ];
    const { out, err } = await printed(list(rows, columns.slice(0, 4)), {}, { terminal: true, columns: 40 });
    expect(out).toBe('ID  STATUS     TOTAL  PRODUCT\na1  ● pending  $0.01  a very long title…\n');
    expect(err).toBe('');
  });

  test('in a pipe drops and cuts nothing', async () => {
    const rows = [{ ...orders[0], product: 'x'.repeat(300) }];
    const { out, err } = await printed(list(rows), {});
    expect(out).toContain('x'.repeat(300));
    expect(out).toContain('CREATED');
    expect(err).toBe('');
  });

  test('fits 100 columns where a terminal does not tell its width', async () => {
    const rows = [{ ...orders[0], product: 'x'.repeat(300) }];
    const { out } = await printed(list(rows), {}, { terminal: true, columns: 0 });
    expect(Math.max(...out.split('\n').map((line) => stringWidth(line)))).toBe(100);
  });

  test('that is empty leaves stdout empty and says why on stderr', async () => {
    const { out, err, exitCode } = await printed({ ...list([]), empty: 'No orders match.' }, {});
    expect([out, err, exitCode]).toEqual(['', 'No orders match.\n', 0]);
  });

  test('shows control characters and line breaks, in cells, headers and unknown statuses', async () => {
    const rows = [{ id: '\u001b[2Ja', status: 'new\u009bstatus', product: 'one\ntwo\u202e' }];
    const { out } = await printed(
      list(rows, [...columns.slice(0, 2), { name: 'p\u0007', path: 'product' }]),
      {},
      { terminal: true, columns: 80 },
    );
    expect(out).toBe('ID     STATUS             P␇\n␛[2Ja  new<U+009B>status  one⏎two<U+202E>\n');
  });

  test('a megabyte of title is cut even in a pipe', async () => {
    const { out } = await printed(list([{ id: 'x'.repeat(1_000_000) }]), {});
    expect(out.length).toBeLessThan(5000);
  });

  test('has colours only where stdout has, and they add no width', async () => {
    const plain = await printed(list(orders), {}, { terminal: true, columns: 100 });
    const painted = await printed(list(orders), {}, { terminal: true, columns: 100, color: true });
    expect(plain.out).not.toContain('\u001b');
    expect(painted.out).toContain('\u001b[31m');
    expect(painted.out.replace(/\u001b\[\d+m/g, '')).toBe(plain.out);
  });

  test('whatever it holds, it is never wider than the terminal and its columns line up', async () => {
    const kinds = fc.constantFrom<ColumnKind | undefined>(undefined, 'text', 'id', 'status', 'flag');
    const text = fc
      .array(fc.constantFrom('a', 'é', '日', '👨‍👩‍👧', '🫠', 'e\u0301', 'x y', '\u001b[2J', '\n'), {
        maxLength: 12,
      })
      .map((parts) => parts.join(''));
    const shape = fc.array(fc.record({ kind: kinds, weight: fc.nat(3) }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        shape,
        fc.array(fc.array(text, { minLength: 6, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 4, max: 90 }),
        async (kindsOf, cells, width) => {
          const of = kindsOf.map(
            ({ kind, weight }, index): Column => ({
              name: `c${index}`,
              path: `${index}`,
              weight,
              ...(kind && { kind }),
            }),
          );
          const rows = cells.map((row): Row => ({ ...row, edge: '|' }));
          const edged = [...of, { name: '|', path: 'edge', kind: 'id', weight: 9_999 } as const];
          const { out } = await printed(list(rows, edged), {}, { terminal: true, columns: width });
          const lines = out.split('\n').slice(0, -1);
          // A wrapped state continues on separate lines.
          const edges = lines.filter((line) => line.endsWith('|'));
          expect(edges).toHaveLength(rows.length + 1);
          for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
          expect(new Set(edges.map((line) => stringWidth(line.slice(0, line.lastIndexOf('|'))))).size).toBe(
            1,
          );
        },
      ),
    );
  });
});

describe('a narrow table', () => {
  const rows = [
    { id: 'r1', state: 'cancelled_by_retailer', who: 'Ada Lovelace', why: '' },
    { id: 'r2', state: 'failed', who: 'Ada Lovelace', why: 'The item is out of stock, and none will come.' },
  ];
  const columns: readonly Column[] = [
    { name: 'id', path: 'id', kind: 'id', weight: 5 },
    { name: 'state', path: 'state', kind: 'status', weight: 9 },
    { name: 'who', path: 'who', weight: 4 },
    { name: 'why', path: 'why', weight: 3, isProse: true, wraps: true },
  ];
  const at = async (width: number, given: readonly Row[] = rows) =>
    printed(list(given, columns), {}, { terminal: true, columns: width });

  test('tells below its row what has no room beside the others', async () => {
    const { out } = await at(42);
    expect(out.split('\n')).toEqual([
      'ID  STATE                    WHO',
      'r1  ✖ cancelled by retailer  Ada Lovelace',
      'r2  ✖ failed                 Ada Lovelace',
      '    The item is out of stock, and none',
      '    will come.',
      '',
    ]);
  });

  test('a column that is empty in every row goes first, without a word', async () => {
    const { out, err } = await at(42, rows.slice(0, 1));
    expect(out).toBe('ID  STATE                    WHO\nr1  ✖ cancelled by retailer  Ada Lovelace\n');
    expect(err).toBe('');
  });

  test('a state is whole before a column that weighs little is shown', async () => {
    expect((await at(41, rows.slice(0, 1))).out).toMatch(/✖ cancelled by retailer {2}Ada Lovelace$/m);
    expect((await at(40, rows.slice(0, 1))).out).toMatch(/✖ cancelled by retailer$/m);
  });

  test('a state goes on below before it is cut', async () => {
    const { out } = await at(24, rows.slice(0, 1));
    expect(out).toBe('ID  STATE\nr1  ✖ cancelled by\n    retailer\n');
  });
});

describe('a table that streams', () => {
  const simple: readonly Column[] = [{ name: 'n', path: 'n' }];

  test('shows the first rows while later ones are still to come', async () => {
    const { io, out } = capture();
    const gate = gateway();
    async function* slow(): AsyncGenerator<Row> {
      yield { n: 'first' };
      await gate.promise;
      yield { n: 'second' };
    }
    const done = printResult(list(slow(), simple), io, { format: 'table', now: () => noon });
    await out.written();
    expect(out.text).toBe('N\nfirst\n');
    gate.resolve(undefined);
    await done;
    expect(out.text).toBe('N\nfirst\nsecond\n');
  });

  test('keeps the widths of its first rows: later texts are cut on a terminal and stick out in a pipe', async () => {
    const pair: readonly Column[] = [...simple, { name: 'm', path: 'm', kind: 'money' }];
    function* rows(): Generator<Row> {
      for (let n = 0; n < 100; n += 1) yield { n: `row ${n}`, m: 1 };
      yield { n: 'a much longer row', m: 123456789 };
    }
    const terminal = await printed(list(rows(), pair), {}, { terminal: true, columns: 80 });
    expect(terminal.out.split('\n').at(-2)).toBe('a muc…  $1,234,567.89');
    expect((await printed(list(rows(), pair), {})).out.split('\n').at(-2)).toBe(
      'a much longer row  $1,234,567.89',
    );
  });

  test('prints every row, once, in order', async () => {
    async function* rows(): AsyncGenerator<Row> {
      for (let n = 0; n < 1000; n += 1) yield { n };
    }
    const { out } = await printed(list(rows(), simple), {});
    expect(out).toBe(`N\n${Array.from({ length: 1000 }, (_, n) => `${n}\n`).join('')}`);
  });

  test('whose source fails before it has begun leaves stdout empty', async () => {
    const { io, out } = capture();
    async function* failing(): AsyncGenerator<Row> {
      yield { n: 1 };
      throw new Error('page 2 is gone');
    }
    await expect(
      printResult(list(failing(), simple), io, { format: 'table', now: () => noon }),
    ).rejects.toThrow('page 2 is gone');
    expect(out.text).toBe('');
  });

  test('whose source fails later ends with whole rows', async () => {
    const { io, out } = capture();
    async function* failing(): AsyncGenerator<Row> {
      for (let n = 0; n < 150; n += 1) yield { n };
      throw new Error('page 4 is gone');
    }
    await expect(
      printResult(list(failing(), simple), io, { format: 'table', now: () => noon }),
    ).rejects.toThrow('page 4 is gone');
    expect(out.text.endsWith('\n149\n')).toBe(true);
  });
});

function gateway(): { promise: Promise<unknown>; resolve: (value: unknown) => void } {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
