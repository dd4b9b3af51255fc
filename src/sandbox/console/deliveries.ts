import { webhookEventHeader, webhookEvents, webhookIdHeader } from '../../api/events.ts';
import { type Content, html } from '../../platform/html.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { SandboxConfig } from '../config.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { readQuery } from '../server/request.ts';
import type { LoggedSide } from '../server/request-log.ts';
import { foreignJson, withoutSecrets } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import type { Store } from '../store/store.ts';
import {
  type Attempt,
  type Delivery,
  deliveryColumns,
  deliveryIn,
  readAttempts,
  readDeliveries,
  readDelivery,
} from '../webhooks/read.ts';
import { refusedTarget, replay, replayEdited } from '../webhooks/replay.ts';
import { difference } from './compare.ts';
import { formAction, Misfilled, onceField, onceIn, readForm, seeOther } from './form-action.ts';
import {
  type Choice,
  type Column,
  type Conditions,
  conditionOf,
  type FilterBar,
  type Filters,
  isFiltered,
  listPage,
  listQuery,
  neighboursOf,
  type Part,
  plainHead,
  readFilters,
  startsWith,
  userCondition,
  usersToOffer,
  windowOf,
} from './lists.ts';
import { titleOfOrder } from './orders.ts';
import { consolePage, notThere, type Page, siblingLinks } from './page.ts';
import { age, bodyBlock, dateTime, headersTable, jsonBlock, sameAs, shownAddress } from './parts.ts';
import { deliveriesPath, ordersPath } from './sections.ts';
import { receiverCall, sameFromTerminal } from './terminal-commands.ts';

export const deliveriesPage: Page<'consoleDeliveries'> = ({ service, search }) => {
  const { store, clock, config } = service;
  const filters = readFilters(search, deliveryFilters);
  return listPage({
    section: 'deliveries',
    title: 'Webhook deliveries',
    search,
    filters,
    bar: deliveriesBar(store, filters),
    columns,
    read: (part) => findDeliveries(store, filters, part),
    numberOf: ({ seq }) => seq,
    csv: {
      id: ({ id }) => id,
      event: ({ event }) => event,
      order_id: ({ orderId }) => orderId,
      address: ({ url }) => shownAddress(url),
      queued_at: ({ createdAt }) => new Date(createdAt),
      attempts: ({ attempts }) => attempts,
      state: (delivery) => stateText(delivery),
      last_result: ({ last }) => last && attemptText(last),
      took_ms: ({ last }) => last?.tookMs,
    },
    table: (rows, head, query) =>
      html`${rows.length > 0 && markedForm(store)}${deliveriesTable(config, rows, { now: clock.now(), titleOf: orderTitles(service), marks: true, head, query })}`,
  });
};

/** Renders buttons that act on the marked rows, and a button that replays all failed deliveries. */
function markedForm(store: Store): Content {
  const count = Number(
    store.get(`SELECT count(*) AS count FROM deliveries d WHERE ${failed} AND d.behind = 0`)?.count,
  );
  return html`<form method="post" action="${deliveriesPath}/replay" id="marked" class="actions"><button>Replay marked</button><button formmethod="get" formaction="${deliveriesPath}/compare">Compare two marked</button>${
    count > 0 &&
    html`<button name="which" value="failed">Replay all failed <small>${count.toLocaleString('en-US')}</small></button>`
  }</form>`;
}

/** Compares the bodies of two deliveries. The earlier delivery comes first. */
export const compareDeliveries: Page<'consoleCompareDeliveries'> = ({
  service: { store, clock },
  search,
}) => {
  const marked = (readQuery(search).id ?? []).slice(0, 3);
  const [one, other, more] = marked
    .flatMap((id) => readDelivery(store, id) ?? [])
    .toSorted((a, b) => a.seq - b.seq);
  if (!one || !other || more)
    return notThere('Two are compared', 'Mark two deliveries, and compare them.', {
      section: 'deliveries',
      status: 400,
    });
  const name = ({ id, event, createdAt }: Delivery): Content =>
    html`<a href="${deliveriesPath}/${id}">${event}</a> <small>${age(createdAt, clock.now())}</small>`;
  const body = html`<p>From ${name(one)} to ${name(other)}</p><section id="difference">${difference(redacted(one.body), redacted(other.body))}</section>`;
  return consolePage('What changed', body, { section: 'deliveries', copies: true });
};

/** Removes the secrets from a body, whether it is JSON or any other text. */
const redacted = (json: string): string => foreignJson(json) ?? withoutSecrets(json);

/** Renders a link that compares a delivery with the previous delivery of the same order to the same address. */
function sinceLast(store: Store, { id, seq, orderId, url }: Delivery): Content {
  const before = store.get(
    'SELECT id FROM deliveries WHERE order_id = ? AND url = ? AND seq < ? ORDER BY seq DESC LIMIT 1',
    orderId,
    url,
    seq,
  )?.id;
  return (
    before !== undefined &&
    html`<a href="${deliveriesPath}/compare?id=${String(before)}&id=${id}">What changed since the last event</a>`
  );
}

function deliveriesBar(store: Store, filters: Filters<Name>): FilterBar<Name> {
  const { all, found, failed, states, events, classes } = countDeliveries(store, filters);
  return {
    what: ['delivery', 'deliveries'],
    count: { all, found },
    fields: [
      { kind: 'text', name: 'id', label: 'Id of it, or of its order' },
      { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
      { kind: 'select', name: 'event', label: 'Event', choices: events },
      { kind: 'select', name: 'class', label: 'Response', choices: classes },
      { kind: 'flag', name: 'failed', label: 'failed only', count: failed },
      { kind: 'links', name: 'state', label: 'State', choices: states },
    ],
  };
}

export const deliveryFilters = ['id', 'state', 'event', 'class', 'user', 'failed'] as const;
type Name = (typeof deliveryFilters)[number];

const state = `CASE WHEN d.delivered_at IS NOT NULL THEN 'delivered' WHEN d.given_up_at IS NOT NULL THEN 'given up' ELSE 'waiting' END`;
/**
 * Class of the last response status, such as `2xx`. Before the first attempt the class is `not sent`. If the last
 * attempt got no response, the class is `no response`.
 */
const statusClass = `CASE WHEN d.attempts = 0 THEN 'not sent' WHEN d.last_status IS NULL THEN 'no response' ELSE (d.last_status / 100) || 'xx' END`;
/** SQL condition for deliveries whose last attempt failed. */
const failed = 'd.attempts > 0 AND d.delivered_at IS NULL';

const columns: readonly Column[] = [
  { name: 'Event', look: 'fit', by: 'd.event' },
  { name: 'Order', look: 'fit' },
  { name: 'Address' },
  { name: 'Queued', look: 'fit', by: '+d.seq', isAge: true },
  { name: 'Attempts', look: 'fit', by: 'd.attempts' },
  { name: 'Outcome', by: `${state} || ' ' || ${statusClass}` },
  { name: '' },
];

/** The SQL condition behind each filter. It refers to a delivery as `d`. */
const conditions: Conditions<Name> = {
  id: (value) => ({
    sql: `+d.seq IN (SELECT seq FROM deliveries WHERE ${startsWith('id')} UNION SELECT seq FROM deliveries WHERE ${startsWith('order_id')})`,
    values: Array.from({ length: 4 }, () => value.toLowerCase()),
  }),
  state: (value) => ({ sql: `${state} = ?`, values: [value] }),
  event: (value) => ({ sql: 'd.event = ?', values: [value] }),
  class: (value) => ({ sql: `${statusClass} = ?`, values: [value] }),
  user: (value) => userCondition('+d.user_id', value),
  failed: () => ({ sql: failed, values: [] }),
};

/**
 * Deliveries of all orders, newest first. The inner query scans a narrow index, so only the bodies of returned rows are
 * read.
 */
export function findDeliveries(store: Store, filters: Filters<Name>, part: Part): Delivery[] {
  if (!isFiltered(filters) && !part.sort) return readDeliveries(store, part);
  const { sql, values } = conditionOf(conditions, filters);
  const { where, order, ...follows } = windowOf(part, { from: 'deliveries d', seq: '+d.seq' });
  return store
    .all(
      `SELECT ${deliveryColumns} WHERE d.seq IN
         (SELECT seq FROM (SELECT d.seq FROM deliveries d WHERE ${sql} AND ${where} ORDER BY ${order} LIMIT ?))
       ORDER BY ${order}`,
      ...values,
      ...follows.values,
      part.limit,
    )
    .map(deliveryIn);
}

interface DeliveryCounts {
  readonly all: number;
  readonly found: number;
  readonly failed: number;
  readonly states: readonly Choice[];
  readonly events: readonly Choice[];
  readonly classes: readonly Choice[];
}

/** Counts the deliveries that match each filter value, with the other filters applied. */
export function countDeliveries(store: Store, filters: Filters<Name>): DeliveryCounts {
  const number = (sql: string, ...without: readonly Name[]): number => {
    const condition = conditionOf(conditions, filters, ...without);
    const where = `WHERE ${condition.sql} AND (${sql})`;
    return Number(
      store.get(`SELECT count(*) AS count FROM deliveries d ${where}`, ...condition.values)?.count,
    );
  };
  const states = counts(store, filters, 'state', state);
  return {
    all: Number(store.get('SELECT count(*) AS count FROM deliveries')?.count),
    found: number('true'),
    failed: number(failed, 'failed'),
    states: ['delivered', 'waiting', 'given up'].map((value) => ({
      value,
      text: value,
      count: states.find((choice) => choice.value === value)?.count ?? 0,
    })),
    events: counts(store, filters, 'event', 'd.event'),
    classes: counts(store, filters, 'class', statusClass),
  };
}

function counts(store: Store, filters: Filters<Name>, name: Name, expression: string): Choice[] {
  const { sql, values } = conditionOf(conditions, filters, name);
  return store
    .all(
      `SELECT ${expression} AS value, count(*) AS count FROM deliveries d WHERE ${sql} GROUP BY 1 ORDER BY 1`,
      ...values,
    )
    .map((row) => ({ value: String(row.value), text: String(row.value), count: Number(row.count) }));
}

const maxAttempts = 50;
/** Maximum length, in characters, of a body that is included in a copyable command. */
const maxInlineLength = 10_000;

/** Page of a delivery: what was sent where, and the result of each attempt. */
export const deliveryPage: Page<'consoleDelivery'> = ({ service, path: { id }, search }) => {
  const { store, clock } = service;
  const found = readDelivery(store, id);
  if (!found)
    return notThere('No such delivery', 'There is no such delivery any more.', { section: 'deliveries' });
  const { event, eventId, orderId, url, body: json, createdAt, seq, attempts } = found;
  const now = clock.now();
  const { block, isCut } = jsonBlock('the body', json);
  const body = html`${siblingLinks('deliveries', 'delivery', siblingsOf(service, seq, search))}<p>${outcome(found, now)}${earlier(store, found, now)}</p>
<div class="actions">${again(found)} ${sinceLast(store, found)}</div>
<section id="facts"><dl><dt>Event</dt><dd><code>${event}</code> <span class="soft">${webhookEvents[event]}</span></dd>
<dt>Order</dt><dd><a href="${ordersPath}/${orderId}"><bdi>${orderTitles(service)(orderId)}</bdi></a> <small class="mono">${orderId}</small></dd><dt>Address</dt><dd class="mono">${shownAddress(url)}</dd>
<dt>Queued</dt><dd>${age(createdAt, now)}</dd></dl></section>
<section id="attempts"><header><h2>Attempts</h2></header>${attemptsTable(readAttempts(store, seq, maxAttempts))}${
    attempts > maxAttempts && html`<p class="soft">The newest ${maxAttempts} of ${attempts}.</p>`
  }</section>
<section id="sent"><header><h2>What is sent</h2></header>${headersTable(headersOf(url, { event, eventId, json }))}${block}${
    isCut &&
    html`<p class="soft">Cut: its beginning, of ${Buffer.byteLength(json).toLocaleString('en-US')} bytes.</p>`
  }</section>${
    json.length <= maxInlineLength &&
    html`
<div class="card" id="same">${sameAs('the delivery', { curl: receiverCall(found) })}<p class="soft">Straight to the receiver whose address stands in <code>WEBHOOK_URL</code>.</p></div>`
  }`;
  return consolePage(`${event} of ${orderId.slice(0, 8)}`, body, {
    live: true,
    section: 'deliveries',
    query: listQuery(search, deliveryFilters),
  });
};

/** The neighbours in the list that the page was opened from. */
function siblingsOf({ store }: Service, seq: number, search: string) {
  const condition = conditionOf(conditions, readFilters(search, deliveryFilters));
  const { newer, older } = neighboursOf(store, condition, { from: 'deliveries', as: 'd', seq });
  const query = listQuery(search, deliveryFilters);
  const linkTo = (id: string | null): string | null => id && `${deliveriesPath}/${id}${query}`;
  return { newer: linkTo(newer), older: linkTo(older), query };
}

const attemptsTable = (attempts: readonly Attempt[]): Content =>
  attempts.length === 0
    ? html`<p class="soft">None yet.</p>`
    : html`<table class="stack"><thead><tr><th class="fit">Time (UTC)</th><th>Result</th><th class="fit number">Took</th></tr></thead><tbody>${attempts.map(
        (attempt) =>
          html`<tr><td class="fit number"><time datetime="${new Date(attempt.at).toISOString()}">${dateTime(attempt.at)}</time></td>
<td><span class="${attempt.error === null ? 'good' : 'bad'}">${attemptText(attempt)}</span>${receiverResponse(attempt)}</td><td class="fit number">${attempt.tookMs} ms</td></tr>`,
      )}</tbody></table>`;

/** What the receiver responded to an attempt. */
function receiverResponse({ response }: Attempt): Content {
  if (response === null) return null;
  // The cast is safe because this column is only written from a LoggedSide.
  const { headers, body } = JSON.parse(response) as LoggedSide;
  return html`<div class="response">${headersTable(headers)}${bodyBlock('the receiver’s response', body)}</div>`;
}

interface Sent {
  readonly event: string;
  readonly eventId: string;
  readonly json: string;
}

/** The headers sent with every attempt. If the URL contains credentials, shows only that they exist. */
const headersOf = (url: string, { event, eventId, json }: Sent): [string, string][] => [
  ['content-type', 'application/json'],
  ['content-length', String(Buffer.byteLength(json))],
  [webhookEventHeader.toLowerCase(), event],
  [webhookIdHeader.toLowerCase(), eventId],
  ...((parseUrl(url)?.username ?? '') !== '' ? [['authorization', 'Basic …'] as [string, string]] : []),
];

interface Shown {
  /** Current sandbox time, ms since the epoch. */
  readonly now: number;
  /** Returns the title of an order. Absent if all rows belong to the same order. */
  readonly titleOf?: (orderId: string) => string;
  /** Whether rows have checkboxes, so that the user can select deliveries to replay or compare. */
  readonly marks?: boolean;
  /** The headings, if they sort. */
  readonly head?: Content;
  /** The address of the list, which the page of a delivery leads back to. */
  readonly query?: string;
}

/** Renders deliveries with their target, outcome and a button to resend. */
export const deliveriesTable = (
  { baseUrl }: SandboxConfig,
  rows: readonly Delivery[],
  {
    now,
    titleOf,
    marks = false,
    head = plainHead(columns.filter(({ name }) => titleOf || name !== 'Order')),
    query = '',
  }: Shown,
): Content => {
  if (rows.length === 0)
    return html`<p class="soft">None. <code>errand webhook listen --register --base-url ${baseUrl}</code> receives them.</p>`;
  return html`<table class="stack">${head}<tbody>${rows.map(
    (
      delivery,
    ) => html`<tr id="delivery-${delivery.id}"><td class="fit mono"><a href="${deliveriesPath}/${delivery.id}${query}">${delivery.event}</a></td>${
      titleOf &&
      html`<td class="fit order"><a href="${ordersPath}/${delivery.orderId}"><bdi>${titleOf(delivery.orderId)}</bdi></a> <small class="mono">${delivery.orderId.slice(0, 8)}</small></td>`
    }<td class="mono address">${shownAddress(delivery.url)}</td><td class="fit" data-label="queued">${age(delivery.createdAt, now)}</td>
<td class="fit" data-label="attempts">${delivery.attempts}</td><td>${outcome(delivery, now)}</td>
<td class="fit">${marks && html`<label class="mark"><input type="checkbox" name="id" value="${delivery.id}" form="marked"><span class="unseen">Mark ${delivery.event} of ${delivery.orderId.slice(0, 8)}</span></label> `}${again(delivery)}</td></tr>`,
  )}</tbody></table>`;
};

/**
 * Renders the resend button. A finished delivery can be replayed, and a failed delivery can be retried at once. For a
 * delivery that is about to be sent, renders no button.
 */
function again({ id, orderId, event, state, attempts }: Delivery): Content {
  const word = state === 'delivered' || state === 'given up' ? 'Replay' : 'Try now';
  if (state === 'behind' || (state === 'open' && attempts === 0)) return null;
  return html`<form method="post" action="${deliveriesPath}/${id}/replay"><button>${word}<span class="unseen"> ${event} of ${orderId.slice(0, 8)}</span></button></form><a href="${deliveriesPath}/${id}/edit">Edit<span class="unseen"> ${event} of ${orderId.slice(0, 8)}</span></a>`;
}

/** Returns a function from the id of an order to the titles of its products. The function caches the titles. */
export function orderTitles(service: Service): (orderId: string) => string {
  const known = new Map<string, string>();
  return (orderId) => {
    const title = known.get(orderId) ?? titleOfOrder(service, orderId) ?? 'an order';
    known.set(orderId, title);
    return title;
  };
}

/**
 * Renders a link to the earlier delivery that must end before this delivery is sent; null if this delivery need not
 * wait.
 */
function earlier(store: Store, { state, orderId, url }: Delivery, now: number): Content {
  if (state !== 'behind') return null;
  const row = store.get(
    `SELECT ${deliveryColumns} WHERE d.seq = (
       SELECT min(seq) FROM deliveries WHERE order_id = ? AND url = ? AND next_at IS NOT NULL)`,
    orderId,
    url,
  );
  if (!row) return null;
  const found = deliveryIn(row);
  return html`: <a href="${deliveriesPath}/${found.id}">${found.event}</a> ${outcome(found, now)}`;
}

/** The state of a delivery, in words. */
export const stateText = ({ state, last }: Delivery): string =>
  state === 'behind' ? 'waits behind an earlier one' : state !== 'open' ? state : last ? 'waiting' : 'queued';

function outcome(delivery: Delivery, now: number): Content {
  const { state, at, last } = delivery;
  const result = last && html` <small>${attemptText(last)}, ${last.tookMs} ms</small>`;
  const text = stateText(delivery);
  if (state === 'delivered') return html`<span class="badge good">${text}</span>${result}`;
  if (state === 'given up') return html`<span class="badge bad">${text}</span>${result}`;
  if (state === 'behind') return html`<span class="soft">${text}</span>`;
  if (!last) return html`<span class="badge wait">${text}</span>`;
  return html`<span class="badge wait">${at > now ? html`is sent again ${age(at, now)}` : 'is sent again now'}</span>${result}`;
}

/** The result of an attempt, in words. */
export const attemptText = ({
  status,
  error,
}: Pick<NonNullable<Delivery['last']>, 'status' | 'error'>): string => error ?? `HTTP ${status}`;

/** Handles the replay button of a delivery. */
export const replayDelivery = formAction<'consoleReplay'>(
  () => ({ path: deliveriesPath, text: 'All deliveries' }),
  async ({ service, path: { id } }) => {
    const sent = await replay(service.store, service.idGenerator, id, service.clock.now());
    if (sent === undefined) throw new ErrorResponse('not_found', 'There is no such delivery any more.');
    return seeOther(`${deliveriesPath}/${sent}`);
  },
);

/** Maximum number of deliveries that one form replays. */
const maxReplayed = 500;

/** Replays the marked deliveries, or all failed deliveries. */
export const replayDeliveries = formAction<'consoleReplayAll'>(
  () => ({ path: deliveriesPath, text: 'All deliveries' }),
  async ({ service: { store, idGenerator, clock } }, form) => {
    const isAll = form.get('which') === 'failed';
    const ids = isAll
      ? store
          .all(
            `SELECT d.id FROM deliveries d WHERE ${failed} AND d.behind = 0 ORDER BY d.seq LIMIT ?`,
            maxReplayed,
          )
          .map(({ id }) => String(id))
      : form.getAll('id').slice(0, maxReplayed);
    if (ids.length === 0)
      throw new Misfilled(isAll ? 'No delivery has failed.' : 'Mark the deliveries that you mean.');
    const now = clock.now();
    for (const id of ids) await replay(store, idGenerator, id, now);
    return seeOther(deliveriesPath);
  },
);

type Found = NonNullable<ReturnType<typeof readDelivery>>;

/** Maximum size of the form, in bytes. URL encoding can take nine bytes per character. */
const largestForm = 512 * 1024;
/** Maximum length, in characters, of a body that can be edited on a page. */
const maxEditableLength = 24_000;
/** Maximum length, in characters, of a call that is offered as a copyable command. */
const maxCallLength = 10_000;

const editPath = (deliveryId: string): string => `${deliveriesPath}/${deliveryId}/edit`;

/** Page that resends a delivery with an edited body or to another receiver. */
export const replayEditedPage: Page<'consoleReplayEdited'> = async ({ service, request, path: { id } }) => {
  const form = request.method === 'POST' ? readForm(request, largestForm) : undefined;
  if (form && !(form instanceof URLSearchParams)) return form;
  const found = readDelivery(service.store, id);
  if (!found)
    return notThere('No such delivery', 'There is no such delivery any more.', { section: 'deliveries' });
  if (!form) return formPage(service, found);
  try {
    return await send(service, found, form);
  } catch (error) {
    if (error instanceof Misfilled)
      return formPage(service, found, {
        form,
        problem: error.message,
        field: error.field,
        status: 400,
      });
    if (!(error instanceof ErrorResponse)) throw error;
    // The input is rendered into a new form with a new token, so submitting again works.
    const problem =
      'Not sent: this form has sent a delivery already, with other values. Send it again if you mean a second one.';
    return formPage(service, found, { form, problem, status: 409 });
  }
};

async function send(service: Service, found: Found, form: URLSearchParams): Promise<SandboxResponse> {
  const { store, config, clock } = service;
  const given = (form.get('url') ?? '').trim();
  const url = given === '' ? found.url : given;
  const denial = refusedTarget(url, config.webhooks);
  if (denial !== undefined) throw new Misfilled(`Nothing is sent there: ${denial}.`, 'url');
  // Browsers submit forms with CRLF line endings.
  const text = (form.get('body') ?? '').replaceAll('\r\n', '\n');
  const body = text === editable(found.body) ? found.body : text;
  if (form.get('raw') !== 'yes') checkJson(body);
  const isNewEvent = form.get('event') !== 'same';
  const edited = { newId: onceIn(form), url, body, isNewEvent };
  await replayEdited(store, found.id, edited, clock.now());
  return seeOther(`${deliveriesPath}/${edited.newId}`);
}

/** @throws Misfilled if a body is not JSON. */
function checkJson(body: string): void {
  try {
    JSON.parse(body);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new Misfilled(
      `Not sent: the body is not JSON (${why.slice(0, 200)}). Mend it, or tick that it is meant.`,
      'body',
    );
  }
}

/** Pretty-prints JSON for editing, and escapes characters that a page would not display literally. */
function editable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).replace(
      /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
      (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  } catch {
    // An earlier edit made the body invalid JSON.
    return body;
  }
}

interface Filled {
  readonly form: URLSearchParams;
  readonly problem: string;
  /** Name of the field with the problem. */
  readonly field?: string | undefined;
  readonly status: number;
}

function formPage({ config }: Service, found: Found, filled?: Filled): SandboxResponse {
  const { id, orderId, event, eventId, url } = found;
  const text = filled?.form.get('body') ?? editable(found.body);
  const isSame = filled?.form.get('event') === 'same';
  const title = `Replay ${event}, edited`;
  const note = filled && html`<span class="bad" id="problem" role="alert">${filled.problem}</span>`;
  const invalid = html` aria-invalid="true" aria-describedby="problem" autofocus`;
  const [ofUrl, ofBody] = [filled?.field === 'url', filled?.field === 'body'];
  if (text.length > maxEditableLength)
    return consolePage(
      title,
      html`<p class="lead">Its body is too large to be edited on a page. ${back(orderId)}</p>`,
      { section: 'deliveries' },
    );
  const page = html`<p class="lead">What you send is a delivery of its own. ${back(orderId)}</p>
<form method="post" action="${editPath(id)}" class="card">${onceField()}${!ofUrl && !ofBody && note && html`<p>${note}</p>`}
<label>Another target<input name="url" type="url" class="mono" placeholder="${shownAddress(url)}" value="${filled?.form.get('url') ?? ''}" autocomplete="off" spellcheck="false"${ofUrl ? invalid : html` aria-describedby="target-note"`}>${ofUrl && note}</label>
<p class="soft" id="target-note">Left empty, it goes where it went: <span class="mono">${shownAddress(url)}</span>. ${reachOf(config.webhooks.external)}</p>
<label>Body${ofBody && html` ${note}`}<textarea name="body" class="mono" rows="24" spellcheck="false"${ofBody && invalid}>
${text}</textarea></label>
<label>${webhookIdHeader}<select name="event"><option value="new"${!isSame && html` selected`}>a new one: a receiver takes it for another event</option><option value="same"${isSame && html` selected`}>the same, ${eventId.slice(0, 8)}: a receiver may know it already</option></select></label>
<label class="check"><input type="checkbox" name="raw" value="yes"${filled?.form.get('raw') === 'yes' && html` checked`}> Send the body even if it is not JSON</label>
<div class="actions"><button class="main">Send it</button></div></form>
${found.body.length <= maxCallLength && sameFromTerminal(config, 'same-replay', [{ what: 'sending it', errand: null, curl: receiverCall(found) }], 'Sends the body as it was, straight to the receiver whose address stands in WEBHOOK_URL.')}`;
  return consolePage(title, page, { status: filled?.status ?? 200, section: 'deliveries', copies: true });
}

const back = (orderId: string): Content =>
  html`<a href="${ordersPath}/${orderId}">Order ${orderId.slice(0, 8)}</a>`;

const reachOf = (external: boolean): string =>
  external
    ? 'Loopback and external addresses are called.'
    : 'Loopback addresses are called, and others that --allow-webhook named when the sandbox was started.';
