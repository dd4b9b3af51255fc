import { defineCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import { objectsIn } from '../../contract/json.ts';
import { milestoneColumns } from '../../orders/columns.ts';

export const timeline = defineCommand({
  name: 'timeline',
  summary: "An order's milestones",
  arguments: [{ name: 'id', names: 'orders', description: 'id of the order', required: true }],
  examples: [
    { command: 'errand order timeline $ORDER', note: 'what happened and when' },
    { command: 'errand order timeline $ORDER --utc -o csv', note: 'the same as CSV' },
  ],
  operations: ['order.timeline'],
  related: ['order get', 'track'],
  async run(context, { id }) {
    const client = await context.client();
    const { body } = await client.call('order.timeline', { path: { order_id: checkUuid('order id', id) } });
    return {
      kind: 'list',
      rows: objectsIn(body, 'milestones'),
      columns: milestoneColumns,
      id: 'type',
      empty: 'no milestone yet',
    };
  },
});
