import type { Service } from './handler.ts';
import { advance } from './lifecycle/index.ts';
import { storedOrder } from './orders/records.ts';
import { loadSettle, type Settle } from './orders/settle.ts';
import type { StoredRow } from './store.ts';
import { StoreError } from './store-error.ts';

/** How many orders one transaction brings up to date; others wait for the disk no longer than that takes. */
const batch = 200;

type Due = Pick<Service, 'store' | 'identity' | 'report'>;

const isDue = 'SELECT 1 FROM orders WHERE next_due <= ? LIMIT 1';

/** Brings about everything that is due by `now` (ms). Costs in proportion to what is due, not to what there is. */
export async function bringUpToDate(service: Due, now: number): Promise<void> {
  if (!service.store.get(isDue, now)) return;
  const settle = await loadSettle(service);
  while (advanceSome(service, settle, now) === batch) await new Promise((resolve) => setImmediate(resolve));
}

/** @returns how many orders were brought forward, at most a batch. */
function advanceSome(service: Due, settle: Settle, now: number): number {
  const { store } = service;
  return store.transaction(() => {
    // Read within the transaction: another process may have been faster.
    const due = store.all('SELECT * FROM orders WHERE next_due <= ? ORDER BY next_due LIMIT ?', now, batch);
    for (const row of due) advanceOne(service, settle, row, now);
    return due.length;
  });
}

/** An order that cannot go on, by a bug, is told of and stays as it is: it must not keep all others from going on. */
function advanceOne({ store, report }: Due, settle: Settle, row: StoredRow, now: number): void {
  try {
    store.attempt(() => {
      const order = storedOrder(row);
      settle(order, advance(order, now));
    });
  } catch (error) {
    if (error instanceof StoreError) throw error;
    report(error);
    store.run('UPDATE orders SET next_due = NULL WHERE seq = ?', Number(row.seq));
  }
}
