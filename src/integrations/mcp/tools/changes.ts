import { ReturnRequestCreate } from '../../../api/schemas/return.ts';
import { cancelOrder } from '../../../orders/cancel.ts';
import { requestReturn } from '../../../orders/place-return.ts';
import { z } from '../arguments.ts';
import { defineTool } from '../tool.ts';
import { orderId } from './orders.ts';
import { flag, shown, text } from './shapes.ts';

export const orderCancel = defineTool({
  name: 'order_cancel',
  title: 'Cancel an order',
  description: 'Cancels an order that is still pending. One that was processed already cannot be cancelled.',
  effect: 'changes',
  isIdempotent: true,
  arguments: z.strictObject(orderId),
  output: () => ({ order_id: text('of the order'), status: text('cancelled') }),
  certain: ['order_id', 'status'],
  async run({ context }, given) {
    const { order_id: id } = given as { order_id: string };
    await cancelOrder(context, id);
    return { record: { order_id: id, status: 'cancelled' } };
  },
});

export const returnCreate = defineTool({
  name: 'return_create',
  title: 'Ask to return items',
  description:
    'Asks the retailer to take back items of a placed order. The ids of items stand in order_get. The same return again is the same return.',
  effect: 'changes',
  isIdempotent: true,
  arguments: z.strictObject({
    ...ReturnRequestCreate().shape,
    notes: z.string().max(2000).optional().describe('more for the retailer'),
  }),
  output: () => ({
    return: shown('ReturnRequest'),
    existed: flag('it had been asked for before; nothing was asked for twice'),
  }),
  certain: ['return', 'existed'],
  untrusted: ['return'],
  async run({ context }, body) {
    await context.ready();
    const { order, existed } = await requestReturn(context, body, { isNew: false });
    return { record: { return: order, existed } };
  },
});
