import { defineCommand } from '../define.ts';
import { eachId, readIds } from '../ids.ts';

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel orders that are still pending',
  arguments: [
    { name: 'ids', description: 'ids of orders; - reads them from stdin', required: true, variadic: true },
  ],
  examples: [
    { command: 'errand order cancel $ORDER', note: 'only while it is pending' },
    { command: 'errand order list --status pending -o id | errand order cancel -', note: 'all that can be' },
  ],
  operations: ['order.cancel'],
  exitCodes: { 5: 'already processed (order_not_cancellable)' },
  related: ['order list', 'order get'],
  async run(context, { ids }) {
    const wanted = await readIds(context, 'order id', ids);
    const client = await context.client();
    return {
      kind: 'list',
      columns: [
        { name: 'id', path: 'id', kind: 'id', weight: 2 },
        { name: 'status', path: 'status', kind: 'status', weight: 1 },
      ],
      empty: 'no order to cancel',
      ...eachId(context, wanted, async (id) => {
        await client.call('order.cancel', { path: { order_id: id } });
        return { id, status: 'cancelled' };
      }),
    };
  },
});
