import { type Content, html } from '../../platform/html.ts';
import type { Exchange } from '../server/request-log.ts';
import type { Service } from '../server/service.ts';
import { consolePage, notThere, siblingLinks } from './console-page.ts';
import { walletPath } from './console-paths.ts';
import { ordersPath } from './orders.ts';
import { sameAs } from './pages/copied.ts';
import { age } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { sameRequest } from './pages/same-request.ts';
import { requestsPath, statusText, took } from './requests.ts';
import { bodyBlock, headersTable } from './said.ts';
import { userNames } from './users.ts';

/** A longer body is no part of a line to be copied, characters. */
const longestInLine = 3_000;

/** What was said in a request, and how it is sent once more. */
export const requestPage: Page<'consoleRequest'> = ({ service, path: { number: text } }) => {
  const { requests, clock } = service;
  const number = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
  const [exchange, older] = requests?.newest(2, number + 1) ?? [];
  if (!exchange || exchange.number !== number)
    return notThere('No such request', 'This request is not kept, or not any more.', { section: 'requests' });
  const { request, sent, received } = exchange;
  const { at, method, target, status, tookMs, fault } = request;
  const isNewest = requests?.total === number;
  const body = html`${siblingLinks('request', {
    newer: isNewest ? null : `${requestsPath}/${number + 1}`,
    older: older ? `${requestsPath}/${older.number}` : null,
  })}<section id="facts"><dl><dt>Response</dt><dd>${statusText(status)} after ${took(tookMs)}</dd>
<dt>Time</dt><dd>${age(at, clock.now())}</dd>${facts(service, exchange)}</dl></section>
<section id="sent"><header><h2>Request</h2></header>${headersTable(sent.headers)}${bodyBlock('the request', sent.body)}</section>
<section id="received"><header><h2>Response</h2></header>${
    received
      ? html`${
          fault !== null &&
          html`<p class="soft">What the service itself responded with; the fault <code>${fault}</code> may have sent something else, or nothing.</p>`
        }${headersTable(received.headers)}${bodyBlock('the response', received.body)}`
      : html`<p class="soft">The fault <code>${fault}</code> came before the service saw the request.</p>`
  }</section>
<div class="card" id="same">${sameAs('the request', again(service, exchange))}${
    !isInLine(exchange) &&
    html`<p class="soft">Its body goes into <code>body.json</code> first${lacksSecrets(exchange) && ', with the secrets, which are not kept: fill them in where it has …'}.</p>`
  }</div>`;
  return consolePage(`${method} ${shortened(target)}`, body, { section: 'requests', copies: true });
};

const shortened = (path: string): string => (path.length > 80 ? `${path.slice(0, 79)}…` : path);

function facts({ store }: Service, { request: { userId, fault }, orderId }: Exchange): Content {
  return html`${userId !== null && html`<dt>Account</dt><dd><a href="${walletPath(userId)}">${userNames(store, [userId])(userId)}</a></dd>`}${
    orderId !== null &&
    html`<dt>Order</dt><dd><a class="mono" href="${ordersPath}/${orderId}">${orderId}</a></dd>`
  }${fault !== null && html`<dt>Fault</dt><dd>${fault}</dd>`}`;
}

/** Whether the body is not as it was sent: what stands for a secret would overwrite it. */
const lacksSecrets = ({ sent: { body } }: Exchange): boolean => body.text?.includes('…') === true;

/** Whether all of the body is there, and short. */
const isInLine = (exchange: Exchange): boolean => {
  const { bytes, text, isCut } = exchange.sent.body;
  if (bytes === 0) return true;
  return text !== null && !isCut && text.length <= longestInLine && !lacksSecrets(exchange);
};

function again({ config }: Service, exchange: Exchange) {
  const { request, sent } = exchange;
  const { text } = sent.body;
  return sameRequest(config, {
    method: request.method,
    target: request.target,
    hasKey: sent.headers.some(([name]) => name === 'authorization'),
    ...(sent.body.bytes !== 0 && {
      body: isInLine(exchange) && text !== null ? text : { file: 'body.json' },
    }),
  });
}
