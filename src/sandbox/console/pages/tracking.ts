import { uuidPattern } from '../../../api/limits.ts';
import { orderState, shortfallsIn } from '../../../api/order-state.ts';
import type { Shape } from '../../../api/schemas/index.ts';
import { html } from '../../../platform/html.ts';
import { bringUpToDate } from '../../control/bring-up-to-date.ts';
import { type OrderRecord, publicTracking } from '../../orders/lifecycle/index.ts';
import { findOrder } from '../../orders/records.ts';
import type { SandboxResponse } from '../../server/wire.ts';
import { htmlPage } from './html.ts';
import type { Page } from './page.ts';
import { parcels } from './parcels.ts';
import { lineText, outsideLink, quantityOf, stateBadge } from './words.ts';

type Tracked = Shape<'PublicTrackingResponse'>;

/** The API has the same path; the response depends on the request. */
const headers = { vary: 'Accept' };

/** What anyone who holds an order's id sees of it: never whom it is for. */
export const trackingPage: Page<'tracking'> = async ({ service, path: { order_id: id } }) => {
  const now = service.clock.now();
  await bringUpToDate(service, now, service.patience.forRead(now));
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  if (order) return found(publicTracking(order.record), order.record);
  const body = html`<p class="lead">No order has this id. The link may have been cut short.</p>`;
  return htmlPage('No such order', body, { status: 404, narrow: true, headers });
};

function found(tracked: Tracked, { fulfillment, items }: OrderRecord): SandboxResponse {
  const { destination, estimated_delivery_date: expected } = tracked;
  const state = orderState({
    status: tracked.current_status,
    items,
    parcels: tracked.shipments,
    fulfillment,
  });
  const town = [destination.city, destination.state, destination.postal_code].filter(Boolean).join(' ');
  const lines = [destination.address_line1, destination.address_line2, town, destination.country];
  const address = lines.filter((line) => line !== null && line !== '');
  const shortfalls = shortfallsIn(fulfillment);
  const body = html`<p>${stateBadge(state)}${
    expected !== null &&
    state.mood === 'waiting' &&
    html` <span class="soft">delivery expected ${expected}</span>`
  }</p>
<section><header><h2>Parcels</h2></header>${parcels(tracked.shipments)}</section>
<section><header><h2>Items</h2></header><table class="stack"><thead><tr><th>Product</th><th class="fit">Quantity</th><th class="fit">State</th></tr></thead>
<tbody>${items.map(
    (item) =>
      html`<tr><td>${outsideLink(item.url)}${item.variant?.map(
        ({ label, value }) => html` <small>${label}: ${value}</small>`,
      )}</td><td class="fit" data-label="Quantity">${quantityOf(item, shortfalls)}</td><td class="fit">${lineText(item, shortfalls)}</td></tr>`,
  )}</tbody></table></section>
<section><header><h2>Goes to</h2></header><p>${address.map((line) => html`${line}<br>`)}</p></section>`;
  return htmlPage(`Order ${tracked.order_id.slice(0, 8)}`, body, { live: true, headers });
}
