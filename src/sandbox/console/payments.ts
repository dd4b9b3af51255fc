import { type Content, html } from '../../platform/html.ts';
import {
  type NumberedPayment,
  numbered,
  paymentNamed,
  readPayments,
  receiptHeaders,
  refundsOf,
} from '../payments/payments.ts';
import { type Column, listPage, windowOf } from './lists.ts';
import { consolePage, notThere, type Page } from './page.ts';
import { age, dateTime, jsonBlock, money } from './parts.ts';
import { ordersPath, sections } from './sections.ts';

const paymentsPath = sections.payments.path;

/** Lists payments by challenge, newest first. */
export const paymentsPage: Page<'consolePayments'> = ({ service: { store, clock }, search }) =>
  listPage({
    section: 'payments',
    title: 'Agent payments',
    lead: 'Calls without an account, each paid by a challenge (402). No money moved.',
    search,
    filters: {},
    columns,
    read: (part) =>
      readPayments(store, { ...windowOf(part, { from: numbered, seq: 'number' }), limit: part.limit }),
    numberOf: ({ number }) => number,
    csv: {
      reference: ({ reference }) => reference,
      method: ({ method }) => method,
      for: ({ operation }) => operation,
      amount_cents: ({ cents }) => cents,
      order_id: ({ orderId }) => orderId,
      paid_at: ({ at }) => new Date(at),
    },
    table: (rows, head) => paymentsTable(rows, head, clock.now()),
  });

const columns: readonly Column[] = [
  { name: 'Payment' },
  { name: 'Method', look: 'fit', by: 'method' },
  { name: 'For', look: 'fit', by: 'operation' },
  { name: 'Amount', look: 'fit number', by: 'cents' },
  { name: 'Order', look: 'fit' },
  { name: 'Paid', look: 'fit', by: 'number', isAge: true },
];

const paymentsTable = (rows: readonly NumberedPayment[], head: Content, now: number): Content =>
  rows.length === 0
    ? html`<p class="soft">Nothing was paid by challenge yet. <code>errand agent order create</code> pays for an order.</p>`
    : html`<table class="stack">${head}<tbody>${rows.map(
        ({ reference, method, operation, cents, orderId, at }) =>
          html`<tr id="payment-${reference}"><td><a class="mono" href="${paymentsPath}/${encodeURIComponent(reference)}">${reference}</a></td><td class="fit">${method}</td>
<td class="fit mono">${operation}</td><td class="fit number">${money(cents)}</td><td class="fit" data-label="order">${
            orderId === null
              ? '–'
              : html`<a class="mono" href="${ordersPath}/${orderId}">${orderId.slice(0, 8)}</a>`
          }</td><td class="fit">${age(at, now)}</td></tr>`,
      )}</tbody></table>`;

/** Page of a payment by challenge. Shows what the payment was for, the receipt and the refunds. */
export const paymentPage: Page<'consolePayment'> = ({ service: { store, clock }, path: { reference } }) => {
  const payment = paymentNamed(store, reference);
  if (!payment) return notThere('No such payment', 'No payment has this name here.', { section: 'payments' });
  const { method, operation, cents, source, orderId, challengeId, at } = payment;
  const refunds = orderId === null ? [] : refundsOf(store, orderId);
  const { 'payment-receipt': receipt = '' } = receiptHeaders(payment, refunds.length > 0 ? { refunds } : {});
  const facts: readonly (readonly [string, Content])[] = [
    ['Paid', html`${money(cents)} <small>${age(at, clock.now())}</small>`],
    ['By', method],
    ['For', html`<code>${operation}</code>`],
    ['Order', orderId && html`<a class="mono" href="${ordersPath}/${orderId}">${orderId}</a>`],
    ['Payer', source],
    ['Challenge', html`<span class="mono">${challengeId}</span>`],
    [
      'Paid back',
      refunds.map(
        ({ amount, timestamp }) =>
          html`<div>${money(Number(amount))} <small>${dateTime(Date.parse(timestamp))}</small></div>`,
      ),
    ],
  ];
  const body = html`<section id="facts"><dl>${facts
    .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>
<section id="receipt"><header><h2>Receipt</h2></header><p class="soft">As <code>Payment-Receipt</code> has it, decoded.</p>${jsonBlock('the receipt', Buffer.from(receipt, 'base64url').toString()).block}</section>`;
  return consolePage(`Payment ${reference}`, body, { live: true, section: 'payments' });
};
