import { defineCommand } from '../../cli/define.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { retryOrder } from '../../orders/submit/retry-order.ts';
import { eachId, readIds } from '../../run/ids.ts';
import { declinedExit } from '../../spending/options.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: 'Retry failed orders as new order requests, once you have fixed the cause',
  arguments: [
    {
      name: 'ids',
      names: 'orders',
      description: 'ids of failed orders; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: {
    new: {
      kind: 'flag',
      description: 'retry once more on purpose, though the same was ordered a short while ago or is in doubt',
    },
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
  },
  examples: [{ command: 'errand legacy retry $FAILEDORDER', note: 'prints the id of the new order request' }],
  output: { list: 'RetriedOrder' },
  operations: ['legacy.retry', 'order.get'],
  exitCodes: {
    5: 'the same was ordered a short while ago, or is in doubt',
    10: 'in doubt: sent, and no response came; look at the newest orders, then `order journal forget`',
    11: 'there is a policy, and what a retry buys cannot be checked; nothing was sent',
    130: declinedExit,
  },
  related: ['order get', 'order watch'],
  async run(context, { ids, yes = false, new: isNew = false }) {
    const requested = await readIds(context, 'order id', ids);
    await confirmSpending(context, {
      yes,
      question: 'Order again with real money?',
      surface: 'legacy',
      lines: async () => requested.map((id) => `  ${id}`),
    });
    return {
      kind: 'list',
      columns: [
        { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 1 },
        { name: 'new request', path: 'request_id', kind: 'id', names: 'orders', weight: 2 },
      ],
      id: 'request_id',
      empty: 'no order to retry',
      ...eachId(context, requested, async (id) => (await retryOrder(context, id, { isNew })).order),
    };
  },
});
