import { defineCommand } from '../../cli/define.ts';
import { eachId, readIds } from '../../cli/ids.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { retryOrder } from '../../orders/retry-order.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: 'Retry failed orders as new order requests, once what stood in the way is gone',
  arguments: [
    {
      name: 'ids',
      completes: 'orders',
      description: 'ids of failed orders; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: { yes: { kind: 'flag', description: 'spend with a live key without being asked' } },
  examples: [{ command: 'errand legacy retry $FAILEDORDER', note: 'prints the id of the new order request' }],
  operations: ['legacy.retry'],
  exitCodes: {
    10: 'in doubt: sent, and no answer came; look at the newest orders, then `order journal forget`',
  },
  related: ['order get', 'order watch'],
  async run(context, { ids, yes = false }) {
    const wanted = await readIds(context, 'order id', ids);
    await confirmSpending(context, {
      yes,
      question: 'Order again with real money?',
      surface: 'legacy',
      lines: async () => wanted.map((id) => `  ${id}`),
    });
    return {
      kind: 'list',
      columns: [
        { name: 'order', path: 'order_id', kind: 'id', weight: 1 },
        { name: 'new request', path: 'request_id', kind: 'id', weight: 2 },
      ],
      id: 'request_id',
      empty: 'no order to retry',
      ...eachId(context, wanted, (id) => retryOrder(context, id)),
    };
  },
});
