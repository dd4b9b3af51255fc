import { html } from '../../../markup.ts';
import { replay } from '../../deliveries/replay.ts';
import { Refusal } from '../../http/refusal.ts';
import type { SandboxResponse } from '../../http/wire.ts';
import { cancelOrder } from '../../orders/cancel.ts';
import { forceOrder, isOrderTrigger } from '../../orders/force.ts';
import { readForm } from '../forms.ts';
import { htmlPage } from '../html.ts';
import { siteLinks } from '../links.ts';
import type { Page } from '../page.ts';
import { deliveriesPath } from './deliveries-table.ts';
import { ordersPath } from './orders.ts';

/** Makes something happen to an order, as a button of its page requests. */
export const triggerEvent: Page<'consoleEvent'> = async ({ service, request, path: { id, event } }) => {
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const now = service.clock.now();
  try {
    if (event === 'cancel') await cancelOrder(service, { id, userId: null }, now);
    else if (isOrderTrigger(event)) await forceOrder(service, { trigger: event, id, userId: null }, now);
    else throw new Refusal('not_found', 'No such thing can happen to an order.');
  } catch (error) {
    if (error instanceof Refusal) return refused(error, id);
    throw error;
  }
  return seeOther(`${ordersPath}/${id}`);
};

/** The state may have changed since the page with the button was made. */
function refused({ code, message }: Refusal, id: string): SandboxResponse {
  const body = html`<p class="lead">${message}</p><p><a href="${ordersPath}/${id}">Back to the order</a></p>`;
  return htmlPage('Not now', body, { status: code === 'not_found' ? 404 : 409, links: siteLinks });
}

/** Sends a delivery again, as its button requests. */
export const replayDelivery: Page<'consoleReplay'> = async ({ service, request, path: { id } }) => {
  const form = readForm(request);
  if (!(form instanceof URLSearchParams)) return form;
  const orderId = await replay(service.store, service.identity, id, service.clock.now());
  if (orderId === undefined) {
    const body = html`<p class="lead">There is no such delivery any more. <a href="${deliveriesPath}">All deliveries</a></p>`;
    return htmlPage('Not there', body, { status: 404, links: siteLinks });
  }
  const backTo = { deliveries: deliveriesPath, order: `${ordersPath}/${orderId}#deliveries` };
  const back = form.get('back');
  return seeOther(back === 'deliveries' || back === 'order' ? backTo[back] : '/#deliveries');
};

const seeOther = (location: string): SandboxResponse => ({
  status: 303,
  headers: { location, 'cache-control': 'no-store' },
  body: null,
});
