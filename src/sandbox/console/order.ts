import { uuidPattern } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { findOrder } from '../orders/records.ts';
import type { Service } from '../service.ts';
import { readDeliveriesOf } from '../webhooks/read.ts';
import { consolePage, notThere, siblingLinks } from './console-page.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { orderActions } from './order-actions.ts';
import { facts, failure, itemsTable } from './order-facts.ts';
import { orderFeed } from './order-feed.ts';
import { orderMoney } from './order-money.ts';
import { ordersPath, stateOf } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { parcels } from './pages/parcels.ts';
import { sameRequest } from './pages/same-request.ts';
import { stateBadge } from './pages/words.ts';
import { returnsOfOrder } from './returns-of-order.ts';
import { userNames } from './users.ts';

const mostDeliveries = 50;

/** All that is known of one order, and what can be made happen to it. */
export const orderPage: Page<'consoleOrder'> = async ({ service, path: { id } }) => {
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  if (!order) return notThere('No such order', 'No order has this id here.', { section: 'orders' });
  const { record } = order;
  const now = service.clock.now();
  const shipments = record.tracking_numbers.map(({ checkpoints = [], ...rest }) => ({
    ...rest,
    checkpoints,
  }));
  const deliveries = readDeliveriesOf(service.store, record.id, mostDeliveries);
  const nameOf = userNames(service.store, [order.userId]);
  const body = html`<div class="neighbours">${siblingLinks('order', siblingsOf(service, order.seq))}</div><p>${stateBadge(stateOf(record))} <span class="soft">placed ${age(Date.parse(record.created_at), now)} by ${nameOf(order.userId)}</span></p>
<div class="slot holds" id="now">${failure(record)}${await orderActions(service, order, now)}</div>
${section('timeline', 'Timeline', orderFeed(service, order, now))}
${section('parcels', 'Parcels', html`${parcels(shipments)}<p><a href="${publicPath(record.id)}">What the recipient sees</a></p>`)}
${section('items', 'Items', itemsTable(record))}
${section('facts', 'Order', facts(record))}
${section('money', 'Money', orderMoney(service.store, order))}
${returnsOfOrder(service, order, now)}
${section('deliveries', 'Webhook deliveries', deliveriesTable(service.config, deliveries, { now, back: 'order' }))}
<details class="card" id="record"><summary>The record as JSON</summary><pre tabindex="0">${JSON.stringify(record, null, 2)}</pre></details>
<div class="card" id="same">${sameAs('this order', sameRequest(service.config, { method: 'GET', target: orderPathOf(record.id) }))}</div>`;
  return consolePage(`Order ${record.id.slice(0, 8)}`, body, { live: true, section: 'orders' });
};

const orderPathOf = (id: string): string => operations['order.get'].path.replace('{order_id}', id);

function siblingsOf({ store }: Service, seq: number) {
  const linkTo = (sql: string): string | null => {
    const id = store.get(sql, seq)?.id;
    return id === undefined ? null : `${ordersPath}/${String(id)}`;
  };
  return {
    newer: linkTo('SELECT id FROM orders WHERE seq > ? ORDER BY seq LIMIT 1'),
    older: linkTo('SELECT id FROM orders WHERE seq < ? ORDER BY seq DESC LIMIT 1'),
  };
}

const publicPath = (id: string): string => operations['order.track'].path.replace('{order_id}', id);

/** Some come and go while the page is read: by its id each stays the one it was. */
const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;
