import { defineRootCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import { flatColumns, trackColumns, trackScreen } from './columns.ts';

export const command = defineRootCommand({
  description: 'Needs no key: whoever knows the id of an order can follow it.',
  arguments: [{ name: 'order', names: 'orders', description: 'id of the order', required: true }],
  examples: [
    { command: 'errand track $ORDER', note: 'where the parcel is' },
    { command: "errand track $ORDER -o json --query 'shipments[].status'", note: 'the state of each parcel' },
  ],
  operations: ['order.track'],
  related: ['order timeline', 'order watch'],
  async run(context, { order }) {
    const client = await context.client();
    const { body } = await client.call('order.track', { path: { order_id: checkUuid('order id', order) } });
    const columns = context.output.format === 'table' ? trackColumns : flatColumns;
    return { kind: 'record', record: body, columns, screen: trackScreen, id: 'order_id' };
  },
});
