import { expect, test } from 'vitest';
import { liveLines } from '../../src/orders/watch-view.ts';
import type { Row } from '../../src/output/result.ts';

const created_at = '2026-11-21T12:00:00.000Z';
const now = Date.parse(created_at) + 125_000;
const order = (status: string, delivery: string, more: Row = {}): Row => ({
  status,
  created_at,
  tracking_numbers: delivery === '' ? [] : [{ status: delivery }],
  ...more,
});

test('every column of the live table stands below its heading, however long a status is', () => {
  const paid = { job_result: { price_components: { total: 123_456, currency: 'USD' } } };
  const failed = { job_result: { error_type: 'out_of_stock' } };
  const orders = new Map([
    ['a', order('cancelled_by_retailer', '', paid)],
    ['b', order('order_placed', 'available_for_pickup', paid)],
    ['c', order('order_failed', '', failed)],
  ]);
  const [header = '', ...rows] = liveLines(['a', 'b', 'c', 'not seen yet'], orders, now);
  const [status, delivery, age, total] = ['STATUS', 'DELIVERY', 'AGE', 'TOTAL'].map((name) =>
    header.indexOf(name),
  );
  expect(rows[0]?.slice(status)).toMatch(/^cancelled_by_retailer {2}/);
  expect(rows[0]?.slice(total)).toBe('');
  expect(rows[1]?.slice(delivery)).toMatch(/^available_for_pickup {2}/);
  expect(rows[1]?.slice(total)).toBe('$1,234.56');
  expect(rows.slice(0, 3).map((row) => row.slice(age, total).trim())).toEqual(['125 s', '125 s', '125 s']);
  expect(rows[2]?.slice(total)).toMatch(/^ {11}out_of_stock: /);
  expect(rows[3]).toBe(`${'not seen yet'}  …`);
});

test('on a terminal too narrow for all, status and delivery stand before the id', () => {
  const id = 'f20013c2-2883-4fef-8222-74bd8800f746';
  const orders = new Map([[id, order('order_placed', 'in_transit')]]);
  expect(liveLines([id], orders, now, 62)[1]).toMatch(/^f20013c2-.* {2}order_placed {2}in_transit/);
  const [header = '', row = ''] = liveLines([id], orders, now, 61);
  expect(row.slice(0, 40)).toBe('order_placed  in_transit  f20013c2-2883-');
  expect(header.indexOf('ORDER')).toBe(row.indexOf(id));
  expect(liveLines([id, 'not seen yet'], orders, now, 40)[2]).toMatch(/^… +not seen yet$/);
});
