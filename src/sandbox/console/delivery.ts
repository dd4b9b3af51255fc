import { webhookEventHeader, webhookEvents, webhookIdHeader } from '../../api/events.ts';
import { type Content, html } from '../../platform/html.ts';
import type { Service } from '../server/service.ts';
import { type Attempt, addressOf, readAttempts, readDelivery } from '../webhooks/read.ts';
import { consolePage, notThere, siblingLinks } from './console-page.ts';
import { again, deliveriesPath, outcome, said } from './deliveries-table.ts';
import { ordersPath } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age, dateTime } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { receiverCall } from './receiver-call.ts';
import { headersTable, jsonBlock } from './said.ts';

const mostAttempts = 50;
/** A longer body is no part of a line to be copied, characters. */
const longestInLine = 10_000;

/** A delivery: what was sent, where, and what came of each attempt. */
export const deliveryPage: Page<'consoleDelivery'> = ({ service, path: { id } }) => {
  const { store, clock } = service;
  const found = readDelivery(store, id);
  if (!found)
    return notThere('No such delivery', 'There is no such delivery any more.', { section: 'deliveries' });
  const { event, eventId, orderId, url, body: json, createdAt, seq, attempts } = found;
  const now = clock.now();
  const { block, isCut } = jsonBlock('the body', json);
  const body = html`${siblingLinks('delivery', siblingsOf(service, seq))}<p>${outcome(found, now)}</p>
<div class="actions">${again(found, 'delivery')}</div>
<section id="facts"><dl><dt>Event</dt><dd><code>${event}</code> <span class="soft">${webhookEvents[event]}</span></dd>
<dt>Order</dt><dd><a class="mono" href="${ordersPath}/${orderId}">${orderId}</a></dd><dt>Address</dt><dd class="mono">${addressOf(url)}</dd>
<dt>Queued</dt><dd>${age(createdAt, now)}</dd></dl></section>
<section id="attempts"><header><h2>Attempts</h2></header>${attemptsTable(readAttempts(store, seq, mostAttempts))}${
    attempts > mostAttempts && html`<p class="soft">The newest ${mostAttempts} of ${attempts}.</p>`
  }</section>
<section id="sent"><header><h2>What is sent</h2></header>${headersTable(headersOf(url, { event, eventId, json }))}${block}${
    isCut &&
    html`<p class="soft">Cut: its beginning, of ${Buffer.byteLength(json).toLocaleString('en-US')} bytes.</p>`
  }</section>${
    json.length <= longestInLine &&
    html`
<div class="card" id="same">${sameAs('the delivery', { curl: receiverCall(found) })}<p class="soft">Straight to the receiver whose address stands in <code>WEBHOOK_URL</code>.</p></div>`
  }`;
  return consolePage(`${event} of ${orderId.slice(0, 8)}`, body, { live: true, section: 'deliveries' });
};

function siblingsOf({ store }: Service, seq: number) {
  const linkTo = (sql: string): string | null => {
    const id = store.get(sql, seq)?.id;
    return id === undefined ? null : `${deliveriesPath}/${String(id)}`;
  };
  return {
    newer: linkTo('SELECT id FROM deliveries WHERE seq > ? ORDER BY seq LIMIT 1'),
    older: linkTo('SELECT id FROM deliveries WHERE seq < ? ORDER BY seq DESC LIMIT 1'),
  };
}

const attemptsTable = (attempts: readonly Attempt[]): Content =>
  attempts.length === 0
    ? html`<p class="soft">None yet.</p>`
    : html`<table class="stack"><thead><tr><th class="fit">Time (UTC)</th><th>Result</th><th class="fit number">Took</th></tr></thead><tbody>${attempts.map(
        (attempt) =>
          html`<tr><td class="fit number"><time datetime="${new Date(attempt.at).toISOString()}">${dateTime(attempt.at)}</time></td>
<td><span class="${attempt.error === null ? 'good' : 'bad'}">${said(attempt)}</span></td><td class="fit number">${attempt.tookMs} ms</td></tr>`,
      )}</tbody></table>`;

interface Sent {
  readonly event: string;
  readonly eventId: string;
  readonly json: string;
}

/** The headers of every attempt; of credentials in the address no more than that there are. */
const headersOf = (url: string, { event, eventId, json }: Sent): [string, string][] => [
  ['content-type', 'application/json'],
  ['content-length', String(Buffer.byteLength(json))],
  [webhookEventHeader.toLowerCase(), event],
  [webhookIdHeader.toLowerCase(), eventId],
  ...(URL.canParse(url) && new URL(url).username !== ''
    ? [['authorization', 'Basic …'] as [string, string]]
    : []),
];
