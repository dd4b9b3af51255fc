import type { Service } from './handler.ts';
import { advance } from './lifecycle/index.ts';
import { storedOrder } from './orders/records.ts';
import { settleOrder } from './orders/settle.ts';

/** How many orders one transaction brings up to date; others wait for the disk no longer than that takes. */
const batch = 200;

/** Brings about everything that is due by `now` (ms). Costs in proportion to what is due, not to what there is. */
export async function bringUpToDate(service: Pick<Service, 'store'>, now: number): Promise<void> {
  while (advanceSome(service, now) === batch) await new Promise((resolve) => setImmediate(resolve));
}

/** @returns how many orders were brought forward, at most a batch. */
function advanceSome(service: Pick<Service, 'store'>, now: number): number {
  const { store } = service;
  if (!store.get('SELECT 1 FROM orders WHERE next_due <= ? LIMIT 1', now)) return 0;
  return store.transaction(() => {
    // Read again inside the transaction: another process may have been faster.
    const due = store
      .all('SELECT * FROM orders WHERE next_due <= ? ORDER BY next_due LIMIT ?', now, batch)
      .map(storedOrder);
    for (const order of due) settleOrder(service, order, advance(order, now));
    return due.length;
  });
}
