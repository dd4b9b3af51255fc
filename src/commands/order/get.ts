import { defineCommand } from '../../cli/define.ts';
import { observeOrder } from '../../orders/observed.ts';
import { orderList, orderView } from '../../orders/screen.ts';
import { tryAgainLine } from '../../orders/try-again.ts';
import { eachId, readIds } from '../../run/ids.ts';
import { isOnScreen } from '../../run/on-screen.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: 'Read orders by id',
  arguments: [
    {
      name: 'ids',
      names: 'orders',
      description: 'ids of orders; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand order get $ORDER', note: 'all that a person wants to know' },
    {
      command: "errand order get $ORDER -o json --query 'tracking_numbers[].tracking_number'",
      note: 'its parcels',
    },
  ],
  output: [
    { record: 'order.get', when: 'for one id' },
    { list: 'order.get', when: 'for several' },
  ],
  operations: ['order.get'],
  related: ['order list', 'order timeline', 'order watch'],
  async run(context, { ids }) {
    const requested = await readIds(context, 'order id', ids);
    const client = await context.client();
    const read = async (id: string) => {
      const { body: order } = await client.call('order.get', { path: { order_id: id } });
      await observeOrder(context, order);
      return order;
    };
    const [only] = requested;
    if (only !== undefined && requested.length === 1) {
      const record = await read(only);
      const again = isOnScreen(context) ? tryAgainLine(context, record) : undefined;
      return { kind: 'record', record, ...orderView, hints: again === undefined ? [] : [again] };
    }
    return { kind: 'list', ...orderList, empty: 'no ids given', ...eachId(context, requested, read) };
  },
});
