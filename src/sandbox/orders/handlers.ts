import type { ErrorType } from '../../api/error-types.ts';
import { eachPlainField } from '../../api/order-fields.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import { withRefunds } from '../payments/payments.ts';
import { type AllHandlers, type Call, csvLine, type QueryOf } from '../server/handler.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { acceptOrder, prepareOrder } from './create.ts';
import { cancelOrder } from './interventions.ts';
import { milestones, publicTracking, testProductsResponse } from './lifecycle/index.ts';
import type { OrderRecord } from './lifecycle/types.ts';
import { findOrder, retriedAs, type StoredOrder, withoutDashes } from './records.ts';

export const orderHandlers = {
  'order.create': async (service, { caller, body, now }) => ({
    text: await acceptOrder(service, caller, body, now),
  }),

  'order.list': ({ store }, { caller, query }) => {
    const { texts, total } = listOrders(store, caller.userId, query);
    const { limit, offset } = query;
    return {
      text: `{"orders":[${texts.join(',')}],"total":${total},"limit":${limit},"offset":${offset}}`,
      count: texts.length,
    };
  },

  'order.export': ({ store }, { caller, query }) => ({
    csv: csvOf(records(store, caller.userId, query)),
    filename: 'orders.csv',
  }),

  'order.testProducts': ({ config }) => ({ value: testProductsResponse(config.shopUrl) }),

  'order.get': ({ store }, call) => {
    const { record } = ownOrder(store, call);
    if (call.caller.orderId === null) return { text: JSON.stringify(record) };
    const paid = withRefunds(store, record);
    return { text: JSON.stringify(paid.record), headers: paid.headers };
  },

  'order.timeline': ({ store }, call) => ({ value: milestones(ownOrder(store, call).record) }),

  'order.cancel': async (service, { path, caller, now }) => {
    await cancelOrder(service, { id: path.order_id, userId: caller.userId }, now);
    return { empty: true };
  },

  'order.track': ({ store }, { path }) => {
    const order = findOrder(store, path.order_id, null);
    if (!order) throw notFound(path.order_id, { vary: 'Accept' });
    // Browsers get an HTML page at this path.
    return { value: publicTracking(order.record), headers: { vary: 'Accept' } };
  },
} satisfies Partial<AllHandlers>;

async function* records(
  store: Store,
  userId: string,
  query: QueryOf<'order.export'>,
): AsyncGenerator<OrderRecord[]> {
  for await (const rows of eachOrder(store, userId, query))
    yield rows.map((row) => JSON.parse(String(row.listed)));
}

function ownOrder(store: Store, { path, caller }: Pick<Call<'order.get'>, 'path' | 'caller'>): StoredOrder {
  const order = findOrder(store, path.order_id, caller.userId);
  if (!order || (caller.orderId !== null && caller.orderId !== order.record.id))
    throw notFound(path.order_id);
  return order;
}

const notFound = (id: string, headers = {}): ErrorResponse =>
  new ErrorResponse('not_found', `There is no order ${id}.`, { resource: 'order' }, headers);

type Cell = (order: OrderRecord) => string | number | boolean | null | undefined;

const joined = (values: readonly (string | number)[]): string => values.join('|');

/** Export columns, in order. Multiple values in a cell are separated by `|`. */
const columns: Readonly<Record<string, Cell>> = {
  id: (order) => order.id,
  status: (order) => order.status,
  created_at: (order) => order.created_at,
  updated_at: (order) => order.updated_at,
  product_urls: (order) => joined(order.items.map(({ url }) => url)),
  quantities: (order) => joined(order.items.map(({ quantity }) => quantity)),
  max_price: (order) => order.max_price,
  // Only placed orders have a total; before that the price is a quote.
  total: ({ status, job_result: result }) =>
    status === 'order_placed' ? result?.price_components?.total : null,
  currency: (order) => order.job_result?.price_components?.currency,
  recipient: ({ shipping_address: to }) => `${to.first_name} ${to.last_name}`,
  address_line1: (order) => order.shipping_address.address_line1,
  address_line2: (order) => order.shipping_address.address_line2,
  city: (order) => order.shipping_address.city,
  state: (order) => order.shipping_address.state,
  postal_code: (order) => order.shipping_address.postal_code,
  country: (order) => order.shipping_address.country,
  tracking_numbers: (order) => joined(order.tracking_numbers.map(({ tracking_number: number }) => number)),
  tracking_statuses: (order) => joined(order.tracking_numbers.map(({ status }) => status)),
  merchant_order_ids: (order) => joined(order.merchant_order_ids),
  ...Object.fromEntries(eachPlainField.map(([name]) => [name, (order: OrderRecord) => order[name]])),
  error_type: (order) => order.job_result?.error_type,
  metadata: ({ metadata = {} }) => (Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : ''),
};

/** Serializes orders as CSV (RFC 4180), with a header row. */
async function* csvOf(pages: AsyncIterable<readonly OrderRecord[]>): AsyncGenerator<string> {
  yield csvLine(Object.keys(columns));
  for await (const orders of pages) {
    yield orders.map((order) => csvLine(Object.values(columns).map((cell) => cell(order)))).join('');
  }
}

type Value = string | number;

interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

interface Conditions extends Condition {
  readonly isFiltered: boolean;
}

const tracked = 'EXISTS (SELECT 1 FROM trackings t WHERE t.order_seq = o.seq';

type Query = QueryOf<'order.export'>;
/** `metadata_value` is part of the filter `metadata_key`. */
type FilterName = Exclude<keyof Query, 'metadata_value'>;

/** The SQL condition for each filter that the specification lists. */
const filters: { readonly [N in FilterName]: (value: NonNullable<Query[N]>, query: Query) => Condition } = {
  order_id: (value) => ({ sql: 'instr(o.id, ?) > 0', values: [value.toLowerCase()] }),
  search: (value) => ({
    sql: `(instr(o.id, ?) > 0 OR ${tracked} AND (instr(lower(t.number), ?) > 0 OR instr(lower(t.svc_number), ?) > 0)))`,
    values: Array.from({ length: 3 }, () => value.toLowerCase()),
  }),
  merchant_order_id: (value) => ({
    sql: 'o.seq IN (SELECT order_seq FROM merchant_orders WHERE stripped = ?)',
    values: [withoutDashes(value)],
  }),
  status_filter: (value) => ({ sql: 'o.status = ?', values: [value] }),
  tracking_status: (value) => ({ sql: `${tracked} AND t.status = ?)`, values: [value] }),
  has_tracking: (value) => ({ sql: `${value ? '' : 'NOT '}${tracked})`, values: [] }),
  return_status: (value) => ({
    sql: `EXISTS (SELECT 1 FROM returns r WHERE r.order_seq = o.seq AND r.status IN (${value === 'open' ? "'open'" : "'approved', 'denied'"}))`,
    values: [],
  }),
  created_after: (value) => ({ sql: 'o.created_at >= ?', values: [Date.parse(value)] }),
  created_before: (value) => ({ sql: 'o.created_at < ?', values: [Date.parse(value)] }),
  metadata_key: (value, query) => ({
    sql: 'o.seq IN (SELECT order_seq FROM order_metadata WHERE key = ? AND value = ?)',
    values: [value, query.metadata_value ?? ''],
  }),
  user_email: (value) => ({
    sql: "instr(coalesce(o.created_by, ''), ?) > 0",
    values: [value.toLowerCase()],
  }),
  shipping_name: (value) => ({ sql: 'instr(o.recipient, ?) > 0', values: [value.toLowerCase()] }),
};

const filterNames = Object.keys(filters) as FilterName[];

/** Combines the conditions of a query, starting with the restriction to the caller's own orders. */
function conditionsOf(userId: string, query: Query): Conditions {
  const filtered = filterNames.flatMap((name) => conditionOf(name, query));
  const all = [{ sql: 'o.user_id = ?', values: [userId] }, ...filtered];
  return {
    sql: all.map(({ sql }) => sql).join(' AND '),
    values: all.flatMap(({ values }) => values),
    isFiltered: filtered.length > 0,
  };
}

function conditionOf<N extends FilterName>(name: N, query: Query): Condition[] {
  const value = query[name];
  // All these filters match substrings, so an empty string would match everything.
  return value === undefined || value === '' ? [] : [filters[name](value, query)];
}

interface OrderPage {
  readonly texts: readonly string[];
  readonly total: number;
}

/** A page of orders as JSON texts, newest first, with the total count. */
export function listOrders(store: Store, userId: string, query: QueryOf<'order.list'>): OrderPage {
  const last = lastPage(store);
  const name = JSON.stringify([userId, query]);
  if (last.page?.name !== name) last.page = { name, result: readPage(store, userId, query) };
  return last.page.result;
}

/** Caches the most recently read page until the store changes, because polling clients all request the same page. */
const lastPage = (store: Store): { page?: { readonly name: string; readonly result: OrderPage } } =>
  store.cached('page of orders', () => ({}));

function readPage(store: Store, userId: string, query: QueryOf<'order.list'>): OrderPage {
  const conditions = conditionsOf(userId, query);
  const { include, limit, offset } = query;
  const column = include?.includes('tracking_events') ? 'record' : 'listed';
  const page = { column, limit, offset } as const;
  const rows = conditions.isFiltered
    ? filteredPage(store, conditions, page)
    : unfilteredPage(store, userId, page);
  return {
    texts: rows.map((row) => String(row.text)),
    total: countOrders(store, userId, conditions),
  };
}

interface Page {
  readonly column: 'record' | 'listed';
  readonly limit: number;
  readonly offset: number;
}

/** The inner query uses only an index, so only the records of returned rows are read. */
const filteredPage = (
  store: Store,
  { sql, values }: Condition,
  { column, limit, offset }: Page,
): StoredRow[] =>
  store.all(
    `SELECT ${column} AS text FROM orders WHERE seq IN
       (SELECT seq FROM (SELECT o.seq FROM orders o WHERE ${sql} ORDER BY o.created_at DESC, o.seq DESC LIMIT ? OFFSET ?))
     ORDER BY created_at DESC, seq DESC`,
    ...values,
    limit,
    offset,
  );

/**
 * Caches the position at which the page before an offset ended, until the store changes. Deep pages start at this
 * position, so they need not skip rows.
 */
const bookmark = (store: Store, userId: string, offset: number): { last?: readonly [number, number] } =>
  store.cached(`orders of ${userId} before ${offset}`, () => ({}));

function unfilteredPage(store: Store, userId: string, { column, limit, offset }: Page): StoredRow[] {
  const { last } = offset > 0 ? bookmark(store, userId, offset) : {};
  // Get the cache entry before reading, so that a change during the read invalidates the entry.
  const following = bookmark(store, userId, offset + limit);
  const rows = store.all(
    `SELECT o.seq, o.created_at, o.${column} AS text FROM orders o
     WHERE o.user_id = ?${last ? ' AND (o.created_at, o.seq) < (?, ?)' : ''}
     ORDER BY o.created_at DESC, o.seq DESC LIMIT ? OFFSET ?`,
    userId,
    ...(last ?? []),
    limit,
    last ? 0 : offset,
  );
  const end = rows.at(-1);
  if (end && rows.length === limit) following.last = [Number(end.created_at), Number(end.seq)];
  return rows;
}

function countOrders(store: Store, userId: string, { sql, values, isFiltered }: Conditions): number {
  const row = isFiltered
    ? store.get(`SELECT count(*) AS total FROM orders o WHERE ${sql}`, ...values)
    : store.cached(`orders of ${userId}`, () =>
        store.get('SELECT order_count AS total FROM users WHERE id = ?', userId),
      );
  return Number(row?.total ?? 0);
}

const exportPage = 500;

/**
 * Streams all orders matching a query, newest first. Reads one page at a time to keep memory flat and let other
 * requests proceed.
 */
async function* eachOrder(store: Store, userId: string, query: Query): AsyncGenerator<StoredRow[]> {
  const { sql, values } = conditionsOf(userId, query);
  let [createdAt, seq] = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  for (;;) {
    const rows = store.all(
      `SELECT o.seq, o.created_at, o.listed FROM orders o WHERE ${sql} AND (o.created_at, o.seq) < (?, ?)
       ORDER BY o.created_at DESC, o.seq DESC LIMIT ?`,
      ...values,
      createdAt,
      seq,
      exportPage,
    );
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (!last || rows.length < exportPage) return;
    [createdAt, seq] = [Number(last.created_at), Number(last.seq)];
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Failures caused by the order itself, which a retry cannot fix. */
const permanent: ReadonlySet<string> = new Set<ErrorType>([
  'invalid_variant',
  'invalid_product_url',
  'product_not_found',
  'product_variant_required',
  'gift_option_unavailable',
  'quantity_limit_exceeded',
  'shipping_address_invalid',
]);

export const retryHandlers = {
  'legacy.retry': async (service, { caller, path, now }) => {
    const { store } = service;
    const id = path.request_id;
    const failed = findOrder(store, id, caller.userId);
    if (!failed) throw new ErrorResponse('not_found', `There is no order ${id}.`, { resource: 'order' });
    const before = retriedAs(store, id);
    if (before !== null) return { value: { request_id: before } };
    const { status, job_result: result } = failed.record;
    if (status !== 'order_failed') {
      const message = `The order is ${status}: only a failed order can be retried.`;
      throw new ErrorResponse('bad_request', message, { status });
    }
    const errorType = result?.error_type ?? '';
    if (permanent.has(errorType)) {
      const message = `The order failed with ${errorType}, which a retry cannot mend; place a corrected order.`;
      throw new ErrorResponse('bad_request', message, { error_type: errorType });
    }
    const { idempotency_key: _, ...body } = failed.body;
    const save = await prepareOrder(service, caller, body);
    return store.transaction(() => {
      // Concurrent retries yield one order, because the second retry finds the order created by the first.
      const meanwhile = retriedAs(store, id);
      if (meanwhile !== null) return { value: { request_id: meanwhile } };
      const made = save(now);
      store.run('UPDATE orders SET retried_as = ? WHERE id = ?', made.id, id);
      return { value: { request_id: made.id } };
    });
  },
} satisfies Partial<AllHandlers>;
