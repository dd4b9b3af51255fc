import { uuidPattern } from '../../../contract/limits.ts';
import { operations } from '../../../contract/operations/index.ts';
import { type Content, html } from '../../../markup.ts';
import { readDeliveriesOf } from '../../deliveries/read.ts';
import { findOrder } from '../../orders/records.ts';
import { age } from '../figures.ts';
import { htmlPage } from '../html.ts';
import { siteLinks } from '../links.ts';
import type { Page } from '../page.ts';
import { parcels } from '../parcels.ts';
import { stateBadge } from '../words.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { orderActions } from './order-actions.ts';
import { facts, failure, itemsTable } from './order-facts.ts';
import { orderMoney } from './order-money.ts';
import { timeline } from './order-timeline.ts';
import { ordersPath, stateOf } from './orders.ts';
import { userNames } from './users.ts';

const mostDeliveries = 50;

/** All that is known of one order, and what can be made happen to it. */
export const orderPage: Page<'consoleOrder'> = async ({ service, path: { id } }) => {
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  if (!order) {
    const body = html`<p class="lead">No order has this id here. <a href="${ordersPath}">All orders</a></p>`;
    return htmlPage('No such order', body, { status: 404, links: siteLinks });
  }
  const { record } = order;
  const now = service.clock.now();
  const shipments = record.tracking_numbers.map(({ checkpoints = [], ...rest }) => ({
    ...rest,
    checkpoints,
  }));
  const deliveries = readDeliveriesOf(service.store, record.id, mostDeliveries);
  const nameOf = userNames(service.store, [order.userId]);
  const body = html`<p>${stateBadge(stateOf(record))} <span class="soft">placed ${age(Date.parse(record.created_at), now)} by ${nameOf(order.userId)}</span></p>
${failure(record)}${await orderActions(service, order, now)}
${section('timeline', 'Timeline', timeline(order, now))}
${section('parcels', 'Parcels', html`${parcels(shipments)}<p><a href="${publicPath(record.id)}">What the recipient sees</a></p>`)}
${section('items', 'Items', itemsTable(record))}
${section('facts', 'Order', facts(record))}
${section('money', 'Money', orderMoney(service.store, order))}
${section('deliveries', 'Webhook deliveries', deliveriesTable(deliveries, { now, back: 'order' }))}
<details class="card" id="record"><summary>The record as JSON</summary><pre>${JSON.stringify(record, null, 2)}</pre></details>`;
  return htmlPage(`Order ${record.id.slice(0, 8)}`, body, { live: true, links: siteLinks });
};

const publicPath = (id: string): string => operations['order.track'].path.replace('{order_id}', id);

/** Some come and go while the page is read: by its id each stays the one it was. */
const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;
