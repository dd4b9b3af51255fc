import { DatabaseError } from '../../sqlite/database-error.ts';
import { setImmediate } from '../../wait/own-timers.ts';
import { advance } from '../orders/lifecycle/index.ts';
import { storedOrder } from '../orders/records.ts';
import { loadSettle } from '../orders/settle.ts';
import { advanceReturn } from '../returns/lifecycle.ts';
import { storedReturn } from '../returns/records.ts';
import { loadSettleReturn } from '../returns/settle.ts';
import type { Service } from '../service.ts';
import type { Store, StoredRow } from '../store/store.ts';

/** How many records one transaction brings up to date; others wait for the disk no longer than that takes. */
const batch = 200;

type Due = Pick<Service, 'store' | 'identity' | 'report'>;
type AdvanceRow = (row: StoredRow, now: number) => void;

/** What has a future of its own, in the order in which it is brought about: a return stands on its order. */
const kinds: readonly { readonly table: string; load(service: Due): Promise<AdvanceRow> }[] = [
  {
    table: 'orders',
    async load(service) {
      const settle = await loadSettle(service);
      return (row, now) => {
        const order = storedOrder(row);
        settle(order, advance(order, now));
      };
    },
  },
  {
    table: 'returns',
    async load(service) {
      const settle = await loadSettleReturn(service);
      return (row, now) => {
        const found = storedReturn(row);
        settle(found, advanceReturn(found, now));
      };
    },
  },
];

/** Brings about everything that is due by `now` (ms). Costs in proportion to what is due, not to what there is. */
export async function bringUpToDate(service: Due, now: number): Promise<void> {
  for (const { table, load } of kinds) {
    if (nextDue(service.store, table) > now) continue;
    const advanceRow = await load(service);
    while ((await advanceSome(service, table, advanceRow, now)) === batch)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Whether anything is due by `now` (ms) that was not brought about yet. */
export const isAnythingDue = (store: Store, now: number): boolean =>
  kinds.some(({ table }) => nextDue(store, table) <= now);

/** When the next of a kind is due, ms since the epoch; Infinity where none is. */
const nextDue = (store: Store, table: string): number =>
  store.cached(`next due of ${table}`, () => {
    const row = store.get(`SELECT min(next_due) AS due FROM ${table} WHERE next_due IS NOT NULL`);
    return Number(row?.due ?? Number.POSITIVE_INFINITY);
  });

/** @returns how many records were brought forward, at most a batch. */
function advanceSome(service: Due, table: string, advanceRow: AdvanceRow, now: number): Promise<number> {
  const { store } = service;
  return store.derived(() => {
    // Read within the transaction: another process may have been faster.
    const due = store.all(`SELECT * FROM ${table} WHERE next_due <= ? ORDER BY next_due LIMIT ?`, now, batch);
    for (const row of due) advanceOne(service, table, () => advanceRow(row, now), Number(row.seq));
    return due.length;
  });
}

/** A record that cannot go on, by a bug, is reported and stays as it is: it must not keep all others from going on. */
function advanceOne({ store, report }: Due, table: string, go: () => void, seq: number): void {
  try {
    store.attempt(go);
  } catch (error) {
    if (error instanceof DatabaseError) throw error;
    report(error);
    store.run(`UPDATE ${table} SET next_due = NULL WHERE seq = ?`, seq);
  }
}
