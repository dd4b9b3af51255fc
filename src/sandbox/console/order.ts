import { errorTypeHint } from '../../api/error-codes.ts';
import { uuidPattern } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import { shortfallsIn, spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import type { OrderRecord } from '../orders/lifecycle/index.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { type Entry, entriesOf } from '../wallet/ledger.ts';
import type { LedgerKind } from '../wallet/wallet.ts';
import { readDeliveriesOf } from '../webhooks/read.ts';
import { consolePage, notThere, siblingLinks } from './console-page.ts';
import { walletPath } from './console-paths.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { ledgerWords, signed } from './ledger-words.ts';
import { orderActions } from './order-actions.ts';
import { orderFeed } from './order-feed.ts';
import { ordersPath, stateOf } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age, dateTime, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { parcels } from './pages/parcels.ts';
import { sameRequest } from './pages/same-request.ts';
import { lineText, outsideLink, quantityOf, stateBadge } from './pages/words.ts';
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

/** Why an order failed, in words, and what to do about it. */
function failure({ job_result: result, items }: OrderRecord): Content {
  if (!result || result.success) return null;
  const { error, error_type: type, error_details: details } = result;
  const hint = type === null ? undefined : errorTypeHint(type);
  const said = error ?? details?.message ?? 'It failed, and nobody said why.';
  return html`<section id="failure"><header><h2 class="bad">Why it failed</h2></header><p>${said}${
    type !== null && html` <code class="soft">${type}</code>`
  }</p>${hint !== undefined && html`<p class="soft">${hint}</p>`}${details?.field_errors.map(
    ({ field, message }) => html`<p><code>${field}</code> ${message}</p>`,
  )}${
    items.length > 1 &&
    details?.line_rejections.map(({ url, message }) => html`<p>${outsideLink(url)}: ${message}</p>`)
  }</section>`;
}

function itemsTable({ items, fulfillment }: OrderRecord): Content {
  const shortfalls = shortfallsIn(fulfillment);
  return html`<table class="stack"><thead><tr><th>Product</th>
<th class="fit">Quantity</th><th class="fit">State</th></tr></thead><tbody>${items.map(
    (item) => html`<tr id="item-${item.id}"><td>${outsideLink(item.url)}${item.variant?.map(
      ({ label, value }) => html` <small>${label}: ${value}</small>`,
    )}</td><td class="fit" data-label="Quantity">${quantityOf(item, shortfalls)}</td>
<td class="fit">${lineText(item, shortfalls)}${item.error_type !== null && html` <small>${item.error_type}</small>`}</td></tr>`,
  )}</tbody></table>`;
}

/** The rest of the record, as far as it is set. */
function facts(record: OrderRecord): Content {
  const { shipping_address: to, job_result: result, payment, fulfillment } = record;
  const price = result?.price_components;
  const paid = result?.success ? price : null;
  const rows: readonly (readonly [string, Content])[] = [
    ['Id', html`<span class="mono">${record.id}</span>`],
    ['Ceiling', money(record.max_price)],
    ['Paid', paid ? money(paid.total, paid.currency) : null],
    ['Quoted', price && !paid ? money(price.total, price.currency) : null],
    ['Of which', paid?.breakdown_recorded ? breakdown(paid) : null],
    ['Goes to', addressOf(to)],
    ['Phone', to.phone_number],
    ['Retailer’s number', record.merchant_order_ids.join(', ')],
    ...eachPlainField.map(([name, { title }]) => [title, yesOrValue(record[name])] as const),
    ['Card', payment ? `${spoken(payment.state)}, ${money(payment.authorized_cents)} held` : null],
    ['Connect', record.connect && spoken(record.connect.state)],
    ['Notified', record.customer_notifications?.email],
    ['Concessions', fulfillment?.concessions.map(({ message }) => message).join(' ')],
    [
      'Returns',
      record.returns.map(({ status, reason }) => `${spoken(status)} (${spoken(reason)})`).join(', '),
    ],
    ['Metadata', record.metadata && html`<code>${JSON.stringify(record.metadata)}</code>`],
    ['Attempts', record.attempts],
  ];
  return html`<dl>${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

const yesOrValue = (value: string | number | boolean | null): Content =>
  typeof value === 'boolean' ? (value ? 'yes' : null) : value;

const breakdown = (paid: NonNullable<NonNullable<OrderRecord['job_result']>['price_components']>): string =>
  (['subtotal', 'tax', 'shipping', 'discount', 'fees'] as const)
    .filter((name) => paid[name] !== 0)
    .map((name) => `${name} ${money(paid[name], paid.currency)}`)
    .join(', ');

const addressOf = (to: OrderRecord['shipping_address']): string =>
  [
    `${to.first_name} ${to.last_name}`,
    to.address_line1,
    to.address_line2,
    [to.city, to.state, to.postal_code].filter(Boolean).join(' '),
    to.country,
  ]
    .filter((line) => line !== null && line !== '')
    .join(', ');

/** What an order moved in its wallet, what it came to in the end, and what is still held for it. */
function orderMoney(store: Store, { record, userId, reserved }: StoredOrder): Content {
  const entries = entriesOf(store, record.id);
  if (entries.length === 0 && reserved === 0)
    return html`<p class="soft">The wallet paid nothing for it.</p>${walletLink(userId)}`;
  return html`<table class="sum"><tbody>${entries.map(
    ({ at, kind, cents }) =>
      html`<tr><th scope="row">${ledgerWords[kind]} <small><time>${dateTime(at)}</time></small></th><td class="fit number">${signed(cents)}</td></tr>`,
  )}${
    reserved > 0 &&
    html`<tr><th scope="row">Held until it is placed or fails: the ceiling and the fee</th><td class="fit number">${signed(-reserved)}</td></tr>`
  }${entries.length > 0 && outcome(entries)}</tbody></table>${walletLink(userId)}`;
}

/** What left the wallet, and what came back into it. */
const back: readonly LedgerKind[] = ['refund', 'credit', 'payout'];

/** The sum of all: what was kept of the payer's money. What a payer by challenge paid in is no cost by itself. */
function outcome(entries: readonly Entry[]): Content {
  const kept = -entries
    .filter(({ kind }) => kind !== 'payment' && kind !== 'payout')
    .reduce((sum, { cents }) => sum + cents, 0);
  const fee = -entries.filter(({ kind }) => kind === 'fee').reduce((sum, { cents }) => sum + cents, 0);
  const isBack = entries.some(({ kind }) => back.includes(kind));
  const name = isBack ? 'Kept in the end' : 'Paid in all';
  return html`<tr class="total"><th scope="row">${name}${isBack && kept > 0 && kept === fee && ', the fee'}</th><td class="fit number">${money(kept)}</td></tr>`;
}

const walletLink = (userId: string): Content =>
  html`<p><a href="${walletPath(userId)}">The wallet that pays</a></p>`;
