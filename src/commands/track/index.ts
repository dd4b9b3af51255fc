import { defineRootCommand } from '../../cli/define.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkUuid } from '../../run/ids.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { flatColumns, stateOfTracked, trackColumns, trackScreen } from './columns.ts';

export const command = defineRootCommand({
  description: 'Needs no key: whoever knows the id of an order can follow it.',
  arguments: [{ name: 'order', names: 'orders', description: 'id of the order', required: true }],
  examples: [
    { command: 'errand track $ORDER', note: 'where the parcel is' },
    { command: "errand track $ORDER -o json --query 'shipments[].status'", note: 'the state of each parcel' },
  ],
  output: { record: 'order.track' },
  operations: ['order.track', 'order.get'],
  related: ['order timeline', 'order watch'],
  async run(context, { order }) {
    const client = await context.client();
    const path = { order_id: checkUuid('order id', order) };
    const { body } = await client.call('order.track', { path });
    const columns = context.output.format === 'table' ? trackColumns : flatColumns;
    const looksWhole = isOnScreen(context) && stateOfTracked(body).mood !== 'bad';
    const fulfillment = looksWhole ? await fulfillmentOf(context, path) : undefined;
    return { kind: 'record', record: body, columns, screen: trackScreen(fulfillment), id: 'order_id' };
  },
});

/** What was relaxed for an order, where it is one of the key in use: nothing that came short is to look whole. */
async function fulfillmentOf(context: Context, path: { readonly order_id: string }): Promise<unknown> {
  if (context.settings.apiKey === undefined || context.previewsRequests) return undefined;
  try {
    const client = await context.client();
    return (await client.call('order.get', { path })).body.fulfillment;
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return undefined;
  }
}
