import { type Content, html } from '../../platform/html.ts';
import type { SandboxConfig } from '../config.ts';
import { addressOf, type Delivery } from '../webhooks/read.ts';
import { ordersPath } from './orders.ts';
import { age } from './pages/figures.ts';
import { sections } from './sections.ts';

export const deliveriesPath = sections.deliveries.path;

/** Which page a replay leads back to. */
export type Back = 'console' | 'deliveries' | 'order' | 'delivery';

interface Shown {
  /** ms since the epoch. */
  readonly now: number;
  readonly back: Back;
}

/** What was sent where, what came of it, and a button that sends it again. */
export const deliveriesTable = (
  { baseUrl }: SandboxConfig,
  rows: readonly Delivery[],
  { now, back }: Shown,
): Content =>
  rows.length === 0
    ? html`<p class="soft">None. <code>errand webhook listen --register --base-url ${baseUrl}</code> receives them.</p>`
    : html`<table class="stack"><thead><tr><th class="fit">Event</th>${back !== 'order' && html`<th class="fit">Order</th>`}<th>Address</th>
<th class="fit">Queued</th><th class="fit">Attempts</th><th>Outcome</th><td></td></tr></thead><tbody>${rows.map(
        (
          delivery,
        ) => html`<tr id="delivery-${delivery.id}"><td class="fit mono"><a href="${deliveriesPath}/${delivery.id}">${delivery.event}</a></td>${
          back !== 'order' &&
          html`<td class="fit"><a class="mono" href="${ordersPath}/${delivery.orderId}">${delivery.orderId.slice(0, 8)}</a></td>`
        }<td class="mono">${addressOf(delivery.url)}</td><td class="fit" data-label="queued">${age(delivery.createdAt, now)}</td>
<td class="fit" data-label="attempts">${delivery.attempts}</td><td>${outcome(delivery, now)}</td>
<td class="fit">${again(delivery, back)}</td></tr>`,
      )}</tbody></table>`;

/** What has ended can be sent again, what failed need not wait; the rest is about to be sent. */
export function again({ id, orderId, event, state, attempts }: Delivery, back: Back): Content {
  const word = state === 'delivered' || state === 'given up' ? 'Replay' : 'Try now';
  if (state === 'behind' || (state === 'open' && attempts === 0)) return null;
  return html`<form method="post" action="${deliveriesPath}/${id}/replay"><input type="hidden" name="back" value="${back}"><button>${word}<span class="unseen"> ${event} of ${orderId.slice(0, 8)}</span></button></form><a href="${deliveriesPath}/${id}/edit">Edit<span class="unseen"> ${event} of ${orderId.slice(0, 8)}</span></a>`;
}

export function outcome(delivery: Delivery, now: number): Content {
  const { state, at, last } = delivery;
  const result = last && html` <small>${said(last)}, ${last.tookMs} ms</small>`;
  if (state === 'delivered') return html`<span class="badge good">delivered</span>${result}`;
  if (state === 'given up') return html`<span class="badge bad">given up</span>${result}`;
  if (state === 'behind') return html`<span class="soft">waits behind an earlier one</span>`;
  if (!last) return html`<span class="badge wait">queued</span>`;
  return html`<span class="badge wait">${at > now ? html`is sent again ${age(at, now)}` : 'is sent again now'}</span>${result}`;
}

/** What came of an attempt, in words. */
export const said = ({ status, error }: Pick<NonNullable<Delivery['last']>, 'status' | 'error'>): string =>
  error ?? `HTTP ${status}`;
