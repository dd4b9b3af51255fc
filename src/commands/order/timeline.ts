import { objectsIn } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { plainText } from '../../format/path.ts';
import { milestoneColumns, milestoneScreen } from '../../orders/columns.ts';
import { checkUuid } from '../../run/ids.ts';

export const timeline = defineCommand({
  name: 'timeline',
  summary: "An order's milestones",
  arguments: [{ name: 'id', names: 'orders', description: 'id of the order', required: true }],
  examples: [
    { command: 'errand order timeline $ORDER', note: 'what happened and when' },
    { command: 'errand order timeline $ORDER --utc -o csv', note: 'the same as CSV' },
  ],
  output: { list: 'order.timeline' },
  operations: ['order.timeline'],
  related: ['order get', 'track'],
  async run(context, { id }) {
    const client = await context.client();
    const { body } = await client.call('order.timeline', { path: { order_id: checkUuid('order id', id) } });
    const rows = objectsIn(body, 'milestones');
    return {
      kind: 'list',
      rows,
      columns: milestoneColumns,
      screen: context.output.utc
        ? milestoneColumns
        : milestoneScreen(Date.parse(plainText(rows[0]?.occurred_at))),
      id: 'type',
      empty: 'no milestone yet',
    };
  },
});
