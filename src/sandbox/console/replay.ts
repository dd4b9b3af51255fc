import { Refusal } from '../server/refusal.ts';
import { replay } from '../webhooks/replay.ts';
import { deliveriesPath } from './deliveries-table.ts';
import { formAction, seeOther } from './form-action.ts';
import { ordersPath } from './orders.ts';

/** Sends a delivery again, as its button requests. */
export const replayDelivery = formAction<'consoleReplay'>(
  () => ({ path: deliveriesPath, text: 'All deliveries' }),
  async ({ service, path: { id } }, form) => {
    const orderId = await replay(service.store, service.identity, id, service.clock.now());
    if (orderId === undefined) throw new Refusal('not_found', 'There is no such delivery any more.');
    const backTo = new Map<string | null, string>([
      ['deliveries', deliveriesPath],
      ['delivery', `${deliveriesPath}/${id}`],
      ['order', `${ordersPath}/${orderId}#deliveries`],
    ]);
    return seeOther(backTo.get(form.get('back')) ?? '/#deliveries');
  },
);
