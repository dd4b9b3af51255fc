import { expect, test } from 'vitest';
import { LiveTable } from '../../../../src/cli/orders/watch-result.ts';
import type { Row } from '../../../../src/format/result.ts';
import { capture } from '../../../support/streams.ts';

const created_at = '2026-11-21T12:00:00.000Z';
const now = Date.parse(created_at) + 125_000;
const order = (id: string, status: string, delivery: string, more: Row = {}): Row => ({
  id,
  status,
  created_at,
  items: [{ url: 'https://shop.example/p/coffee', quantity: 1 }],
  tracking_numbers: delivery === '' ? [] : [{ status: delivery }],
  ...more,
});
const tableOn = (columns: number, ids: readonly string[], rows = 30) =>
  LiveTable.open(
    {
      io: capture({ terminal: true, columns, rows }).io,
      serviceClock: { now: () => now },
      output: { format: 'table', now: () => now },
    } as unknown as Parameters<typeof LiveTable.open>[0],
    ids,
  );
const mapOf = (...orders: readonly Row[]) => new Map(orders.map((one) => [String(one.id), one]));

test('the live table has the columns of the list, and one that has grown never shrinks', async () => {
  const table = await tableOn(80, ['a', 'b']);
  const paid = { job_result: { price_components: { total: 123_456, currency: 'USD' } } };
  const first = await table.lines(mapOf(order('a', 'pending', ''), order('b', 'cancelled_by_retailer', '')));
  const second = await table.lines(
    mapOf(order('a', 'order_placed', 'delivered', paid), order('b', 'pending', '')),
  );
  expect(first[0]).toMatch(/^ID +STATE +PRODUCT +TOTAL +AGE$/);
  expect(first[2]).toContain('✖ cancelled by retailer');
  expect(second[1]).toMatch(/✔ delivered +https.*\$1,234\.56 {2}2m ago$/);
  expect(second[0]?.indexOf('PRODUCT')).toBe(first[0]?.indexOf('PRODUCT'));
});

test('an order that was not seen yet has its line, and what has no room is counted', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `order-${index}`);
  const lines = await (await tableOn(80, ids, 14)).lines(new Map());
  expect(lines).toHaveLength(12);
  expect(lines[1]).toBe('order-0');
  expect(lines.at(-1)).toBe('… and 30 more');
});
