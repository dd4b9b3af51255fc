import { type Content, html } from '../../platform/html.ts';
import { type NumberedPayment, readPayments } from '../payments/payments.ts';
import { ordersPath } from './orders.ts';
import { age, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { listPage } from './paging.ts';
import { sections } from './sections.ts';

export const paymentsPath = sections.payments.path;

/** What was paid by challenge, newest first. */
export const paymentsPage: Page<'consolePayments'> = ({ service: { store, clock }, search }) =>
  listPage({
    section: 'payments',
    title: 'Agent payments',
    lead: 'Calls without an account, each paid by a challenge (402). No money moved.',
    search,
    read: (part) => readPayments(store, part),
    numberOf: ({ number }) => number,
    table: (rows) => paymentsTable(rows, clock.now()),
  });

const paymentsTable = (rows: readonly NumberedPayment[], now: number): Content =>
  rows.length === 0
    ? html`<p class="soft">Nothing was paid by challenge yet. <code>errand agent order create</code> pays for an order.</p>`
    : html`<table class="stack"><thead><tr><th>Payment</th><th class="fit">Method</th><th class="fit">For</th><th class="fit number">Amount</th>
<th class="fit">Order</th><th class="fit">Paid</th></tr></thead><tbody>${rows.map(
        ({ reference, method, operation, cents, orderId, at }) =>
          html`<tr id="payment-${reference}"><td><a class="mono" href="${paymentsPath}/${encodeURIComponent(reference)}">${reference}</a></td><td class="fit">${method}</td>
<td class="fit mono">${operation}</td><td class="fit number">${money(cents)}</td><td class="fit" data-label="order">${
            orderId === null
              ? '–'
              : html`<a class="mono" href="${ordersPath}/${orderId}">${orderId.slice(0, 8)}</a>`
          }</td><td class="fit">${age(at, now)}</td></tr>`,
      )}</tbody></table>`;
