import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { type SandboxConfig, shopPath } from '../config.ts';
import type { Service } from '../server/service.ts';
import { readDeliveries } from '../webhooks/read.ts';
import { deliveriesTable, orderTitles } from './deliveries.ts';
import { keysTable, readKeys } from './keys.ts';
import { latest } from './lists.ts';
import { ordersTable, readOrders } from './orders.ts';
import { consolePage, type Page } from './page.ts';
import { copied } from './parts.ts';
import { readRequests, requestsPath, requestsTable } from './requests.ts';
import { deliveriesPath, keysPath, ordersPath } from './sections.ts';

/**
 * Home page of the console. The `quickstart_url` of a minted key points to this page. Shows what the sandbox is for and
 * what happened recently.
 */
export const dashboardPage: Page<'console'> = ({ service }) => {
  const { store, clock, config } = service;
  const now = clock.now();
  const orders = readOrders(service, latest);
  const deliveries = readDeliveries(store, latest);
  const body = html`<p class="lead">The whole service, rehearsed on this machine: nothing is bought and no money moves.
<a href="${shopPath}">The shop</a> has a product for every outcome.</p>
${firstOrder(config, orders.length === 0)}${figures(service)}
${section('orders', 'Orders', ordersPath, ordersTable(orders, now))}
${section('deliveries', 'Webhook deliveries', deliveriesPath, deliveriesTable(config, deliveries, { now, titleOf: orderTitles(service) }))}
${section('requests', 'Requests', requestsPath, requestsTable(service, readRequests(service, latest)))}
${section('keys', 'Keys and wallets', keysPath, keysTable(service, readKeys(service, latest), now))}`;
  return consolePage('The sandbox', body, { live: true, isDashboard: true });
};

const section = (id: string, title: string, path: string, table: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2><a href="${path}">All<span class="unseen"> ${title.toLowerCase()}</span></a></header>${table}</section>`;

/** Three lines that place an order with plain curl; collapsed once an order exists. */
function firstOrder({ baseUrl }: SandboxConfig, isOpen: boolean): Content {
  const lines = [
    `curl -sX POST ${baseUrl}${operations['sandbox.mint'].path} > key.json`,
    'KEY=$(jq -r .api_key key.json)',
    `jq .example_order key.json | curl -s ${baseUrl}${operations['order.create'].path} -H "Authorization: Bearer $KEY" -d @-`,
  ];
  return html`<details class="card"${isOpen && html` open`}><summary>A first order, in three lines</summary>
${copied('the first order', lines.join('\n'))}</details>`;
}

function figures({ store, config }: Service): Content {
  const orders = Number(store.get('SELECT total(order_count) AS orders FROM users')?.orders);
  return html`<section><dl class="figures"><div><dt>Orders</dt><dd>${orders.toLocaleString('en-US')}</dd></div>
<div><dt>Address</dt><dd class="mono">${config.baseUrl}</dd></div></dl></section>`;
}
