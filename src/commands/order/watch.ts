import { limits } from '../../api/limits.ts';
import { defineCommand } from '../../cli/define.ts';
import { listRows } from '../../cli/list-command.ts';
import { watchedOutput, watchResult } from '../../cli/orders/watch-result.ts';
import { type Until, untilValues, verdictOf } from '../../orders/watch-policy.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readIds } from '../../run/ids.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Watch orders until they are delivered',
  description:
    'A live table on a terminal; one line for each change in a pipe or with -o ndjson. Open is what is pending or being placed, and what was placed in the last 60 days and has not arrived.',
  arguments: [
    {
      name: 'ids',
      names: 'orders',
      description: 'ids of orders; - reads them from stdin; none, on a terminal: all that are open',
      variadic: true,
    },
  ],
  options: {
    until: { kind: 'choice', values: untilValues, description: 'what to wait for (default delivered)' },
    interval: { kind: 'duration', description: 'pause between polls; by default it follows what happens' },
    open: { kind: 'flag', description: 'all orders that are open' },
    allowMissing: { kind: 'flag', description: 'wait for an id that does not exist yet' },
  },
  examples: [
    { command: 'errand order watch $ORDER', note: 'until delivered' },
    {
      command: 'errand order watch $(errand order list --status waiting -o id) --timeout 30s',
      note: 'all that is pending',
    },
    { command: 'errand order watch --open', note: 'everything that is open' },
    { command: 'errand order watch $ORDER --until placed -o ndjson', note: 'each change as a record' },
  ],
  output: watchedOutput,
  operations: ['order.list', 'order.get'],
  exitCodes: { 7: 'an order failed or was cancelled', 8: '--timeout passed; the orders go on' },
  related: ['order get', 'order timeline'],
  async run(context, { ids = [], until = 'delivered', interval, allowMissing = false, open = false }) {
    if (interval === 0)
      throw new UsageError('--interval 0s would ask the service without a pause; 500ms is short enough');
    if (open && ids.length > 0) throw new UsageError('--open follows every open order; give it no ids');
    const isOpen = open || (ids.length === 0 && context.interactive.yes && context.io.stdout.isTerminal);
    if (isOpen && !open) context.note('no order was named, so every open order is watched');
    const requested = isOpen ? await openOrders(context, until) : await readIds(context, 'order id', ids);
    return watchResult(context, requested, {
      until,
      isOpen,
      allowMissing,
      ...(interval !== undefined && { intervalMs: interval }),
    });
  },
});

/** Number of days after which the state of an undelivered order is no longer expected to change. */
const openDays = 60;
const dayMs = 24 * 3600 * 1000;

/**
 * Ids of the orders for which a watch would wait, newest first. These are the orders that can still reach the awaited
 * state.
 */
async function openOrders(context: Context, until: Until): Promise<string[]> {
  const since = new Date(context.serviceClock.now() - openDays * dayMs).toISOString();
  const queries = [
    { status_filter: 'pending' },
    { status_filter: 'in_progress' },
    ...(until === 'delivered' ? [{ status_filter: 'order_placed', created_after: since }] : []),
  ];
  // An order may change its status between two requests and then appear twice, so deduplicate by id.
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
