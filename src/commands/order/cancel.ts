import { defineCommand } from '../../cli/define.ts';
import { eachId, readIds } from '../../cli/ids.ts';
import type { Context } from '../../context.ts';
import { ErrandError } from '../../errors.ts';
import type { Client } from '../../http/client.ts';
import { audited } from '../../orders/audited.ts';

/** Cancels one order. That it is cancelled already, or that the response was lost on the way, changes nothing. */
async function cancelOrder(context: Context, client: Client, id: string): Promise<void> {
  try {
    await client.call('order.cancel', { path: { order_id: id } });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const isUnsure = error.facts.code === 'order_not_cancellable' || error.facts.outcome === 'unknown';
    if (!isUnsure || context.signal.aborted) throw error;
    const { body: order } = await client.call('order.get', { path: { order_id: id } }).catch(() => {
      // That it cannot be looked at either says less than what became of the request to cancel.
      throw error;
    });
    if (order.status !== 'cancelled') throw error;
    context.note(
      `${id} is cancelled${error.facts.outcome === 'unknown' ? '; the response had been lost' : ' already'}`,
    );
  }
}

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel orders that are still pending',
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
    { command: 'errand order cancel $ORDER', note: 'only while it is pending' },
    { command: 'errand order list --status pending -o id | errand order cancel -', note: 'all that can be' },
  ],
  output: { list: 'CancelledOrder' },
  operations: ['order.cancel', 'order.get'],
  exitCodes: { 5: 'already processed (order_not_cancellable)' },
  related: ['order list', 'order get'],
  async run(context, { ids }) {
    const wanted = await readIds(context, 'order id', ids);
    const client = await context.client();
    return {
      kind: 'list',
      columns: [
        { name: 'id', path: 'id', kind: 'id', names: 'orders', weight: 2 },
        { name: 'status', path: 'status', kind: 'status', weight: 1 },
      ],
      empty: 'no order to cancel',
      ...eachId(context, wanted, async (id) => {
        const { profile, baseUrl } = context.settings;
        const subject = { profile: profile.value, service: baseUrl.value, orderId: id };
        await audited(
          context,
          (detail) => ({ kind: 'cancellation', ...subject, detail }),
          () => cancelOrder(context, client, id),
        );
        return { id, status: 'cancelled' as const };
      }),
    };
  },
});
