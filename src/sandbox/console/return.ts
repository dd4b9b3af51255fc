import { operations } from '../../api/operations/index.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { findOrder } from '../orders/records.ts';
import { withLabels } from '../returns/labels.ts';
import { findReturn } from '../returns/records.ts';
import { consolePage, notThere } from './console-page.ts';
import { walletPath } from './console-paths.ts';
import { ordersPath } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { sameRequest } from './pages/same-request.ts';
import { outsideLink } from './pages/words.ts';
import { units } from './returns.ts';
import { returnActions, returnBadge } from './returns-of-order.ts';
import { userNames } from './users.ts';

/** A return: what is sent back and why, what became of it, and what can be made of it. */
export const returnPage: Page<'consoleReturnPage'> = async ({ service, path: { id } }) => {
  const { store, clock, config } = service;
  const found = findReturn(store, id, null);
  const order = found && findOrder(store, found.record.order_id, null);
  if (!order) return notThere('No such return', 'No return has this id here.', { section: 'returns' });
  const now = clock.now();
  const record = await withLabels(service, found, now);
  const urlOf = (item: string): string => order.record.items.find((one) => one.id === item)?.url ?? item;
  const facts: readonly (readonly [string, Content])[] = [
    ['Id', html`<span class="mono">${record.id}</span>`],
    ['Order', html`<a class="mono" href="${ordersPath}/${record.order_id}">${record.order_id}</a>`],
    ['Reason', spoken(record.reason)],
    ['Notes', record.notes],
    ['Resolution', record.resolution_notes],
    ['Retailer’s number', record.merchant_return_id],
    [
      'Credited',
      html`${money(record.credited_amount)} <a href="${walletPath(found.userId)}">to the wallet of ${userNames(store, [found.userId])(found.userId)}</a>`,
    ],
    [
      'Labels',
      record.label_urls.map(
        (url, index) =>
          html`<a href="${new URL(url).pathname}${new URL(url).search}">Label ${index + 1}</a> `,
      ),
    ],
  ];
  const body = html`<p>${returnBadge(record.status)} <span class="soft">requested ${age(Date.parse(record.created_at), now)}</span></p>
<section id="facts"><dl>${facts
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(
      ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`,
    )}</dl>${returnActions(service, found, { order, now, back: 'return' })}</section>
<section id="items"><header><h2>Sent back: ${units(record.items)}</h2></header><table class="stack"><thead><tr><th>Product</th><th class="fit">Quantity</th></tr></thead><tbody>${record.items.map(
    ({ order_item_id, quantity }) =>
      html`<tr><td>${outsideLink(urlOf(order_item_id))}</td><td class="fit" data-label="Quantity">${quantity}</td></tr>`,
  )}</tbody></table></section>
<div class="card" id="same">${sameAs('this return', sameRequest(config, { method: 'GET', target: operations['return.get'].path.replace('{return_request_id}', record.id) }))}</div>`;
  return consolePage(`Return ${record.id.slice(0, 8)}`, body, { live: true, section: 'returns' });
};
