import { sandboxTriggers } from '../../api/control.ts';
import { cancellableOrderStatuses, type OrderStatus } from '../../api/enums.ts';
import { errorTypeHint } from '../../api/error-codes.ts';
import { type ErrorType, errorTypeGroups, errorTypes } from '../../api/error-types.ts';
import { uuidPattern } from '../../api/limits.ts';
import { operations } from '../../api/operations/index.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import { shortfallsIn, spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { SandboxConfig } from '../config.ts';
import {
  cancelOrder,
  forceOrder,
  isOrderTrigger,
  type OrderTrigger,
  possibleTriggers,
} from '../orders/interventions.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { type Entry, entriesOf } from '../wallet/ledger.ts';
import type { LedgerKind } from '../wallet/wallet.ts';
import { readDeliveriesOf } from '../webhooks/read.ts';
import { batchRowPath } from './batches.ts';
import { deliveriesTable } from './deliveries.ts';
import { formAction, Misfilled, onceField, onceIn, seeOther, type WayBack } from './form-action.ts';
import { hostText, listQuery, orderFilters, orderNeighbours, readFilters, userNames } from './lists.ts';
import { stateOf } from './orders.ts';
import { consolePage, notThere, type Page, siblingLinks } from './page.ts';
import {
  age,
  colouredJson,
  copiedId,
  dateTime,
  lineText,
  money,
  outsideLink,
  parcels,
  quantityOf,
  sameAs,
  stateBadge,
} from './parts.ts';
import { orderTitle, type TitleOf, titlesNow } from './products.ts';
import { returnsOfOrder } from './returns.ts';
import { ordersPath, walletPath } from './sections.ts';
import { controlCall, curlCall, sameFromTerminal, sameRequest, triggerCall } from './terminal-commands.ts';
import { advanceBy } from './time.ts';
import { movementsOf, orderTimeline } from './timeline.ts';
import { signed } from './wallet.ts';

const maxDeliveries = 50;

/** Page of an order. Shows everything known about the order, and the events that can be triggered. */
export const orderPage: Page<'consoleOrder'> = async ({ service, path: { id }, search }) => {
  const order = uuidPattern.test(id) ? findOrder(service.store, id.toLowerCase(), null) : undefined;
  if (!order) return notThere('No such order', 'No order has this id here.', { section: 'orders' });
  const { record } = order;
  const now = service.clock.now();
  const shipments = record.tracking_numbers.map(({ checkpoints = [], ...rest }) => ({
    ...rest,
    checkpoints,
  }));
  const deliveries = readDeliveriesOf(service.store, record.id, maxDeliveries);
  const nameOf = userNames(service.store, [order.userId]);
  const titleOf = titlesNow(service);
  const query = listQuery(search, orderFilters);
  const body = html`<div class="neighbours">${siblingLinks('orders', 'order', siblingsOf(service, order.seq, search, query))}</div><p>${stateBadge(stateOf(record))}</p><p class="soft placed">for <bdi>${record.shipping_address.first_name} ${record.shipping_address.last_name}</bdi>, placed ${age(Date.parse(record.created_at), now)} by <a href="${walletPath(order.userId)}"><bdi>${nameOf(order.userId)}</bdi></a></p><p>${copiedId('order', record.id)}</p>
${section('timeline', 'Timeline', orderTimeline(service, order, now))}
<div class="slot holds" id="now">${failure(record)}${await orderActions(service, order, now)}</div>
${section('money', 'Money', orderMoney(service, order))}
${section('parcels', 'Parcels', html`${parcels(shipments)}<p><a href="${publicPath(record.id)}">What the recipient sees</a></p>`)}
${section('items', 'Items', itemsTable(record, titleOf))}
${section('facts', 'Order', facts(service, order))}
${returnsOfOrder(service, order, now)}
${section('deliveries', 'Webhook deliveries', deliveriesTable(service.config, deliveries, { now }))}
<details class="card" id="record"><summary>The record as JSON</summary><pre tabindex="0">${colouredJson(JSON.stringify(record, null, 2))}</pre></details>
<div class="card" id="same">${sameAs('this order', sameRequest(service.config, { method: 'GET', target: orderPathOf(record.id) }))}</div>`;
  return consolePage(orderTitle(titleOf, record.items), body, { live: true, section: 'orders', query });
};

const orderPathOf = (id: string): string => operations['order.get'].path.replace('{order_id}', id);

/** The neighbours in the list that the page was opened from. */
function siblingsOf({ store }: Service, seq: number, search: string, query: string) {
  const { newer, older } = orderNeighbours(store, readFilters(search, orderFilters), seq);
  const linkTo = (id: string | null): string | null => id && `${ordersPath}/${id}${query}`;
  return { newer: linkTo(newer), older: linkTo(older), query };
}

const publicPath = (id: string): string => operations['order.track'].path.replace('{order_id}', id);

/** On a live page, sections appear and disappear. The id lets an update find the same section. */
const section = (id: string, title: string, content: Content): Content =>
  html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;

/** Why an order failed, and how to fix it. */
function failure({ job_result: result, items }: OrderRecord): Content {
  if (!result || result.success) return null;
  const { error, error_type: type, error_details: details } = result;
  const hint = type === null ? undefined : errorTypeHint(type);
  const reason = error ?? details?.message ?? 'It failed, and nobody said why.';
  return html`<section id="failure"><header><h2 class="bad">Why it failed</h2></header><p>${reason}${
    type !== null && html` <code class="soft">${type}</code>`
  }</p>${hint !== undefined && html`<p class="soft">${hint}</p>`}${details?.field_errors.map(
    ({ field, message }) => html`<p><code>${field}</code> ${message}</p>`,
  )}${
    items.length > 1 &&
    details?.line_rejections.map(
      ({ url, message }) => html`<p>${url !== undefined && html`${outsideLink(url)}: `}${message}</p>`,
    )
  }</section>`;
}

function itemsTable({ items, fulfillment }: OrderRecord, titleOf: TitleOf): Content {
  const shortfalls = shortfallsIn(fulfillment);
  return html`<table class="stack"><thead><tr><th>Product</th>
<th class="fit">Quantity</th><th class="fit">State</th></tr></thead><tbody>${items.map(
    (
      item,
    ) => html`<tr id="item-${item.id}"><td>${outsideLink(item.url, titleOf(item.url))}${item.variant?.map(
      ({ label, value }) => html` <small>${label}: ${value}</small>`,
    )}</td><td class="fit" data-label="Quantity">${quantityOf(item, shortfalls)}</td>
<td class="fit">${lineText(item, shortfalls)}${item.error_type !== null && html` <small>${item.error_type}</small>`}</td></tr>`,
  )}</tbody></table>`;
}

/** The remaining fields of the record that are set. */
function facts({ store, config }: Service, { seq, record }: StoredOrder): Content {
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
    ['Retailer', retailersOf(config, record)],
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
    ['Batch', batchRowOf(store, seq)],
  ];
  return html`<dl>${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

const retailersOf = (config: SandboxConfig, { items }: OrderRecord): string =>
  [...new Set(items.map(({ url }) => parseUrl(url)?.host ?? url))]
    .map((host) => hostText(host, config))
    .join(', ');

/** Renders a link to the batch row that the order was made from; null if it was not made from a batch. */
function batchRowOf(store: Store, orderSeq: number): Content {
  const row = store.get(
    `SELECT b.id, b.filename, b.row_count, r.place FROM batch_rows r JOIN batches b ON b.seq = r.batch_seq
     WHERE r.order_seq = ? AND r.order_seq IS NOT NULL LIMIT 1`,
    orderSeq,
  );
  if (!row) return null;
  const place = Number(row.place);
  const name = row.filename === null ? String(row.id).slice(0, 8) : String(row.filename);
  return html`<a href="${batchRowPath(String(row.id), { place, count: Number(row.row_count) })}"><bdi>${name}</bdi>, row ${(place + 1).toLocaleString('en-US')}</a>`;
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

/** Renders all movements of the wallet for an order, and their total. */
function orderMoney(service: Service, order: StoredOrder): Content {
  const { userId } = order;
  const movements = movementsOf(service, order);
  if (movements.length === 0)
    return html`<p class="soft">The wallet paid nothing for it.</p>${walletLink(userId)}`;
  const entries = entriesOf(service.store, order.record.id);
  return html`<table class="sum"><tbody>${movements.map(
    ({ at, name, cents }) =>
      html`<tr><th scope="row">${name} <small><time>${dateTime(at)}</time></small></th><td class="fit number">${signed(cents)}</td></tr>`,
  )}${outcome(entries, order.reserved)}</tbody></table>${
    entries.length === 0 && order.reserved === 0 && html`<p class="soft">The wallet paid nothing for it.</p>`
  }${walletLink(userId)}`;
}

/** Ledger kinds that return money to the wallet or to the payer. */
const back: readonly LedgerKind[] = ['refund', 'credit', 'payout'];

/**
 * Renders the row with the total cost of the order. Payments by challenge and payouts of these payments do not count,
 * because paying money in is not a cost.
 */
function outcome(entries: readonly Entry[], held: number): Content {
  if (held > 0)
    return html`<tr class="total"><th scope="row">Held until it is placed or fails: the ceiling and the fee</th><td class="fit number">${money(held)}</td></tr>`;
  const retained = -entries
    .filter(({ kind }) => kind !== 'payment' && kind !== 'payout')
    .reduce((sum, { cents }) => sum + cents, 0);
  const fee = -entries.filter(({ kind }) => kind === 'fee').reduce((sum, { cents }) => sum + cents, 0);
  const isBack = entries.some(({ kind }) => back.includes(kind));
  const name = isBack ? 'Kept in the end' : 'Paid in all';
  return html`<tr class="total"><th scope="row">${name}${isBack && retained > 0 && retained === fee && ', the fee'}</th><td class="fit number">${money(retained)}</td></tr>`;
}

const walletLink = (userId: string): Content =>
  html`<p><a href="${walletPath(userId)}">The wallet that pays</a></p>`;

function backToOrder({ path: { id } }: { readonly path: { readonly id: string } }): WayBack {
  return { path: `${ordersPath}/${id}`, text: 'Back to the order' };
}

/** Handles the button that advances the clock to a scheduled moment of an order. */
export const jump = formAction<'consoleJump'>(backToOrder, ({ service, path: { id } }, form) => {
  const to = form.get('to') ?? '';
  if (!/^[1-9]\d{0,15}$/.test(to)) throw new Misfilled('This form is not whole: load its page again.');
  const path = `${ordersPath}/${id}`;
  const ms = Math.max(0, Number(to) - service.clock.now());
  return advanceBy(service, ms, { once: onceIn(form), path, step: `${path} ${to}` });
});

/** An event that the user can cause for an order: a cancellation or a trigger. */
type OrderEvent = 'cancel' | OrderTrigger;

const defaultError: ErrorType = 'checkout_failed';

/**
 * Renders a button for each event that is possible now. Once the order has reached a final state, renders a short note
 * instead, unless the page already says so. @param now ms since the epoch.
 */
async function orderActions(service: Service, order: StoredOrder, now: number): Promise<Content> {
  const { id, status } = order.record;
  const cancellable: readonly OrderStatus[] = cancellableOrderStatuses;
  const triggers = await possibleTriggers(service, order, now);
  const events: readonly OrderEvent[] = [
    ...(cancellable.includes(status) ? ['cancel' as const] : []),
    ...triggers,
  ];
  const end = order.plan.at(-1)?.at;
  if (events.length === 0 && end === undefined) {
    if (order.record.job_result?.success === false) return null;
    return html`<section id="over"><p class="soft">Its life is over: nothing more happens to it.</p></section>`;
  }
  return html`<section id="actions"><header><h2>Make it happen now</h2></header><div class="actions">${events.map(
    (event) =>
      html`<form method="post" action="${ordersPath}/${id}/${event}" id="event-${event}"><button title="${meaningOf(event)}">${event.replaceAll('-', ' ')}</button>${
        event === 'failed' && reasons
      }</form>`,
  )}${end !== undefined && untilDoneForm(id)}</div>${sameFromTerminal(
    service.config,
    'same-events',
    [
      ...events.map((event) => callOf(service.config, event, id)),
      ...(end === undefined ? [] : [advanceCall(service.config, end - now)]),
    ],
    'With a key of the order’s user in ERRAND_API_KEY.',
  )}</section>`;
}

/** Renders a button that advances the clock past the last scheduled event of an order. */
const untilDoneForm = (id: string): Content =>
  html`<form method="post" action="${ordersPath}/${id}/until-done" id="event-until-done">${onceField()}<button title="moves the sandbox’s clock, for all orders">advance until it is done</button></form>`;

const advanceCall = (config: SandboxConfig, ms: number) => {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return controlCall(config, 'advancing until it is done', ['advance', `${seconds}s`], {
    action: 'advance',
    body: { ms: seconds * 1000 },
  });
};

/** Handles the button that advances the clock until an order reaches its final state. */
export const untilDone = formAction<'consoleUntilDone'>(backToOrder, ({ service, path: { id } }, form) => {
  const { store, clock } = service;
  const order = findOrder(store, id, null);
  if (!order) throw new ErrorResponse('not_found', 'No order has this id here.');
  const path = `${ordersPath}/${id}`;
  const end = order.plan.at(-1)?.at;
  if (end === undefined) return seeOther(path);
  return advanceBy(service, Math.max(0, end - clock.now()), { once: onceIn(form), path, step: path });
});

const meaningOf = (event: OrderEvent): string =>
  event === 'cancel' ? 'the caller cancels the order' : sandboxTriggers[event].description;

/** Failure reasons offered by the form. */
const reasons: Content = html`<select name="error_type" aria-label="Why it fails">${errorTypeGroups.map(
  (group) =>
    html`<optgroup label="${group}">${Object.entries(errorTypes)
      .filter(([, row]) => row.group === group)
      .map(
        ([type]) => html`<option value="${type}"${type === defaultError && html` selected`}>${type}</option>`,
      )}</optgroup>`,
)}</select>`;

function callOf(config: SandboxConfig, event: OrderEvent, id: string) {
  if (event === 'cancel') {
    const path = operations['order.cancel'].path.replace('{order_id}', id);
    return {
      what: event,
      errand: ['order', 'cancel', id],
      curl: curlCall(config, { method: operations['order.cancel'].method, path }),
    };
  }
  return triggerCall(config, {
    event,
    id,
    ...(event === 'failed' && {
      fields: { error_type: defaultError },
      options: ['--error-type', defaultError],
    }),
  });
}

/** Handles the event buttons of an order page. */
export const triggerEvent = formAction<'consoleEvent'>(
  backToOrder,
  async ({ service, path: { id, event } }, form) => {
    const now = service.clock.now();
    if (event === 'cancel') await cancelOrder(service, { id, userId: null }, now);
    else if (isOrderTrigger(event)) {
      const errorType = event === 'failed' ? errorTypeIn(form) : undefined;
      await forceOrder(service, { trigger: event, id, userId: null, errorType }, now);
    } else throw new ErrorResponse('not_found', 'No such thing can happen to an order.');
    return seeOther(`${ordersPath}/${id}`);
  },
);

function errorTypeIn(form: URLSearchParams): ErrorType | undefined {
  const given = form.get('error_type');
  if (given === null) return undefined;
  if (Object.hasOwn(errorTypes, given)) return given as ErrorType;
  throw new Misfilled('Why it fails takes one of the reasons of the list.');
}
