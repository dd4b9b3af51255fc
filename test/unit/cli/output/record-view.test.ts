import { describe, expect, test } from 'vitest';
import type { Column } from '../../../../src/format/result.ts';
import { printed } from '../../../support/streams.ts';

const columns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id' },
  { name: 'ceiling', path: 'max_price', kind: 'money' },
  { name: 'gift', path: 'is_gift', kind: 'flag' },
  { name: 'message', path: 'gift_message' },
  { name: 'created', path: 'created_at', kind: 'time' },
  {
    name: 'items',
    path: 'items',
    columns: [
      { name: 'product', path: 'url' },
      { name: 'price', path: 'price', kind: 'money' },
    ],
  },
  { name: 'ship to', path: 'shipping_address' },
  { name: 'shipments', path: 'tracking_numbers' },
  { name: 'retailer orders', path: 'merchant_order_ids' },
];
const order = {
  id: '0c5b1a52',
  max_price: 5000,
  is_gift: false,
  gift_message: null,
  created_at: '2026-06-15T11:58:00Z',
  items: [
    { url: 'https://shop/tea', price: 1200 },
    { url: 'https://shop/本', price: 99 },
  ],
  shipping_address: { city: 'Springfield', state: null, country: 'US' },
  tracking_numbers: [
    { carrier: 'UPS', status: 'in_transit', checkpoints: [{ city: 'X' }], delivery_proof_url: null },
  ],
  merchant_order_ids: ['111', '222'],
};

describe('one record on a terminal', () => {
  test('breaks every value between words; an address stays whole', async () => {
    const url = 'https://shop.example/a/path/that/is/longer/than/the/terminal';
    const gift_message = `Each piece differs a little from the next, see ${url} for more`;
    const record = { kind: 'record', record: { id: 'r1', gift_message }, columns } as const;
    const { out } = await printed(record, {}, { terminal: true, columns: 40 });
    expect(out.split('\n')).toEqual([
      'id       r1',
      'message  Each piece differs a little',
      '         from the next, see',
      `         ${url}`,
      '         for more',
      '',
    ]);
  });

  test('is names and values; lists within it are tables, objects views of their own, what is empty is left out', async () => {
    const { out } = await printed(
      { kind: 'record', record: order, columns },
      {},
      { terminal: true, columns: 80 },
    );
    expect(out).toBe(
      `${[
        'id               0c5b1a52',
        'ceiling          $50.00',
        'gift             no',
        'created          2m ago',
        'items',
        '  PRODUCT            PRICE',
        '  https://shop/tea  $12.00',
        '  https://shop/本    $0.99',
        'ship to',
        '  city     Springfield',
        '  country  US',
        'shipments',
        '  CARRIER  STATUS',
        '  UPS      in_transit',
        'retailer orders  111, 222',
      ].join('\n')}\n`,
    );
  });

  test('the columns for which a table within it has no room are told once', async () => {
    const screen = { terminal: true, columns: 40 };
    const rows = [{ state: 'failed', why: 'out_of_stock' }];
    const inner: readonly Column[] = [
      { name: 'state', path: 'state', kind: 'status', weight: 2 },
      { name: 'number', path: 'number', kind: 'id', weight: 1 },
      { name: 'why', path: 'why' },
    ];
    const within = ['lines', 'parcels'].map((name) => ({ name, path: name, columns: inner }));
    const record = { lines: rows, parcels: [{ state: 'failed', number: 'x'.repeat(28), why: 'lost' }] };
    const { out, err } = await printed({ kind: 'record', record, columns: within }, {}, screen);
    expect(out.match(/STATE +NUMBER.*/g)).toEqual([
      'STATE     NUMBER  WHY',
      expect.stringMatching(/NUMBER$/),
    ]);
    expect(err).toBe('1 column hidden: why; widen the terminal or use -o json\n');
    const wide = await printed({ kind: 'record', record, columns: within }, {}, { ...screen, columns: 80 });
    expect(wide.err).toBe('');
    expect((await printed({ kind: 'record', record, columns: within }, {})).err).toBe('');
  });

  test('shows a field that was asked for even when it is empty', async () => {
    const { out } = await printed(
      { kind: 'record', record: order, columns },
      { fields: ['gift_message', 'nothing', 'id'] },
    );
    expect(out).toBe('message\nnothing\nid       0c5b1a52\n');
  });

  test('shows control characters, also in keys of nested objects', async () => {
    const record = { id: 'a\u001b[2J', metadata: { 'k\n': 'v\u202e' }, deep: { a: { b: { c: { d: 1 } } } } };
    const of = [
      { name: 'id', path: 'id' },
      { name: 'metadata', path: 'metadata' },
      { name: 'deep', path: 'deep' },
    ];
    expect((await printed({ kind: 'record', record, columns: of }, {})).out).toBe(
      'id  a␛[2J\nmetadata\n  k⏎  v<U+202E>\ndeep\n  a\n    b\n      c  {"d":1}\n',
    );
  });
});
