import { expect, test } from 'vitest';
import { sandboxConfig } from '../../../../src/sandbox/config.ts';
import {
  countDeliveries,
  deliveryFilters,
  findDeliveries,
} from '../../../../src/sandbox/console/deliveries.ts';
import { countOrders, findOrders, orderFilters, readFilters } from '../../../../src/sandbox/console/lists.ts';
import type { Service } from '../../../../src/sandbox/server/service.ts';
import { plansOf } from '../../../rooms/sandbox/store/plans.ts';

const part = { before: Number.MAX_SAFE_INTEGER, limit: 26 };

test.each([
  'id=ab',
  'status=pending',
  'user=ada',
  'retailer=a.example',
  'failed=1',
  'status=pending&retailer=a.example&user=b',
])(
  'orders filtered by %s are found and counted by a narrow index: no wide row is read to be left out',
  async (search) => {
    const filters = readFilters(search, orderFilters);
    const plans = await plansOf((store) => {
      findOrders(store, filters, part);
      // Counting uses only the store and the URLs.
      countOrders({ store, config: sandboxConfig('http://127.0.0.1:1') } as Service, filters);
    });
    const walks = plans.filter((plan) => /^(?:SCAN|SEARCH) o\b/.test(plan));
    expect(walks.length).toBeGreaterThan(1);
    // The displayed rows are fetched by rowid.
    const shown = 'SEARCH o USING INTEGER PRIMARY KEY (rowid=?)';
    expect(walks.filter((plan) => plan !== shown && !plan.includes('COVERING INDEX'))).toEqual([]);
  },
);

test.each(['id=ab', 'state=waiting', 'event=status_updated', 'class=5xx', 'user=ada', 'failed=1'])(
  'deliveries filtered by %s are found and counted by a narrow index',
  async (search) => {
    const filters = readFilters(search, deliveryFilters);
    const plans = await plansOf((store) => {
      findDeliveries(store, filters, part);
      countDeliveries(store, filters);
    });
    const walks = plans.filter((plan) => /^(?:SCAN|SEARCH) d\b/.test(plan));
    // The displayed rows are fetched by rowid.
    const shown = 'SEARCH d USING INTEGER PRIMARY KEY (rowid=?)';
    expect(walks.filter((plan) => plan !== shown && !plan.includes('COVERING INDEX'))).toEqual([]);
  },
);
