import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { consolePath, shopPath } from '../config.ts';
import { isTestSlug, testProducts, testSlugs } from '../orders/lifecycle/index.ts';
import { readQuery } from '../server/request.ts';
import { withoutSecrets } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { type Delivery, deliveryColumns, deliveryIn } from '../webhooks/read.ts';
import { attemptText, stateText } from './deliveries.ts';
import { onceField } from './form-action.ts';
import { startsWith } from './lists.ts';
import { readOrdersBySeq, stateOf } from './orders.ts';
import { consolePage, type Page } from './page.ts';
import { age, stateBadge } from './parts.ts';
import { requestsPath, statusText } from './requests.ts';
import { searchIndexOf } from './search-index.ts';
import { deliveriesPath, faultsPath, ordersPath, sections, timePath, walletPath } from './sections.ts';

export const searchPath = `${consolePath}/search`;

/** Maximum number of results shown per kind of record. */
const maxResults = 6;
/** Maximum time, in ms, that a search spends on indexing new records. */
const catchUpMs = 12;
const maxQueryLength = 300;

interface Result {
  readonly path: string;
  readonly title: Content;
  readonly detail?: Content;
}

interface Group {
  readonly name: string;
  readonly results: readonly Result[];
}

/** Search page of the console. Finds records by their contents, pages by their names or URLs, and commands. */
export const searchPage: Page<'consoleSearch'> = async ({ service, search }) => {
  const [given = ''] = readQuery(search).q ?? [];
  const query = given.trim().slice(0, maxQueryLength);
  const index = searchIndexOf(service);
  const isComplete = query === '' || (await index.catchUp(catchUpMs));
  const groups = query === '' ? [] : groupsFor(service, query);
  const commands = commandsFor(service, query);
  const isEmpty = groups.every(({ results }) => results.length === 0) && commands.length === 0;
  const body = html`<div id="found">${commands.length > 0 && html`<section id="commands"><header><h2>Commands</h2></header><div class="actions">${commands}</div></section>`}${groups.map(
    ({ name, results }) =>
      results.length > 0 &&
      html`<section class="group"><header><h2>${name}</h2>${results.length === maxResults && html`<small>the first ${maxResults}: one more word finds fewer</small>`}</header><ul class="results">${results.map(
        ({ path, title, detail }) =>
          html`<li><a href="${path}">${title}</a>${detail != null && html` <small>${detail}</small>`}</li>`,
      )}</ul></section>`,
  )}${isEmpty && query !== '' && html`<p class="soft">Nothing has a word that begins like this.</p>`}${
    !isComplete && html`<p class="soft">Older records are still being indexed: search again in a moment.</p>`
  }${query === '' && help}</div>`;
  return consolePage('Search', body);
};

const help: Content = html`<div class="card"><p>Finds an order by its id or its beginning, a product, a recipient, a PO number, metadata, a tracking number, the retailer’s number, an error; a page by its pasted address; requests and deliveries by words of their bodies; and commands:</p>
<ul>${[
  'advance 1 day',
  '503 on',
  '503 50 %',
  'faults off',
  'speed 10',
  'order test-out-of-stock',
  'snapshot before',
].map(
  (command) =>
    html`<li><a href="${searchPath}?q=${encodeURIComponent(command)}"><code>${command}</code></a></li>`,
)}</ul></div>`;

/**
 * Splits a query into the words that a record must contain. Skips words without letters or digits, because they match
 * nothing.
 */
const wordsOf = (query: string): string[] =>
  query
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, 8);

const uuidAnywhere = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;

function groupsFor(service: Service, query: string): Group[] {
  const { store } = service;
  const url = parseUrl(query);
  const isPage = url !== undefined && url.origin === new URL(service.config.baseUrl).origin;
  // If the query is the URL of a page, search for the record whose id is in the URL.
  const named = isPage ? (uuidAnywhere.exec(url.pathname)?.[0] ?? query) : query;
  const words = wordsOf(named);
  if (words.length === 0) return [];
  const found = searchIndexOf(service).find(words, maxResults);
  const text = named.toLowerCase();
  return [
    {
      name: 'Pages',
      results: isPage
        ? [{ path: url.pathname + url.search, title: withoutSecrets(url.pathname) }]
        : pages(text),
    },
    { name: 'Orders', results: orders(service, found.orders) },
    { name: 'Batches', results: batches(store, text) },
    { name: 'Returns', results: returns(store, text) },
    { name: 'Accounts', results: accounts(store, text) },
    { name: 'Keys and wallets', results: keys(store, text) },
    { name: 'Payments', results: payments(store, named) },
    { name: 'Deliveries', results: deliveries(service, found.deliveries) },
    { name: 'Requests', results: requests(service, found.requests) },
    { name: 'Shop', results: products(text) },
  ];
}

const pages = (text: string): Result[] =>
  Object.values(sections)
    .filter((section) => section.text.toLowerCase().startsWith(text))
    .map((section) => ({ path: section.path, title: section.text }));

function orders(service: Service, found: readonly number[]): Result[] {
  const { clock } = service;
  const rows = readOrdersBySeq(service, found);
  return rows.map(({ record, title }) => ({
    path: `${ordersPath}/${record.id}`,
    title: html`<bdi>${title}</bdi>`,
    detail: html`${stateBadge(stateOf(record))} <bdi>${record.shipping_address.first_name} ${record.shipping_address.last_name}</bdi>, ${age(Date.parse(record.created_at), clock.now())} <span class="mono">${record.id.slice(0, 8)}</span>`,
  }));
}

function deliveries({ store, clock }: Service, found: readonly number[]): Result[] {
  const one = (seq: number): Delivery[] =>
    store.all(`SELECT ${deliveryColumns} WHERE d.seq = ?`, seq).map(deliveryIn);
  return found.flatMap(one).map((delivery) => ({
    path: `${deliveriesPath}/${delivery.id}`,
    title: delivery.event,
    detail: html`${stateText(delivery)}${delivery.last && `, ${attemptText(delivery.last)}`}, of order <span class="mono">${delivery.orderId.slice(0, 8)}</span>, ${age(delivery.createdAt, clock.now())}`,
  }));
}

function requests({ requests: log }: Service, found: readonly number[]): Result[] {
  return found.flatMap((number): Result[] => {
    const [exchange] = log?.latest(1, number + 1) ?? [];
    if (exchange?.number !== number) return [];
    const { method, target, status, at } = exchange.request;
    return [
      {
        path: `${requestsPath}/${number}`,
        title: html`<code>${method} ${target}</code>`,
        detail: html`${statusText(status)}${exchange.code !== null && ` ${exchange.code}`} <time>${new Date(at).toISOString().slice(11, 19)}</time>`,
      },
    ];
  });
}

const listed = (
  store: Store,
  sql: string,
  values: readonly string[],
  show: (row: StoredRow) => Result,
): Result[] => store.all(`${sql} LIMIT ${maxResults}`, ...values).map(show);

const batches = (store: Store, text: string): Result[] =>
  listed(
    store,
    `SELECT id, filename, row_count FROM batches WHERE ${startsWith('id')} OR instr(lower(coalesce(filename, '')), ?) > 0 ORDER BY seq DESC`,
    [text, text, text],
    ({ id, filename, row_count }) => ({
      path: `${sections.batches.path}/${String(id)}`,
      title: html`<bdi>${String(filename ?? 'Batch')}</bdi>`,
      detail: html`${Number(row_count)} rows <span class="mono">${String(id).slice(0, 8)}</span>`,
    }),
  );

const returns = (store: Store, text: string): Result[] =>
  listed(
    store,
    `SELECT id, status, order_id FROM returns WHERE ${startsWith('id')} OR order_id = ? OR number = ? COLLATE NOCASE ORDER BY seq DESC`,
    [text, text, text, text],
    ({ id, status, order_id }) => ({
      path: `${sections.returns.path}/${String(id)}`,
      title: `Return ${String(id).slice(0, 8)}`,
      detail: html`${spoken(String(status))}, of order <span class="mono">${String(order_id).slice(0, 8)}</span>`,
    }),
  );

const accounts = (store: Store, text: string): Result[] =>
  listed(
    store,
    `SELECT id, short_id, email, retailer FROM accounts WHERE instr(lower(email), ?) > 0 OR lower(short_id) = ? OR instr(id, ?) = 1 ORDER BY seq DESC`,
    [text, text, text],
    ({ id, short_id, email, retailer }) => ({
      path: `${sections.accounts.path}/${String(id)}`,
      title: html`<bdi>${String(email)}</bdi>`,
      detail: html`${String(retailer ?? 'every retailer')} <span class="mono">${String(short_id)}</span>`,
    }),
  );

const keys = (store: Store, text: string): Result[] =>
  listed(
    store,
    `SELECT u.id, u.email, max(k.name) AS name FROM users u JOIN api_keys k ON k.user_id = u.id
     WHERE k.order_id IS NULL AND (instr(lower(coalesce(u.email, '')), ?) > 0 OR instr(lower(coalesce(k.name, '')), ?) > 0 OR instr(u.id, ?) = 1)
     GROUP BY u.id ORDER BY u.number DESC`,
    [text, text, text],
    ({ id, email, name }) => ({
      path: walletPath(String(id)),
      title: html`<bdi>${withoutSecrets([name, email].filter((part) => typeof part === 'string').join(' · ') || 'Key')}</bdi>`,
      detail: html`wallet <span class="mono">${String(id).slice(0, 8)}</span>`,
    }),
  );

const payments = (store: Store, text: string): Result[] =>
  listed(
    store,
    'SELECT reference, method FROM payments WHERE reference = ?',
    [text],
    ({ reference, method }) => ({
      path: `${sections.payments.path}/${encodeURIComponent(String(reference))}`,
      title: String(reference),
      detail: String(method),
    }),
  );

const products = (text: string): Result[] =>
  testSlugs
    .filter((slug) => slug.includes(text) || testProducts[slug].name.toLowerCase().includes(text))
    .slice(0, maxResults)
    .map((slug) => ({ path: `${shopPath}/${slug}`, title: testProducts[slug].name, detail: slug }));

const units: Readonly<Record<string, string>> = { m: 'minutes', h: 'hours', d: 'days' };

/**
 * Renders a button for the command that a query states, such as `advance 1 day`. Empty if the query is not a command.
 */
function commandsFor({ config }: Service, query: string): Content[] {
  const command = (path: string, name: string, fields: Readonly<Record<string, string>>): Content =>
    html`<form method="post" action="${path}">${onceField()}${Object.entries(fields).map(
      ([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`,
    )}<button class="main">${name}</button></form>`;
  const [, count = '', unit = ''] =
    /^advance\s+(\d{1,6})\s*(m|h|d)(?:in|our|ay)?(?:ute)?s?$/i.exec(query) ?? [];
  if (count !== '') {
    const name = units[unit.toLowerCase()] ?? 'hours';
    return [
      command(`${timePath}/advance`, `Advance ${count} ${Number(count) === 1 ? name.slice(0, -1) : name}`, {
        count,
        unit: name,
      }),
    ];
  }
  const [, fault = '', share = '100', where = ''] =
    /^([a-z-]+(?::[\w,-]+)?|[45]\d\d(?:-after)?)\s+(?:on|(\d{1,3}(?:\.\d{1,3})?)\s*%)(?:\s+on)?(?:\s+@?((?:[A-Z]+ )?\/\S*))?$/.exec(
      query,
    ) ?? [];
  if (fault !== '') {
    const text = `${fault}${share === '100' ? '' : `:${share}%`}${where === '' ? '' : `@${where}`}`;
    return [command(`${faultsPath}/on`, `Switch on ${text}`, { fault: text })];
  }
  if (/^(?:faults?|all)\s+off$/i.test(query))
    return [command(`${faultsPath}/off`, 'Switch all faults off', {})];
  const [, off = ''] = /^(\S+)\s+off$/i.exec(query) ?? [];
  if (off !== '') return [command(`${faultsPath}/off`, `Switch off ${off}`, { fault: off })];
  const [, speed = ''] = /^speed\s+(\d{1,4})×?x?$/i.exec(query) ?? [];
  if (speed !== '') return [command(`${timePath}/speed`, `Set the speed to ${speed}×`, { speed })];
  const [, name = ''] = /^snapshot\s+([A-Za-z0-9][\w.-]{0,63})$/.exec(query) ?? [];
  if (name !== '') return [command(`${timePath}/snapshot`, `Keep this state as ${name}`, { name })];
  if (/^(?:mint|new key)$/i.test(query)) return [command(sections.keys.path, 'Mint a key', {})];
  const [, slug = ''] = /^order\s+(\S+)$/i.exec(query) ?? [];
  if (isTestSlug(slug))
    return [
      html`<a class="button" href="${shopPath}/${slug}#order">Order ${testProducts[slug].name}, ${new URL(config.shopUrl).host}</a>`,
    ];
  return [];
}
