import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lastDue } from '../../../../src/sandbox/bulk/records.ts';
import { listOrders } from '../../../../src/sandbox/orders/handlers.ts';
import { listReturns } from '../../../../src/sandbox/returns/records.ts';
import { plansOf } from './plans.ts';

const listed = (
  query: Record<string, string | boolean>,
  list: typeof listOrders | typeof listReturns = listOrders,
): Promise<string[]> => plansOf((store) => list(store, 'user', { limit: 50, offset: 0, ...query }));

describe('a list of orders', () => {
  let plans: string[] = [];
  beforeEach(() => {
    plans = [];
  });
  afterEach(() => {
    // It must never scan the whole table or all records of a user.
    expect(plans.filter((plan) => /^SCAN (o|orders)\b/.test(plan))).toEqual([]);
  });

  test('walks the newest by an index that holds them in order, and counts none of them', async () => {
    plans = await listed({});
    expect(plans).toContain('SEARCH o USING INDEX orders_newest (user_id=?)');
    expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
    expect(plans.filter((plan) => plan.includes('users'))).toHaveLength(1);
    expect(plans.filter((plan) => /SEARCH o /.test(plan))).toHaveLength(1);
  });

  test.each<[string, Record<string, string | boolean>]>([
    ['order_id', { order_id: 'ab' }],
    ['shipping_name', { shipping_name: 'ada' }],
    ['user_email', { user_email: 'ada' }],
    ['search', { search: 'ab' }],
    ['created_after', { created_after: '2026-01-01T00:00:00.000Z' }],
    ['has_tracking', { has_tracking: false }],
    ['tracking_status', { tracking_status: 'delivered' }],
    ['return_status', { return_status: 'open' }],
  ])('filtered by %s reads no record that it does not show', async (_, query) => {
    plans = await listed(query);
    const searches = plans.filter((plan) => /SEARCH o /.test(plan));
    expect(searches.length).toBeGreaterThan(0);
    for (const search of searches) expect(search).toContain('COVERING INDEX');
  });

  test.each<[string, Record<string, string>, string]>([
    ['status', { status_filter: 'pending' }, 'orders_status'],
    ['a piece of metadata', { metadata_key: 'a', metadata_value: 'b' }, 'order_metadata'],
    ["a retailer's number", { merchant_order_id: '1' }, 'merchant_orders'],
  ])('filtered by %s goes by its own index', async (_, query, index) => {
    plans = await listed(query);
    expect(plans.some((plan) => plan.includes(index))).toBe(true);
  });
});

describe('a list of returns', () => {
  test.each<[Record<string, string>]>([[{}], [{ search: 'ab' }], [{ status: 'open' }]])(
    'filtered by %j reads no record that it does not show',
    async (query) => {
      const searches = (await listed(query, listReturns)).filter((plan) => /(SEARCH|SCAN) r\b/.test(plan));
      expect(searches.length).toBeGreaterThan(0);
      for (const search of searches) expect(search).toMatch(/^SEARCH .* COVERING INDEX/);
    },
  );
});

test('when the last row of a user is due is seen without reading what else the user has sent', async () => {
  const plans = await plansOf((store) => lastDue(store, 'user'));
  expect(plans[0]).toMatch(/^SEARCH r USING COVERING INDEX batch_rows_due /);
  expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([]);
});
