import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupOf, spanOf, Tally, totalsOf } from '../../../src/spending/report/tally.ts';

const now = Date.parse('2026-11-22T03:00:00Z');
const chicago = 'America/Chicago';
const span = (since?: string, until?: string, zone = 'UTC') => spanOf({ since, until }, zone, now);

describe('the span of a report', () => {
  test.each([
    ['a day is whole', '2026-11-01', '2026-11-01', 'UTC', '2026-11-01T00:00', '2026-11-02T00:00'],
    ['a month is whole', '2026-11', '2026-11', 'UTC', '2026-11-01T00:00', '2026-12-01T00:00'],
    ['of the zone', '2026-12-01', '2026-12', chicago, '2026-12-01T06:00', '2027-01-01T06:00'],
    ['a day of 25 hours', '2026-11-01', '2026-11-01', chicago, '2026-11-01T05:00', '2026-11-02T06:00'],
    ['a day of 23 hours', '2026-03-08', '2026-03-08', chicago, '2026-03-08T06:00', '2026-03-09T05:00'],
    ['today, where it is yesterday yet', 'today', 'today', chicago, '2026-11-21T06:00', '2026-11-22T06:00'],
    ['yesterday', 'yesterday', 'yesterday', 'UTC', '2026-11-21T00:00', '2026-11-22T00:00'],
    [
      'a moment',
      '2026-11-01T08:30:00Z',
      '2026-11-01T09:00:00Z',
      chicago,
      '2026-11-01T08:30',
      '2026-11-01T09:00',
    ],
    ['ago', '2d', '1h', 'UTC', '2026-11-20T03:00', '2026-11-22T02:00'],
  ])('%s', (_, since, until, zone, first, before) => {
    expect(span(since, until, zone)).toEqual({ since: `${first}:00.000Z`, before: `${before}:00.000Z` });
  });

  test('without flags it has no ends', () => expect(span()).toEqual({}));

  test.each([
    ['2026-13', undefined, '--since: there is no 2026-13'],
    ['2026-02-30', undefined, '--since: there is no 2026-02-30'],
    [undefined, 'soon', '--until takes a date'],
    ['2026-11', '2026-10', '--until 2026-10 ends before --since 2026-11 begins'],
  ])('%s to %s is refused', (since, until, message) => {
    expect(() => span(since, until)).toThrow(message);
  });
});

const named = (url: string) => new URL(url).hostname;
const order = (more: object = {}) => ({
  id: 'a',
  status: 'order_placed',
  created_at: '2026-12-01T03:00:00Z',
  items: [{ url: 'https://a.example/1' }],
  returns: [],
  job_result: { price_components: { total: 1000, currency: 'USD' } },
  ...more,
});

test.each([
  ['day', {}, 'UTC', '2026-12-01'],
  ['day', {}, chicago, '2026-11-30'],
  ['month', {}, chicago, '2026-11'],
  ['retailer', {}, 'UTC', 'a.example'],
  [
    'retailer',
    { items: [{ url: 'https://b.example' }, { url: 'https://a.example' }] },
    'UTC',
    'a.example + b.example',
  ],
  ['country', { shipping_address: { country: 'us' } }, 'UTC', 'US'],
  ['po', { po_number: 'PO-1' }, 'UTC', 'PO-1'],
  ['po', { po_number: null }, 'UTC', undefined],
  ['account', { retailer_credentials_id: 'acct' }, 'UTC', 'acct'],
  ['metadata.team', { metadata: { team: 'office' } }, 'UTC', 'office'],
  ['metadata.a.b', { metadata: { 'a.b': 7 } }, 'UTC', '7'],
  ['metadata.toString', { metadata: {} }, 'UTC', undefined],
  ['metadata.__proto__', { metadata: {} }, 'UTC', undefined],
  ['day', { created_at: 'soon' }, 'UTC', undefined],
] as const)('by %s of %o in %s: %s', (by, more, timeZone, group) => {
  expect(groupOf(by, { timeZone, retailers: named })(order(more))).toBe(group);
});

const cents = fc.integer({ min: 0, max: 100_000 });
const anyOrder = fc.record({
  id: fc.uuid(),
  status: fc.constantFrom(
    'pending',
    'order_placed',
    'order_failed',
    'cancelled_by_retailer',
    'cancelled',
    'new',
  ),
  max_price: cents,
  metadata: fc.record({ team: fc.constantFrom('a', 'b', 'c') }),
  retailer_credentials_id: fc.constantFrom(null, 'acct'),
  payment: fc.constantFrom(null, { mode: 'card', state: 'captured', captured_cents: 900, fee_cents: 100 }),
  returns: fc.array(fc.record({ id: fc.uuid(), credited_amount: cents }), { maxLength: 2 }),
  job_result: fc.option(
    fc.record({ price_components: fc.record({ total: cents, currency: fc.constantFrom('USD', 'EUR') }) }),
  ),
});

test('rows add up to their totals, in each column, whatever the groups are; nothing is lost or counted twice', () => {
  fc.assert(
    fc.property(fc.array(anyOrder, { maxLength: 30 }), (orders) => {
      const one = new Tally(() => 'all', 100);
      const many = new Tally(groupOf('metadata.team', { timeZone: 'UTC', retailers: named }), 100);
      for (const it of orders) for (const tally of [one, many]) tally.add(it);
      const plain = (rows: ReturnType<typeof totalsOf>) => rows.map(({ group: _, ...row }) => row);
      expect(plain(totalsOf(many.rows(false)))).toEqual(plain(totalsOf(one.rows(false))));
      expect(totalsOf(many.rows(true)).reduce((sum, row) => sum + row.orders, 0)).toBe(orders.length);
      for (const row of many.rows(false))
        expect(row.net).toBe(row.spent + row.fees - row.refunded - row.credited);
    }),
  );
});

test('more groups than can be told apart are one more, and nothing is lost', () => {
  const tally = new Tally((it) => String(Object(it).id), 100);
  for (let id = 0; id < 10_050; id += 1) tally.add(order({ id }));
  const rows = tally.rows(false);
  expect(rows).toHaveLength(10_001);
  expect(rows.find(({ group }) => group === '(others)')).toMatchObject({ orders: 50, spent: 50_000 });
  expect(totalsOf(rows)).toMatchObject([{ orders: 10_050, spent: 10_050_000 }]);
});

test('sums that no number holds are refused, not rounded', () => {
  const tally = new Tally(() => 'all', 100);
  const huge = order({ job_result: { price_components: { total: Number.MAX_SAFE_INTEGER } } });
  expect(() => tally.add(huge)).toThrow('more than can be counted exactly');
});
