import { isFailedOrder, orderState, type ShownState } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import type { Service } from '../server/service.ts';
import type { StoredRow } from '../store/store.ts';
import {
  countOrders,
  type Filters,
  filterBar,
  findOrders,
  listPage,
  orderFilters,
  type Part,
  queryOf,
  readFilters,
  userNames,
  usersToOffer,
} from './lists.ts';
import type { Page } from './page.ts';
import { age, money, stateBadge } from './parts.ts';
import { orderTitle, titlesNow } from './products.ts';
import { ordersPath } from './sections.ts';

const noFilters = readFilters('', orderFilters);

interface Row {
  readonly seq: number;
  readonly user: string;
  /** Titles of the order's products. */
  readonly title: string;
  readonly record: OrderRecord;
}

/** Orders of all users, newest first. */
export function readOrders(
  service: Service,
  part: Part,
  filters: Filters<(typeof orderFilters)[number]> = noFilters,
): Row[] {
  return rowsOf(service, findOrders(service.store, filters, part));
}

/** The orders with these row numbers, in the same order. */
export const readOrdersBySeq = (service: Service, numbers: readonly number[]): Row[] =>
  rowsOf(
    service,
    numbers.flatMap((seq) => service.store.all('SELECT seq, user_id, listed FROM orders WHERE seq = ?', seq)),
  );

/** Orders placed with a managed account, newest first. */
export const readOrdersOnAccount = (service: Service, accountId: string, { limit }: Part): Row[] =>
  rowsOf(
    service,
    service.store.all(
      'SELECT seq, user_id, listed FROM orders WHERE account_id = ? ORDER BY seq DESC LIMIT ?',
      accountId,
      limit,
    ),
  );

/** Titles of an order's products; undefined if the order no longer exists. */
export function titleOfOrder(service: Service, id: string): string | undefined {
  const listed = service.store.get('SELECT listed FROM orders WHERE id = ?', id)?.listed;
  // This column is written from an OrderRecord.
  return listed === undefined
    ? undefined
    : orderTitle(titlesNow(service), (JSON.parse(String(listed)) as OrderRecord).items);
}

function rowsOf(service: Service, rows: readonly StoredRow[]): Row[] {
  const titleOf = titlesNow(service);
  const nameOf = userNames(
    service.store,
    rows.map(({ user_id }) => String(user_id)),
  );
  return rows.map(({ seq, user_id, listed }) => {
    // This column is written from an OrderRecord.
    const record = JSON.parse(String(listed)) as OrderRecord;
    return {
      seq: Number(seq),
      user: nameOf(String(user_id)),
      title: orderTitle(titleOf, record.items),
      record,
    };
  });
}

/** @param now ms since the epoch. @param query filters of the list, to be added to the links to orders. */
export const ordersTable = (rows: readonly Row[], now: number, query = ''): Content =>
  rows.length === 0
    ? html`<p class="soft">No order yet.</p>`
    : html`<table class="stack"><thead><tr><th>Order</th><th class="fit">State</th><th class="fit">Recipient</th>
<th class="fit number">Total</th><th class="fit">By</th><th class="fit">Placed</th></tr></thead><tbody>${rows.map(
        ({
          record,
          user,
          title,
        }) => html`<tr id="order-${record.id}"><td><a href="${ordersPath}/${record.id}${query}"><bdi>${title}</bdi></a> <small class="mono">${record.id.slice(0, 8)}</small></td>
<td class="fit">${stateBadge(stateOf(record))}</td><td class="fit" data-label="for"><bdi>${record.shipping_address.first_name} ${record.shipping_address.last_name}</bdi></td><td class="fit number">${price(record)}</td>
<td class="fit" data-label="by">${user}</td><td class="fit">${age(Date.parse(record.created_at), now)}</td></tr>`,
      )}</tbody></table>`;

/** The state that order lists display for an order. */
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

export const ordersPage: Page<'consoleOrders'> = ({ service, search }) => {
  const { clock } = service;
  const filters = readFilters(search, orderFilters);
  return listPage({
    section: 'orders',
    search,
    filters,
    bar: ordersBar(service, filters),
    read: (part) => readOrders(service, part, filters),
    numberOf: ({ seq }) => seq,
    table: (rows) => ordersTable(rows, clock.now(), queryOf(filters)),
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
