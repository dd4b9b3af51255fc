import { type Content, html } from '../../platform/html.ts';
import { paymentNamed, receiptHeaders, refundsOf } from '../payments/payments.ts';
import { consolePage, notThere } from './console-page.ts';
import { ordersPath } from './orders.ts';
import { age, dateTime, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { jsonBlock } from './said.ts';

/** A payment by challenge: what it paid, its receipt, and what went back. */
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
