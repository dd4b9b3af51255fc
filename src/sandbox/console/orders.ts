import { isFailedOrder, orderState, type ShownState } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import type { Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import {
  countOrders,
  type Filters,
  filterBar,
  findOrders,
  listPage,
  orderFilters,
  type Part,
  readFilters,
  userNames,
  usersToOffer,
} from './lists.ts';
import type { Page } from './page.ts';
import { age, money, stateBadge } from './parts.ts';
import { ordersPath } from './sections.ts';

const noFilters = readFilters('', orderFilters);

interface Row {
  readonly seq: number;
  readonly user: string;
  readonly record: OrderRecord;
}

/** Orders of all users, newest first. */
export function readOrders(
  store: Store,
  part: Part,
  filters: Filters<(typeof orderFilters)[number]> = noFilters,
): Row[] {
  return rowsOf(store, findOrders(store, filters, part));
}

/** Orders by their row numbers, in that order. */
export const readOrdersBySeq = (store: Store, numbers: readonly number[]): Row[] =>
  rowsOf(
    store,
    numbers.flatMap((seq) => store.all('SELECT seq, user_id, listed FROM orders WHERE seq = ?', seq)),
  );

/** Orders placed with a managed account, newest first. */
export const readOrdersOnAccount = (store: Store, accountId: string, { limit }: Part): Row[] =>
  rowsOf(
    store,
    store.all(
      'SELECT seq, user_id, listed FROM orders WHERE account_id = ? ORDER BY seq DESC LIMIT ?',
      accountId,
      limit,
    ),
  );

function rowsOf(store: Store, rows: readonly StoredRow[]): Row[] {
  const nameOf = userNames(
    store,
    rows.map(({ user_id }) => String(user_id)),
  );
  return rows.map(({ seq, user_id, listed }) => ({
    seq: Number(seq),
    user: nameOf(String(user_id)),
    // This column is written from an OrderRecord.
    record: JSON.parse(String(listed)) as OrderRecord,
  }));
}

/** @param now ms since the epoch. */
export const ordersTable = (rows: readonly Row[], now: number): Content =>
  rows.length === 0
    ? html`<p class="soft">No order yet.</p>`
    : html`<table class="stack"><thead><tr><th class="fit">Order</th><th class="fit">State</th><th>Items</th>
<th class="fit number">Total</th><th class="fit">By</th><th class="fit">Placed</th></tr></thead><tbody>${rows.map(
        ({
          record,
          user,
        }) => html`<tr id="order-${record.id}"><td class="fit"><a class="mono" href="${ordersPath}/${record.id}">${record.id.slice(0, 8)}</a></td>
<td class="fit">${stateBadge(stateOf(record))}</td><td>${itemsOf(record)}</td><td class="fit number">${price(record)}</td>
<td class="fit" data-label="by">${user}</td><td class="fit">${age(Date.parse(record.created_at), now)}</td></tr>`,
      )}</tbody></table>`;

/** The single display state of an order, as in every order list. */
export const stateOf = ({
  status,
  items,
  tracking_numbers: parcels,
  fulfillment,
  job_result: result,
}: OrderRecord): ShownState =>
  orderState({ status, items, parcels, fulfillment, errorType: result?.error_type });

/** The amount paid, or the ceiling if nothing has been paid yet; a dash if the order failed. */
function price({ status, job_result: result, max_price }: OrderRecord): string {
  const paid = result?.success ? result.price_components : null;
  if (paid) return money(paid.total, paid.currency);
  return isFailedOrder(status) ? '–' : `at most ${money(max_price)}`;
}

/** Maximum number of order lines shown by name. Further lines are only counted. */
const maxNamed = 4;

/** Names each line by the last non-empty path segment of its URL. */
function itemsOf({ items }: OrderRecord): string {
  const named = items
    .slice(0, maxNamed)
    .map(({ url, quantity }) => `${quantity > 1 ? `${quantity} × ` : ''}${productName(url)}`);
  const more = items.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function productName(url: string): string {
  const parsed = parseUrl(url);
  if (!parsed) return url;
  const { hostname, pathname } = parsed;
  return pathname.split('/').findLast((part) => part !== '') ?? hostname;
}

export const ordersPage: Page<'consoleOrders'> = ({ service, search }) => {
  const { store, clock } = service;
  const filters = readFilters(search, orderFilters);
  return listPage({
    section: 'orders',
    search,
    filters,
    bar: ordersBar(service, filters),
    read: (part) => readOrders(store, part, filters),
    numberOf: ({ seq }) => seq,
    table: (rows) => ordersTable(rows, clock.now()),
  });
};

function ordersBar(service: Service, filters: typeof noFilters): Content {
  const { all, found, failed, statuses, retailers } = countOrders(service, filters);
  return filterBar({
    path: ordersPath,
    what: ['order', 'orders'],
    filters,
    count: { all, found },
    fields: [
      { kind: 'text', name: 'id', label: 'Id, or retailer’s number' },
      { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(service.store) },
      { kind: 'select', name: 'retailer', label: 'Retailer', choices: retailers },
      { kind: 'flag', name: 'failed', label: 'failed only', count: failed },
      { kind: 'links', name: 'status', label: 'Status', choices: statuses },
    ],
  });
}
