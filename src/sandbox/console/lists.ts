import { failedOrderStatuses, type OrderStatus, orderStatuses } from '../../api/enums.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { retailerOf } from '../catalogue/retailers.ts';
import type { SandboxConfig } from '../config.ts';
import { readQuery } from '../server/request.ts';
import { withoutSecrets } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import type { SandboxResponse } from '../server/wire.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { consolePage } from './page.ts';
import { type SectionName, sections } from './sections.ts';

/** A window into a list: the rows that follow a row, or the first rows. Unsorted, the newest are first. */
export interface Part {
  /** Number of the row that they follow. */
  readonly before: number;
  readonly limit: number;
  readonly sort?: Sort | undefined;
}

/** A column of a list, which its heading may sort by. */
export interface Column {
  readonly name: string;
  /** Classes of its heading. */
  readonly look?: 'fit' | 'fit number' | 'half';
  /** What it is sorted by: an SQL expression that is never null. Columns without one are not sorted. */
  readonly by?: string;
  /** Whether the list goes by it, the newest first, unless it is sorted. */
  readonly isAge?: true;
}

interface Sort {
  /** The column's heading. */
  readonly name: string;
  readonly by: string;
  readonly isDescending: boolean;
}

export const pageSize = 25;

/** Rows shown per list on the home page. */
export const latest: Part = { before: Number.MAX_SAFE_INTEGER, limit: 8 };

/** Parses the requested window from a query string. */
function partOf(search: string, columns: readonly Column[] = []): Part {
  const [before = ''] = readQuery(search).before ?? [];
  return {
    before: /^[1-9]\d{0,15}$/.test(before) ? Number(before) : latest.before,
    limit: pageSize,
    sort: sortIn(search, columns),
  };
}

const sortParameter = 'sort';

/** The word of an address for a sorted column: `to-spend`, or `-to-spend` from its end. */
const wordOf = ({ name, isDescending }: Pick<Sort, 'name' | 'isDescending'>): string =>
  `${isDescending ? '-' : ''}${name.toLowerCase().replaceAll(' ', '-')}`;

/** How an address sorts a list; undefined for the newest first. */
function sortIn(search: string, columns: readonly Column[]): Sort | undefined {
  const [word = ''] = readQuery(search)[sortParameter] ?? [];
  const isDescending = word.startsWith('-');
  const column = columns.find(({ name }) => wordOf({ name, isDescending }) === word);
  return column?.by === undefined ? undefined : { name: column.name, by: column.by, isDescending };
}

/**
 * The SQL of a window: what follows the row that it begins after, and the order. Rows that sort alike go by number.
 * @param from is the FROM clause, and `seq` the column with the row's number.
 */
export function windowOf(
  { before, sort }: Part,
  { from, seq }: { readonly from: string; readonly seq: string },
) {
  if (!sort) return { where: `${seq} < ?`, order: `${seq} DESC`, values: [before] };
  const key = `${sort.by}, ${seq}`;
  const way = sort.isDescending ? 'DESC' : 'ASC';
  const order = `${sort.by} ${way}, ${seq} ${way}`;
  if (before === latest.before) return { where: 'true', order, values: [] };
  const row = `SELECT ${key} FROM ${from} WHERE ${seq.replace('+', '')} = ?`;
  const where = `(${key}) ${sort.isDescending ? '<' : '>'} (${row})`;
  return { where, order, values: [before] };
}

interface Paged<Row> {
  readonly path: string;
  readonly search: string;
  readonly filters?: Filters;
  readonly columns?: readonly Column[];
  /** Reads the rows of a window. */
  readonly read: (part: Part) => readonly Row[];
  /** The row's number in the store. */
  readonly numberOf: (row: Row) => number;
  readonly table: (rows: readonly Row[]) => Content;
  /** Labels of the links to other pages. The default labels suit a list that starts with the newest rows. */
  readonly words?: { readonly first: string; readonly next: string };
}

/** A cell of a CSV: amounts in cents. */
type Value = string | number | Date | null | undefined;

interface List<Row, N extends string> extends Omit<Paged<Row>, 'path' | 'table' | 'words'> {
  readonly section: SectionName;
  readonly title?: string;
  /** Short description of the list. */
  readonly lead?: string;
  readonly filters: Filters<N>;
  readonly bar?: FilterBar<N>;
  readonly columns: readonly Column[];
  /** Columns of the list as CSV. */
  readonly csv: Readonly<Record<string, (row: Row) => Value>>;
  /** @param head the headings. @param query the address of the list, for links to its rows that lead back to it. */
  readonly table: (rows: readonly Row[], head: Content, query: string) => Content;
}

/** Whether a list is requested as CSV. */
const csvParameter = 'as';
const csvValue = 'csv';

/** Renders a section's list: a page, or all of its rows as CSV. */
export function listPage<Row, N extends string>(list: List<Row, N>): SandboxResponse {
  const { section, title, lead, bar, search, filters, columns, table } = list;
  const { path, text } = sections[section];
  if (readQuery(search)[csvParameter]?.includes(csvValue)) return csvOf(list);
  const sort = sortIn(search, columns);
  const query = listQuery(search, Object.keys(filters));
  const view = { path, filters, sort };
  const head = html`<thead class="sorts"><tr>${columns.map((column) => heading(view, column))}</tr></thead>`;
  const csv = addressOf(path, { ...filters, ...sorted(sort), [csvParameter]: csvValue });
  const body = html`${lead !== undefined && html`<p class="lead">${lead}</p>\n`}${bar && filterBar(view, bar)}
<p class="soft count">${bar && countOf(bar, filters)} <a href="${csv}" download>CSV</a></p><section>${pagedTable({ ...list, path, table: (rows) => table(rows, head, query), words: sort ? sortedWords : defaultWords })}</section>`;
  return consolePage(title ?? text, body, { live: true, section, isList: true });
}

const defaultWords = { first: 'Newest', next: 'Older' };
const sortedWords = { first: 'First', next: 'Next' };

/** Headings of a table that is not a list, and is not sorted. */
export const plainHead = (columns: readonly Column[]): Content =>
  html`<thead><tr>${columns.map(plainHeading)}</tr></thead>`;

const plainHeading = ({ name, look }: Column): Content =>
  name === '' ? html`<td></td>` : html`<th class="${look}">${name}</th>`;

interface View<N extends string = string> {
  readonly path: string;
  readonly filters: Filters<N>;
  readonly sort: Sort | undefined;
}

const sorted = (sort: Pick<Sort, 'name' | 'isDescending'> | undefined): Filters =>
  sort ? { [sortParameter]: wordOf(sort) } : {};

/** A heading: a link that sorts the list by its column, and the other way round once it does. */
function heading({ path, filters, sort }: View, column: Column): Content {
  const { name, look, by, isAge = false } = column;
  if (by === undefined) return plainHeading(column);
  const isCurrent = sort ? sort.name === name : isAge;
  const isDescending = sort?.isDescending ?? true;
  // Amounts and times are of interest from their end.
  const next = isCurrent ? !isDescending : isAge || look === 'fit number';
  const order = isAge && next ? undefined : { name, isDescending: next };
  return html`<th class="${look}"${isCurrent && html` aria-sort="${isDescending ? 'descending' : 'ascending'}"`}><a href="${addressOf(path, { ...filters, ...sorted(order) })}">${name}</a></th>`;
}

/** Rows that are read at a time for CSV. */
const csvChunk = 500;

/** All rows of a list as CSV, in its order, for a spreadsheet. */
function csvOf<Row, N extends string>(list: List<Row, N>): SandboxResponse {
  const { section, search, columns, csv, read, numberOf } = list;
  const sort = sortIn(search, columns);
  async function* lines(): AsyncGenerator<string> {
    const { csvRecords } = await import('../../format/csv.ts');
    const options = { delimiter: ',', raw: false, visible: false };
    yield csvRecords([Object.keys(csv)], options);
    let before = latest.before;
    for (;;) {
      const rows = read({ before, limit: csvChunk, sort });
      if (rows.length > 0)
        yield csvRecords(
          rows.map((row) => Object.values(csv).map((value) => written(value(row)))),
          options,
        );
      const last = rows.at(-1);
      if (last === undefined || rows.length < csvChunk) return;
      before = numberOf(last);
    }
  }
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${section}.csv"`,
      'cross-origin-resource-policy': 'same-origin',
    },
    body: lines(),
  };
}

const written = (value: Value): string =>
  value instanceof Date ? value.toISOString() : value == null ? '' : withoutSecrets(String(value));

/** Renders one page of a list, with links to the first rows and, if there are more, to the next ones. */
export function pagedTable<Row>(paged: Paged<Row>): Content {
  const { path, search, columns, read, numberOf, table, words = defaultWords } = paged;
  const { before, limit, sort } = partOf(search, columns);
  const filters: Filters = { ...paged.filters, ...sorted(sort) };
  const found = read({ before, limit: limit + 1, sort });
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

function nothing<Row>({ table, words, filters = {} }: Paged<Row>, isFirst: boolean): Content {
  if (!isFirst) return html`<p class="soft">${words === sortedWords ? 'No more.' : 'Nothing is older.'}</p>`;
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

/** The state of a list as the query string of a page below it, which leads back to it; empty if it is as it opens. */
export function listQuery(search: string, names: readonly string[]): string {
  const query = new URLSearchParams(search);
  return addressOf(
    '',
    Object.fromEntries(
      [...names, sortParameter, 'before'].map((name) => [name, (query.get(name) ?? '').slice(0, maxLength)]),
    ),
  );
}

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

export interface FilterBar<N extends string> {
  /** Word for one row and for several rows, such as `order` and `orders`. */
  readonly what: readonly [one: string, several: string];
  readonly fields: readonly Field<N>[];
  /** Row counts: total, and after filtering. */
  readonly count: { readonly all: number; readonly found: number };
}

/** How many rows a list has, and how many match its filters. */
function countOf({ what, count }: FilterBar<string>, filters: Filters): string {
  const [one, several] = what;
  const all = `${counted(count.all)} ${count.all === 1 ? one : several}`;
  return isFiltered(filters) ? `${counted(count.found)} of ${all}` : all;
}

/** Renders the filters of a list with match counts, as a form and links that work without JavaScript. */
function filterBar<N extends string>(
  { path, filters, sort }: View<N>,
  { what, fields }: FilterBar<N>,
): Content {
  const [, several] = what;
  const links = fields.filter((field) => field.kind === 'links');
  const inputs = fields.filter((field) => field.kind !== 'links');
  const kept = [...links.map(({ name }) => [name, filters[name]]), ...Object.entries(sorted(sort))];
  return html`<form method="get" action="${path}" class="filters" role="search" aria-label="${several}">${kept.map(
    ([name = '', value = '']) => value !== '' && html`<input type="hidden" name="${name}" value="${value}">`,
  )}${inputs.map((field) => inputOf(field, filters[field.name]))}<p class="actions"><button>Filter<span class="unseen"> ${several}</span></button>${
    isFiltered(filters) && html`<a href="${path}">Clear</a>`
  }</p></form>${links.map((field) => filterLinks(path, { ...filters, ...sorted(sort) }, field))}`;
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

/** What users are sorted by, as their names are shown. @param column has their id. */
export const userKey = (column: string): string =>
  `(SELECT coalesce(lower(email), id) FROM users WHERE id = ${column})`;

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
export function findOrders(store: Store, filters: Filters<Name>, part: Part): StoredRow[] {
  const { sql, values } = conditionOf(conditions, filters);
  const isNarrow = part.sort !== undefined || values.length > 0;
  const { where, order, ...follows } = windowOf(part, {
    from: 'orders o',
    seq: isNarrow ? '+o.seq' : 'o.seq',
  });
  if (!isNarrow)
    return store.all(
      `SELECT o.seq, o.user_id, o.listed FROM orders o WHERE ${where} ORDER BY ${order} LIMIT ?`,
      ...follows.values,
      part.limit,
    );
  return store.all(
    `SELECT o.seq, o.user_id, o.listed FROM orders o WHERE o.seq IN
       (SELECT seq FROM (SELECT o.seq FROM orders o WHERE ${sql} AND ${where} ORDER BY ${order} LIMIT ?))
     ORDER BY ${order}`,
    ...values,
    ...follows.values,
    part.limit,
  );
}

/**
 * The ids of the next newer and the next older row that a condition lets through; null at either end.
 * @param from is the FROM clause. The unary + of `seq` keeps SQLite from scanning wide rows for a filter.
 */
export function neighboursOf(
  store: Store,
  { sql, values }: Condition,
  { from, as, seq }: { readonly from: string; readonly as: string; readonly seq: number },
): { readonly newer: string | null; readonly older: string | null } {
  const column = values.length > 0 || sql !== 'true' ? `+${as}.seq` : `${as}.seq`;
  const idOf = (order: string): string | null => {
    const row = store.get(
      `SELECT id FROM ${from} WHERE seq = (SELECT ${as}.seq FROM ${from} ${as} WHERE ${sql} AND ${column} ${order} LIMIT 1)`,
      ...values,
      seq,
    );
    return row === undefined ? null : String(row.id);
  };
  return { newer: idOf(`> ? ORDER BY ${column}`), older: idOf(`< ? ORDER BY ${column} DESC`) };
}

/** The next newer and the next older order that the filters let through. */
export const orderNeighbours = (store: Store, filters: Filters<Name>, seq: number) =>
  neighboursOf(store, conditionOf(conditions, filters), { from: 'orders', as: 'o', seq });

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
export function hostText(host: string, { shopUrl }: SandboxConfig): string {
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
