import { moved, nextDue, type OrderPlan, type OrderRecord } from '../orders/lifecycle/index.ts';
import type { Store } from '../store/store.ts';

const open = `account_id = ? AND status IN ('pending', 'in_progress')`;

/** Until when an account is held by the orders on it, ms; `now` where it is free. Within a transaction. */
export function freeAt(store: Store, accountId: string, now: number): number {
  const row = store.get(`SELECT max(queue_end) AS at FROM orders WHERE ${open}`, accountId);
  return Math.max(now, Number(row?.at ?? 0));
}

/** An order that never ends by itself holds its account until something ends it. */
const never = Date.parse('9990-01-01T00:00:00Z');

/** When placing ends, by an order's plan, ms. */
export const placingEnds = (plan: OrderPlan): number =>
  plan.find(({ kind }) => kind === 'placed' || kind === 'failed')?.at ?? never;

/**
 * Brings the orders that wait for an account forward, one after the other, once one before them has ended sooner than
 * it was to (cancelled, made to end). A plan moves in time as a whole. Within a transaction.
 */
export function closeUp(store: Store, accountId: string, now: number): void {
  let free = now;
  const waiting = store.all(
    `SELECT seq, status, record, plan, queue_start, queue_end FROM orders WHERE ${open} ORDER BY seq`,
    accountId,
  );
  for (const row of waiting) {
    const earlier = row.status === 'pending' ? Number(row.queue_start) - free : 0;
    if (earlier > 0) {
      // The columns were written from a record and its plan.
      const record = JSON.parse(String(row.record)) as OrderRecord;
      const plan = moved(record, JSON.parse(String(row.plan)) as OrderPlan, earlier);
      store.run(
        'UPDATE orders SET plan = ?, next_due = ?, queue_start = ?, queue_end = ? WHERE seq = ?',
        JSON.stringify(plan),
        nextDue(plan),
        free,
        placingEnds(plan),
        Number(row.seq),
      );
      free = placingEnds(plan);
    } else free = Math.max(free, Number(row.queue_end));
  }
}
