import { failedOrderStatuses, type OrderStatus, orderStatuses } from '../../api/enums.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { retailerOf } from '../catalogue/retailers.ts';
import type { SandboxConfig } from '../config.ts';
import { readQuery } from '../server/request.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { consolePage } from './page.ts';
import { type SectionName, sections } from './sections.ts';

/** A window into a list: either the rows below a row number, or the newest rows. */
export interface Part {
  readonly before: number;
  readonly limit: number;
}

export const pageSize = 25;

/** Rows shown per list on the home page. */
export const latest: Part = { before: Number.MAX_SAFE_INTEGER, limit: 8 };

/** Parses the requested window from a query string. */
function partOf(search: string): Part {
  const [before = ''] = readQuery(search).before ?? [];
  return { before: /^[1-9]\d{0,15}$/.test(before) ? Number(before) : latest.before, limit: pageSize };
}

interface Paged<Row> {
  readonly path: string;
  readonly search: string;
  readonly filters?: Filters;
  /** Reads the rows of a window, newest first. */
  readonly read: (part: Part) => readonly Row[];
  /** The row's number in the store. */
  readonly numberOf: (row: Row) => number;
  readonly table: (rows: readonly Row[]) => Content;
  /** Labels of the links to other pages. The default labels suit a list that starts with the newest rows. */
  readonly words?: { readonly first: string; readonly next: string };
}

interface List<Row> extends Paged<Row> {
  readonly section: SectionName;
  readonly title?: string;
  /** Short description of the list. */
  readonly lead?: string;
  readonly bar?: Content;
}

/** Renders a section's list page. */
export function listPage<Row>({
  section,
  title,
  lead,
  bar,
  ...paged
}: Omit<List<Row>, 'path'>): SandboxResponse {
  const { path, text } = sections[section];
  const body = html`${lead !== undefined && html`<p class="lead">${lead}</p>\n`}${bar}<section>${pagedTable({ path, ...paged })}</section>`;
  return consolePage(title ?? text, body, { live: true, section, isList: true });
}

const defaultWords = { first: 'Newest', next: 'Older' };

/** Renders one page of a list, with a link to the newest rows and, if there are older rows, a link to the next page. */
export function pagedTable<Row>(paged: Paged<Row>): Content {
  const { path, search, filters = {}, read, numberOf, table, words = defaultWords } = paged;
  const { before, limit } = partOf(search);
  const found = read({ before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isFirst = before === latest.before;
  const newer = !isFirst && html`<a href="${addressOf(path, filters)}">${words.first}</a>`;
  const older =
    found.length > limit &&
    last !== undefined &&
    html`<a href="${addressOf(path, { ...filters, before: String(numberOf(last)) })}" rel="next">${words.next}</a>`;
  return html`${rows.length > 0 ? table(rows) : nothing(paged, isFirst)}${
    (newer || older) && html`<p class="actions">${newer} ${older}</p>`
  }`;
}

function nothing<Row>({ table, filters = {} }: Paged<Row>, isFirst: boolean): Content {
  if (!isFirst) return html`<p class="soft">Nothing is older.</p>`;
  return isFiltered(filters) ? html`<p class="soft">Nothing matches these filters.</p>` : table([]);
}

/** Filters of a list, keyed by query parameter name; an unset filter is an empty string. */
export type Filters<N extends string = string> = Readonly<Record<N, string>>;

/** Maximum length of a filter value, chosen so that no real search is longer. */
const maxLength = 200;

/** Reads the filters from a query string. */
export function readFilters<N extends string>(search: string, names: readonly N[]): Filters<N> {
  const query = new URLSearchParams(search);
  const given = (name: N): string => (query.get(name) ?? '').trim().slice(0, maxLength);
  return Object.fromEntries(names.map((name) => [name, given(name)])) as Filters<N>;
}

/** The URL of a filtered list. Parameter order is fixed, so each view has one canonical URL. */
function addressOf(path: string, filters: Filters): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${path}?${query}` : path;
}

/** The filters as a query string, for links from the list to one of its entries; empty if no filter is set. */
export const queryOf = (filters: Filters): string => addressOf('', filters);

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((value) => value !== '');

/** A filter value, and the number of rows that match it and all other filters. */
export interface Choice {
  readonly value: string;
  readonly text: string;
  readonly count: number;
}

type Field<N extends string> =
  /** Choices that are shown as links, for the most common filters. */
  | { readonly kind: 'links'; readonly name: N; readonly label: string; readonly choices: readonly Choice[] }
  | { readonly kind: 'select'; readonly name: N; readonly label: string; readonly choices: readonly Choice[] }
  /** `offers` suggests known values; other input is accepted too. */
  | { readonly kind: 'text'; readonly name: N; readonly label: string; readonly offers?: readonly string[] }
  | { readonly kind: 'flag'; readonly name: N; readonly label: string; readonly count: number };

interface FilterBar<N extends string> {
  readonly path: string;
  /** Word for one row and for several rows, such as `order` and `orders`. */
  readonly what: readonly [one: string, several: string];
  readonly filters: Filters<N>;
  readonly fields: readonly Field<N>[];
  /** Row counts: total, and after filtering. */
  readonly count: { readonly all: number; readonly found: number };
}

/** Renders the filters of a list with match counts, as a form and links that work without JavaScript. */
export function filterBar<N extends string>(bar: FilterBar<N>): Content {
  const { path, what, filters, fields, count } = bar;
  const [one, several] = what;
  const all = `${counted(count.all)} ${count.all === 1 ? one : several}`;
  const links = fields.filter((field) => field.kind === 'links');
  const inputs = fields.filter((field) => field.kind !== 'links');
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${several}">${links.map(
    ({ name }) => filters[name] !== '' && html`<input type="hidden" name="${name}" value="${filters[name]}">`,
  )}${inputs.map((field) => inputOf(field, filters[field.name]))}<p class="actions"><button>Filter<span class="unseen"> ${several}</span></button>${
    isFiltered(filters) && html`<a href="${path}">Clear</a>`
  }</p></form>${links.map((field) => filterLinks(path, filters, field))}
<p class="soft count">${isFiltered(filters) ? `${counted(count.found)} of ${all}` : all}</p>`;
}

const counted = (count: number): string => count.toLocaleString('en-US');

function inputOf<N extends string>(field: Exclude<Field<N>, { kind: 'links' }>, value: string): Content {
  const { name, label } = field;
  if (field.kind === 'flag')
    return html`<label class="flag"><input type="checkbox" name="${name}" value="1"${value !== '' && html` checked`}> ${label} <small>${counted(field.count)}</small></label>`;
  if (field.kind === 'select')
    return html`<label>${label}<select name="${name}"><option value="">all</option>${withCurrent(
      field.choices,
      value,
    ).map(
      (choice) =>
        html`<option value="${choice.value}"${choice.value === value && html` selected`}>${choice.text} (${counted(choice.count)})</option>`,
    )}</select></label>`;
  const { offers = [] } = field;
  return html`<label>${label}<input type="search" name="${name}" value="${value}" autocomplete="off" spellcheck="false"${
    offers.length > 0 && html` list="offers-${name}"`
  }></label>${
    offers.length > 0 &&
    html`<datalist id="offers-${name}">${offers.map((offer) => html`<option value="${offer}"></option>`)}</datalist>`
  }`;
}

/**
 * Adds the current value to the choices even if no row matches the value. Otherwise the user could not clear the
 * filter.
 */
const withCurrent = (choices: readonly Choice[], value: string): readonly Choice[] =>
  value === '' || choices.some((choice) => choice.value === value)
    ? choices
    : [...choices, { value, text: value, count: 0 }];

/** Renders a link for each filter value, and a link that clears the filter. */
export function filterLinks<N extends string>(
  path: string,
  filters: Filters<N>,
  { name, label, choices }: { readonly name: N; readonly label: string; readonly choices: readonly Choice[] },
): Content {
  const total = choices.reduce((sum, { count }) => sum + count, 0);
  const all: Choice = { value: '', text: 'all', count: total };
  return html`<nav class="choices" aria-label="${label}">${[all, ...withCurrent(choices, filters[name])].map(
    ({ value, text, count }) =>
      html`<a href="${addressOf(path, { ...filters, [name]: value })}"${value === filters[name] && html` aria-current="true"`}>${text} <small>${counted(count)}</small></a>`,
  )}</nav>`;
}

/** A SQL condition and its bound values. */
interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** The SQL condition for each filter of a list. */
export type Conditions<N extends string> = { readonly [M in N]: (value: string) => Condition };

/** Combines the conditions of all active filters, except those in `without`. */
export function conditionOf<N extends string>(
  conditions: Conditions<N>,
  filters: Filters<N>,
  ...without: readonly N[]
): Condition {
  // The cast is safe because the type of `conditions` allows no other keys than N.
  const set = (Object.keys(conditions) as N[]).filter(
    (name) => filters[name] !== '' && !without.includes(name),
  );
  const found = set.map((name) => conditions[name](filters[name]));
  return {
    sql: found.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
    values: found.flatMap(({ values }) => values),
  };
}

/** SQL prefix test that can use an index. Bind the prefix twice. */
export const startsWith = (column: string): string => `${column} >= ? AND ${column} < ? || char(1114111)`;

/** Matches users by id prefix or part of the email. */
export const userCondition = (column: string, value: string): Condition => ({
  sql: `${column} IN (SELECT id FROM users WHERE ${startsWith('id')} OR instr(lower(coalesce(email, '')), ?) > 0)`,
  values: Array.from({ length: 3 }, () => value.toLowerCase()),
});

export const orderFilters = ['id', 'status', 'user', 'retailer', 'failed'] as const;
type Name = (typeof orderFilters)[number];

/**
 * The SQL condition for each filter. The conditions refer to an order as `o`. Every condition lets SQLite scan the
 * narrow index and never read a wide row.
 */
const conditions: Conditions<Name> = {
  id: (value) => ({
    sql: `+o.seq IN (SELECT seq FROM orders WHERE ${startsWith('id')}
      UNION SELECT order_seq FROM merchant_orders WHERE number = ?)`,
    values: [value.toLowerCase(), value.toLowerCase(), value],
  }),
  status: (value) => ({ sql: 'o.status = ?', values: [value] }),
  user: (value) => userCondition('o.user_id', value),
  retailer: (value) => ({
    sql: 'EXISTS (SELECT 1 FROM order_hosts h WHERE h.host = ? AND h.order_seq = o.seq)',
    values: [value],
  }),
  failed: () => ({
    sql: `o.status IN (${failedOrderStatuses.map(() => '?').join(', ')})`,
    values: failedOrderStatuses,
  }),
};

/**
 * Orders of all users, newest first: `seq`, `user_id` and the record as `listed`. The inner query scans a narrow index,
 * so only the records of returned rows are read. The unary `+` stops SQLite from scanning the wide rows instead.
 */
export function findOrders(store: Store, filters: Filters<Name>, { before, limit }: Part): StoredRow[] {
  const { sql, values } = conditionOf(conditions, filters);
  if (values.length === 0)
    return store.all(
      'SELECT seq, user_id, listed FROM orders WHERE seq < ? ORDER BY seq DESC LIMIT ?',
      before,
      limit,
    );
  return store.all(
    `SELECT seq, user_id, listed FROM orders WHERE seq IN
       (SELECT seq FROM (SELECT o.seq FROM orders o WHERE ${sql} AND +o.seq < ? ORDER BY +o.seq DESC LIMIT ?))
     ORDER BY seq DESC`,
    ...values,
    before,
    limit,
  );
}

/** The next newer and the next older order that match the filters; null at either end of the list. */
export function orderNeighbours(
  store: Store,
  filters: Filters<Name>,
  seq: number,
): { readonly newer: string | null; readonly older: string | null } {
  const { sql, values } = conditionOf(conditions, filters);
  // The unary + keeps SQLite from scanning wide rows for a filter.
  const column = isFiltered(filters) ? '+o.seq' : 'o.seq';
  const idOf = (order: string): string | null => {
    const row = store.get(
      `SELECT id FROM orders WHERE seq = (SELECT o.seq FROM orders o WHERE ${sql} AND ${column} ${order} LIMIT 1)`,
      ...values,
      seq,
    );
    return row === undefined ? null : String(row.id);
  };
  return { newer: idOf(`> ? ORDER BY ${column}`), older: idOf(`< ? ORDER BY ${column} DESC`) };
}

interface OrderCounts {
  readonly all: number;
  readonly found: number;
  readonly failed: number;
  readonly statuses: readonly Choice[];
  readonly retailers: readonly Choice[];
}

const maxRetailers = 50;

/** Counts the orders that match each filter value, with the other filters applied. */
export function countOrders({ store, config }: Service, filters: Filters<Name>): OrderCounts {
  const byStatus = counts(store, filters, 'failed');
  const failed = failedOrderStatuses.reduce((sum, status) => sum + (byStatus.get(status) ?? 0), 0);
  const statuses = filters.failed === '' ? byStatus : counts(store, filters);
  const sum = (counted: ReadonlyMap<string, number>): number =>
    [...counted.values()].reduce((total, count) => total + count, 0);
  return {
    all: Number(store.get('SELECT total(order_count) AS orders FROM users')?.orders),
    found: filters.status === '' ? sum(statuses) : (statuses.get(filters.status) ?? 0),
    failed,
    statuses: orderStatuses.map((value) => ({
      value,
      text: statusText(value),
      count: statuses.get(value) ?? 0,
    })),
    retailers: retailers(store, config, filters),
  };
}

const statusText = (status: OrderStatus): string => spoken(status.replace('order_', ''));

/** Order counts by status, ignoring the status filter. */
function counts(store: Store, filters: Filters<Name>, ...without: readonly Name[]): Map<string, number> {
  const { sql, values } = conditionOf(conditions, filters, 'status', ...without);
  const rows = store.all(
    `SELECT o.status, count(*) AS count FROM orders o WHERE ${sql} GROUP BY o.status`,
    ...values,
  );
  return new Map(rows.map(({ status, count }) => [String(status), Number(count)]));
}

function retailers(store: Store, config: SandboxConfig, filters: Filters<Name>): Choice[] {
  const { sql, values } = conditionOf(conditions, filters, 'retailer');
  const narrowed = values.length === 0 ? '' : `WHERE order_seq IN (SELECT o.seq FROM orders o WHERE ${sql})`;
  const rows = store.all(
    `SELECT host, count(*) AS count FROM order_hosts ${narrowed} GROUP BY host ORDER BY count DESC, host LIMIT ?`,
    ...values,
    maxRetailers,
  );
  return rows.map((row) => {
    const host = String(row.host);
    return { value: host, text: hostText(host, config), count: Number(row.count) };
  });
}

/** Displays a host as its retailer's name. */
function hostText(host: string, { shopUrl }: SandboxConfig): string {
  if (host === new URL(shopUrl).host) return 'the sandbox shop';
  const retailer = retailerOf(`https://${host}`);
  return retailer ? `${retailer.name} (${host})` : host;
}

const maxOffered = 30;

/** Emails of users, starting with the users who have the most orders. */
export const usersToOffer = (store: Store): string[] =>
  store
    .all(
      'SELECT email FROM users WHERE email IS NOT NULL GROUP BY email ORDER BY sum(order_count) DESC LIMIT ?',
      maxOffered,
    )
    .map(({ email }) => String(email));

/** Display names of users: the email, or the first characters of the id. */
export function userNames(store: Store, ids: readonly (string | null)[]): (id: string | null) => string {
  const names = new Map<string, string>();
  for (const id of new Set(ids)) {
    if (id === null) continue;
    const email = store.get('SELECT email FROM users WHERE id = ?', id)?.email;
    names.set(id, typeof email === 'string' ? email : id.slice(0, 8));
  }
  return (id) => (id === null ? '' : (names.get(id) ?? id.slice(0, 8)));
}
