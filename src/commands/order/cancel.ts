import { defineCommand } from '../../cli/define.ts';
import { cancelOrder } from '../../orders/cancel.ts';
import { eachId, readIds } from '../../run/ids.ts';

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel orders that are still waiting',
  arguments: [
    {
      name: 'ids',
      names: 'orders',
      completes: 'cancellable',
      description: 'ids of orders; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand order cancel $ORDER', note: 'only while it is pending' },
    { command: 'errand order list --status waiting -o id | errand order cancel -', note: 'all that can be' },
  ],
  output: { list: 'CancelledOrder' },
  operations: ['order.cancel', 'order.get'],
  exitCodes: { 5: 'already processed (order_not_cancellable)' },
  related: ['order list', 'order get'],
  async run(context, { ids }) {
    const requested = await readIds(context, 'order id', ids);
    return {
      kind: 'list',
      columns: [
        { name: 'id', path: 'id', kind: 'id', names: 'orders', weight: 2 },
        { name: 'status', path: 'status', kind: 'status', weight: 1 },
      ],
      empty: 'no order to cancel',
      ...eachId(context, requested, async (id) => {
        await cancelOrder(context, id);
        return { id, status: 'cancelled' as const };
      }),
    };
  },
});
