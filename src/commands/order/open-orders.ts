import { limits } from '../../api/limits.ts';
import { listRows } from '../../cli/list-command.ts';
import { type Until, verdictOf } from '../../orders/watch-policy.ts';
import type { Context } from '../../run/context.ts';

/** Of what was placed longer ago and has not arrived, nothing more comes, days. */
const openDays = 60;
const dayMs = 24 * 3600 * 1000;

/** The ids of the orders that a watch would wait for, newest first: those on their way to the state that is awaited. */
export async function openOrders(context: Context, until: Until): Promise<string[]> {
  const since = new Date(context.serviceClock.now() - openDays * dayMs).toISOString();
  const queries = [
    { status_filter: 'pending' },
    { status_filter: 'in_progress' },
    ...(until === 'delivered' ? [{ status_filter: 'order_placed', created_after: since }] : []),
  ];
  // One may go on from a status to the next between two requests.
  const open = new Map<string, string>();
  for (const query of queries) {
    const { rows } = await listRows(
      context,
      'order.list',
      { ...query, limit: limits.orderListLimit.max },
      true,
    );
    for await (const order of rows)
      if (typeof order.id === 'string' && verdictOf(order, until) === 'waiting')
        open.set(order.id, String(order.created_at));
  }
  return [...open].sort(([, one], [, other]) => (one < other ? 1 : -1)).map(([id]) => id);
}
