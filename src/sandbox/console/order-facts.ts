import { errorTypeHint } from '../../api/error-codes.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import { shortfallsIn, spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import type { OrderRecord } from '../orders/lifecycle/index.ts';
import { money } from './pages/figures.ts';
import { lineText, outsideLink, quantityOf } from './pages/words.ts';

/** Why an order failed, in words, and what to do about it. */
export function failure({ job_result: result, items }: OrderRecord): Content {
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

export function itemsTable({ items, fulfillment }: OrderRecord): Content {
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
export function facts(record: OrderRecord): Content {
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
