import type { Received } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import { plainText } from '../../format/path.ts';
import { creditText } from '../../orders/return-amounts.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { eachId, readIds } from '../../run/ids.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { returnColumns, returnDetailColumns, titledColumns } from './columns.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: 'Read returns by id; links of their labels are made anew',
  arguments: [
    {
      name: 'ids',
      names: 'returns',
      description: 'ids of returns; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand return get $RETURN', note: 'what came of it' },
    { command: 'errand return get $RETURN -o json --query credited_amount', note: 'cents credited so far' },
  ],
  output: [
    { record: 'return.get', when: 'for one id' },
    { list: 'return.get', when: 'for several' },
  ],
  operations: ['return.get', 'order.get'],
  related: ['return list', 'return labels'],
  async run(context, { ids }) {
    const requested = await readIds(context, 'return id', ids);
    const client = await context.client();
    const read = async (id: string) =>
      (await client.call('return.get', { path: { return_request_id: id } })).body;
    const [only] = requested;
    if (only !== undefined && requested.length === 1) {
      const record = await read(only);
      const order = await orderOnScreen(context, record);
      const credit = order && creditText(order, record);
      return {
        kind: 'record',
        record,
        columns: returnDetailColumns,
        ...(order && { screen: titledColumns(order) }),
        hints: credit === undefined ? [] : [credit],
      };
    }
    return {
      kind: 'list',
      columns: returnColumns,
      empty: 'no ids given',
      ...eachId(context, requested, read),
    };
  },
});

/**
 * Reads the order that a return belongs to, because a terminal shows the order's titles and prices. Undefined without a
 * terminal, or if the order cannot be read.
 */
export async function orderOnScreen(
  context: Context,
  { order_id }: { readonly order_id?: unknown },
): Promise<Received<'order.get'> | undefined> {
  if (!isOnScreen(context) || context.previewsReads) return undefined;
  const client = await context.client();
  try {
    return (await client.call('order.get', { path: { order_id: plainText(order_id) } })).body;
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return undefined;
  }
}
