import { type Content, html } from '../../platform/html.ts';
import { readQuery } from '../server/request.ts';
import { type Exchange, type LoggedSide, maxWholeEntries } from '../server/request-log.ts';
import type { Service } from '../server/service.ts';
import { difference } from './compare.ts';
import {
  type Choice,
  type Column,
  type FilterBar,
  type Filters,
  listPage,
  listQuery,
  type Part,
  plainHead,
  readFilters,
  userNames,
} from './lists.ts';
import { titleOfOrder } from './orders.ts';
import { consolePage, notThere, type Page, siblingLinks } from './page.ts';
import { age, bodyBlock, headersTable, sameAs } from './parts.ts';
import { ordersPath, sections, walletPath } from './sections.ts';
import { sameRequest } from './terminal-commands.ts';

export const requestsPath = sections.requests.path;

const requestFilters = ['q', 'class', 'method', 'user', 'from', 'failed'] as const;
type Name = (typeof requestFilters)[number];

export const readRequests = ({ requests }: Service, { before, limit }: Part): Exchange[] =>
  requests?.latest(limit, before) ?? [];

interface Shown {
  /** The headings, if they sort, and if rows can be marked to be compared. */
  readonly head?: Content;
  /** The address of the list, which the page of a request leads back to. */
  readonly query?: string;
}

/** Renders the requests since the server started. */
export function requestsTable(
  { store }: Service,
  rows: readonly Exchange[],
  { head, query = '' }: Shown = {},
): Content {
  if (rows.length === 0) return html`<p class="soft">No requests since this server started.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ request }) => request.userId),
  );
  return html`<table class="stack">${head ?? plainHead(columns.slice(0, -1))}<tbody>${rows.map(
    ({ number, code, rule, isOfConsole, request: { at, method, target, status, tookMs, userId } }) =>
      html`<tr id="request-${number}"><td class="fit number"><time>${new Date(at).toISOString().slice(11, 19)}</time></td>
<td class="mono"><a href="${requestsPath}/${number}${query}">${method} ${target}</a></td><td class="short">${statusText(status)}${
        rule !== null && html` <small class="bad">fault <code>${rule}</code></small>`
      }${code !== null && html` <small>${code}</small>`}</td><td class="fit number">${durationText(tookMs)}</td><td class="fit">${isOfConsole ? html`<small>console</small>` : html`<bdi>${nameOf(userId)}</bdi>`}</td>${
        head &&
        html`<td class="fit"><label class="mark"><input type="checkbox" name="number" value="${number}" form="marked"><span class="unseen">Mark request ${number}</span></label></td>`
      }</tr>`,
  )}</tbody></table>`;
}

/** Requests are kept in memory: they are sorted by one of these. */
const sortKeys = {
  number: ({ number }: Exchange): number => number,
  target: ({ request }: Exchange): string => request.target,
  status: ({ request }: Exchange): number => request.status ?? 1000,
  took: ({ request }: Exchange): number => request.tookMs,
} as const;

const columns: readonly (Column & { readonly by?: keyof typeof sortKeys })[] = [
  { name: 'Time (UTC)', look: 'fit', by: 'number', isAge: true },
  { name: 'Request', by: 'target' },
  { name: 'Response', by: 'status' },
  { name: 'Took', look: 'fit number', by: 'took' },
  { name: 'Account', look: 'fit' },
  { name: '' },
];

/** A window into requests that are newest first. */
function windowIn(found: readonly Exchange[], { before, limit, sort }: Part): Exchange[] {
  const key = Object.entries(sortKeys).find(([by]) => by === sort?.by)?.[1];
  if (!sort || !key) return found.filter(({ number }) => number < before).slice(0, limit);
  const compared = (one: Exchange, other: Exchange): number => {
    const [a, b] = [key(one), key(other)];
    return a < b ? -1 : a > b ? 1 : one.number - other.number;
  };
  const sorted = found.toSorted((one, other) => compared(one, other) * (sort.isDescending ? -1 : 1));
  const start = sorted.findIndex(({ number }) => number === before) + 1;
  return sorted.slice(start, start + limit);
}

const durationText = (ms: number): string => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

/** The outcome of a request, as coloured text. */
export const statusText = (status: number | null): Content =>
  status === null
    ? html`<span class="bad">broken off</span>`
    : html`<span class="${status >= 500 ? 'bad' : status >= 400 ? 'wait' : 'good'}">${status}</span>`;

const classOf = ({ request: { status } }: Exchange): string =>
  status === null ? 'broken off' : `${Math.floor(status / 100)}xx`;

const isFailed = ({ request: { status } }: Exchange): boolean => status === null || status >= 400;

/** The predicate behind each filter. */
const tests: {
  readonly [N in Name]: (exchange: Exchange, value: string, nameOf: (id: string | null) => string) => boolean;
} = {
  q: ({ request, orderId }, value) =>
    request.target.toLowerCase().includes(value.toLowerCase()) ||
    orderId?.startsWith(value.toLowerCase()) === true,
  class: (exchange, value) => classOf(exchange) === value,
  method: ({ request }, value) => request.method === value,
  user: ({ request: { userId } }, value, nameOf) =>
    userId !== null &&
    (userId.startsWith(value.toLowerCase()) || nameOf(userId).toLowerCase().includes(value.toLowerCase())),
  from: (exchange, value) => originOf(exchange) === value,
  failed: isFailed,
};

/** Who sent a request. */
const originOf = ({ isOfConsole }: Exchange): string => (isOfConsole ? 'console' : 'programs');

/** Requests that match filters, newest first. */
function matchingRequests(service: Service, filters: Filters<Name>) {
  const all = readRequests(service, { before: Number.MAX_SAFE_INTEGER, limit: maxWholeEntries });
  const nameOf = userNames(
    service.store,
    all.map(({ request }) => request.userId),
  );
  const matching = (...without: readonly Name[]): Exchange[] => {
    const set = requestFilters.filter((name) => filters[name] !== '' && !without.includes(name));
    return all.filter((exchange) => set.every((name) => tests[name](exchange, filters[name], nameOf)));
  };
  return { all, matching, nameOf };
}

export const requestsPage: Page<'consoleRequests'> = ({ service, search }) => {
  const filters = readFilters(search, requestFilters);
  const { all, matching, nameOf } = matchingRequests(service, filters);
  const found = matching();
  return listPage({
    section: 'requests',
    lead: `The newest ${maxWholeEntries.toLocaleString('en-US')} since this server started, without secrets. They are gone when it ends.`,
    search,
    filters,
    bar: requestsBar(
      { all: all.length, found: found.length },
      matching,
      all.map(({ request }) => nameOf(request.userId)),
    ),
    columns,
    read: (part) => windowIn(found, part),
    numberOf: ({ number }) => number,
    csv: {
      number: ({ number }) => number,
      at: ({ request }) => new Date(request.at),
      method: ({ request }) => request.method,
      target: ({ request }) => request.target,
      status: ({ request }) => request.status,
      error: ({ code }) => code,
      fault: ({ rule }) => rule,
      took_ms: ({ request }) => durationText(request.tookMs).replace(' ms', ''),
      account: ({ request, isOfConsole }) => (isOfConsole ? 'console' : nameOf(request.userId)),
      order_id: ({ orderId }) => orderId,
    },
    table: (rows, head, query) =>
      html`${rows.length > 1 && html`<form method="get" action="${requestsPath}/compare" id="marked" class="actions"><button>Compare two marked</button></form>`}${requestsTable(service, rows, { head, query })}`,
  });
};

const requestsBar = (
  count: { readonly all: number; readonly found: number },
  matching: (...without: readonly Name[]) => Exchange[],
  users: readonly string[],
): FilterBar<Name> => ({
  what: ['request', 'requests'],
  count,
  fields: [
    { kind: 'text', name: 'q', label: 'Part of the path, or order' },
    { kind: 'text', name: 'user', label: 'User', offers: [...new Set(users)].filter(Boolean).slice(0, 30) },
    {
      kind: 'select',
      name: 'method',
      label: 'Method',
      choices: counts(matching('method'), ({ request }) => request.method),
    },
    {
      kind: 'select',
      name: 'from',
      label: 'Sent by',
      choices: counts(matching('from'), originOf, ['programs', 'console']),
    },
    {
      kind: 'flag',
      name: 'failed',
      label: 'failed only',
      count: matching('failed').filter(isFailed).length,
    },
    {
      kind: 'links',
      name: 'class',
      label: 'Status',
      choices: counts(matching('class'), classOf, ['2xx', '3xx', '4xx', '5xx', 'broken off']),
    },
  ],
});

/** Counts rows by value. @param values values that are always listed, even if their count is zero. */
function counts(
  rows: readonly Exchange[],
  kindOf: (row: Exchange) => string,
  values: readonly string[] = [],
): Choice[] {
  const found = new Map(values.map((value) => [value, 0]));
  for (const row of rows) found.set(kindOf(row), (found.get(kindOf(row)) ?? 0) + 1);
  return [...found].map(([value, count]) => ({ value, text: value, count }));
}

/** Maximum length, in characters, of a body that is included in a copyable command. */
const maxInlineLength = 3_000;

/** Page of a request: both sides of the exchange, and how to repeat it. */
export const requestPage: Page<'consoleRequest'> = ({ service, path: { number: text }, search }) => {
  const { requests, clock } = service;
  const number = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0;
  const [exchange] = requests?.latest(1, number + 1) ?? [];
  if (!exchange || exchange.number !== number)
    return notThere('No such request', 'This request is not kept, or not any more.', { section: 'requests' });
  const { request, sent } = exchange;
  const { at, method, target, status, tookMs } = request;
  const body = html`${siblingLinks('requests', 'request', siblingsOf(service, number, search))}<section id="facts"><dl><dt>Response</dt><dd>${statusText(status)} after ${durationText(tookMs)}</dd>
<dt>Time</dt><dd>${age(at, clock.now())}</dd>${facts(service, exchange)}</dl></section>
<section id="sent"><header><h2>Request</h2></header>${headersTable(sent.headers)}${bodyBlock('the request', sent.body)}</section>
${responses(exchange)}
<div class="card" id="same">${sameAs('the request', again(service, exchange))}${
    !isInLine(exchange) &&
    html`<p class="soft">Its body goes into <code>body.json</code> first${lacksSecrets(exchange) && ', with the secrets, which are not kept: fill them in where it has …'}.</p>`
  }</div>`;
  return consolePage(`${method} ${shortened(target)}`, body, {
    section: 'requests',
    query: listQuery(search, requestFilters),
    copies: true,
  });
};

/** The neighbours in the list that the page was opened from. */
function siblingsOf(service: Service, number: number, search: string) {
  const { matching } = matchingRequests(service, readFilters(search, requestFilters));
  const found = matching();
  const query = listQuery(search, requestFilters);
  const linkTo = (one: Exchange | undefined): string | null =>
    one ? `${requestsPath}/${one.number}${query}` : null;
  return {
    newer: linkTo(found.findLast((one) => one.number > number)),
    older: linkTo(found.find((one) => one.number < number)),
    query,
  };
}

/** Renders the response that the client got. If a fault replaced the service's response, also renders that one. */
function responses({ received, instead, rule }: Exchange): Content {
  const side = (id: string, title: string, content: Content): Content =>
    html`<section id="${id}"><header><h2>${title}</h2></header>${content}</section>`;
  const shown = (what: string, { headers, body }: LoggedSide): Content =>
    html`${headersTable(headers)}${bodyBlock(what, body)}`;
  const fault = html`the fault <code>${rule ?? ''}</code>`;
  if (instead === null && received) return side('received', 'Response', shown('the response', received));
  const got =
    instead === 'reset' || instead === null
      ? html`<p class="bad">Nothing: ${fault} closed the connection.</p>`
      : instead === 'half'
        ? html`<p class="bad">The first half of the response: then ${fault} closed the connection.</p>`
        : html`<p class="bad">Made by ${fault}.</p>${shown('the client’s response', instead)}`;
  return html`${side('client', 'What the client got', got)}
${side(
  'received',
  'What the service responded',
  received
    ? shown('the service’s response', received)
    : html`<p class="soft">Nothing: the fault came before the service saw the request.</p>`,
)}`;
}

/** Compares two requests: line, body and response. */
export const compareRequests: Page<'consoleCompareRequests'> = ({ service: { requests }, search }) => {
  const numbers = (readQuery(search).number ?? [])
    .slice(0, 3)
    .map(Number)
    .toSorted((one, other) => one - other);
  const [one, other, more] = numbers.flatMap((number) =>
    (requests?.latest(1, number + 1) ?? []).filter((exchange) => exchange.number === number),
  );
  if (!one || !other || more)
    return notThere('Two are compared', 'Mark two requests, and compare them.', {
      section: 'requests',
      status: 400,
    });
  const line = ({ number, request }: Exchange): Content =>
    html`<a href="${requestsPath}/${number}">Request ${number}</a> <code>${request.method} ${shortened(request.target)}</code> ${statusText(request.status)}`;
  const clientSide = ({ instead, received }: Exchange): string =>
    (typeof instead === 'object' && instead ? instead : received)?.body.text ?? '';
  const headers = ({ sent }: Exchange): string => JSON.stringify(Object.fromEntries(sent.headers));
  const part = (id: string, title: string, before: string, after: string): Content =>
    html`<section id="${id}"><header><h2>${title}</h2></header>${difference(before, after)}</section>`;
  const body = html`<p>From ${line(one)}<br>to ${line(other)}</p>${part('headers', 'Headers', headers(one), headers(other))}${part('sent', 'Body', one.sent.body.text ?? '', other.sent.body.text ?? '')}${part('received', 'Response', clientSide(one), clientSide(other))}`;
  return consolePage('Two requests', body, { section: 'requests', copies: true });
};

const shortened = (path: string): string => (path.length > 80 ? `${path.slice(0, 79)}…` : path);

/**
 * Ids of the orders that a request is about. If the request names no order, returns the orders placed by other attempts
 * with the same idempotency key.
 */
function ordersOf(service: Service, { orderId, key, request: { userId } }: Exchange): string[] {
  if (orderId !== null) return [orderId];
  if (key === null) return [];
  return service.store
    .all(
      `SELECT id FROM orders WHERE idempotency_key = ? AND user_id IN (${userId === null ? 'SELECT id FROM users' : '?'}) LIMIT 3`,
      key,
      ...(userId === null ? [] : [userId]),
    )
    .map(({ id }) => String(id));
}

function facts(service: Service, exchange: Exchange): Content {
  const {
    request: { userId },
    orderId,
    rule,
    code,
    key,
    isOfConsole,
  } = exchange;
  const { store } = service;
  return html`${userId !== null && html`<dt>Account</dt><dd><a href="${walletPath(userId)}">${userNames(store, [userId])(userId)}</a></dd>`}${ordersOf(
    service,
    exchange,
  ).map(
    (id) =>
      html`<dt>Order</dt><dd><a href="${ordersPath}/${id}"><bdi>${titleOfOrder(service, id) ?? 'gone'}</bdi></a> <small class="mono">${id}</small>${orderId === null && html` <span class="soft">another attempt under the same key made it</span>`}</dd>`,
  )}${code !== null && html`<dt>Error</dt><dd><code>${code}</code></dd>`}${rule !== null && html`<dt>Fault</dt><dd><code>${rule}</code></dd>`}${key !== null && html`<dt>Key</dt><dd><code>${key}</code></dd>`}${isOfConsole && html`<dt>Sent by</dt><dd>the console</dd>`}`;
}

/** Whether the body was redacted. Resending a redacted body would overwrite a secret with its placeholder. */
const lacksSecrets = ({ sent: { body } }: Exchange): boolean => body.text?.includes('…') === true;

/** Whether the body is complete and short enough for a command line. */
const isInLine = (exchange: Exchange): boolean => {
  const { bytes, text, isCut } = exchange.sent.body;
  if (bytes === 0) return true;
  return text !== null && !isCut && text.length <= maxInlineLength && !lacksSecrets(exchange);
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
