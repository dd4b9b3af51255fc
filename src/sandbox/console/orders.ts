import { failedOrderStatuses } from '../../api/enums.ts';
import { isFailedOrder, orderState, type ShownState } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import type { Service } from '../server/service.ts';
import type { StoredRow } from '../store/store.ts';
import {
  type Column,
  countOrders,
  type FilterBar,
  type Filters,
  findOrders,
  listPage,
  orderFilters,
  type Part,
  plainHead,
  readFilters,
  userKey,
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

const failedStatuses = failedOrderStatuses.map((status) => `'${status}'`).join(', ');

const columns: readonly Column[] = [
  { name: 'Order' },
  { name: 'State', look: 'fit', by: 'o.status' },
  { name: 'Recipient', look: 'fit', by: 'o.recipient' },
  {
    name: 'Total',
    look: 'fit number',
    by: `CASE WHEN o.status IN (${failedStatuses}) THEN 0 ELSE coalesce(o.listed ->> '$.job_result.price_components.total', o.listed ->> '$.max_price') END`,
  },
  {
    name: 'By',
    look: 'fit',
    by: userKey('o.user_id'),
  },
  { name: 'Placed', look: 'fit', by: '+o.seq', isAge: true },
];

interface Shown {
  /** The headings, if they sort. */
  readonly head?: Content;
  /** The address of the list, which the page of an order leads back to. */
  readonly query?: string;
}

/** @param now ms since the epoch. */
export const ordersTable = (
  rows: readonly Row[],
  now: number,
  { head = plainHead(columns), query = '' }: Shown = {},
): Content =>
  rows.length === 0
    ? html`<p class="soft">No order yet.</p>`
    : html`<table class="stack">${head}<tbody>${rows.map(
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
function price(record: OrderRecord): string {
  const paid = paidFor(record);
  if (paid) return money(paid.total, paid.currency);
  return isFailedOrder(record.status) ? '–' : `at most ${money(record.max_price)}`;
}

const paidFor = ({ job_result: result }: OrderRecord) => (result?.success ? result.price_components : null);

export const ordersPage: Page<'consoleOrders'> = ({ service, search }) => {
  const { clock } = service;
  const filters = readFilters(search, orderFilters);
  return listPage({
    section: 'orders',
    search,
    filters,
    bar: ordersBar(service, filters),
    columns,
    read: (part) => readOrders(service, part, filters),
    numberOf: ({ seq }) => seq,
    csv: {
      id: ({ record }) => record.id,
      product: ({ title }) => title,
      state: ({ record }) => stateOf(record).text,
      recipient: ({ record: { shipping_address: to } }) => `${to.first_name} ${to.last_name}`,
      total_cents: ({ record }) => paidFor(record)?.total,
      max_price_cents: ({ record }) => record.max_price,
      by: ({ user }) => user,
      retailer_number: ({ record }) => record.merchant_order_ids.join(' '),
      tracking_number: ({ record }) =>
        record.tracking_numbers.map(({ tracking_number }) => tracking_number).join(' '),
      placed_at: ({ record }) => record.created_at,
    },
    table: (rows, head, query) => ordersTable(rows, clock.now(), { head, query }),
  });
};

function ordersBar(service: Service, filters: typeof noFilters): FilterBar<keyof typeof filters> {
  const { all, found, failed, statuses, retailers } = countOrders(service, filters);
  return {
    what: ['order', 'orders'],
    count: { all, found },
    fields: [
      { kind: 'text', name: 'id', label: 'Id, or retailer’s number' },
      { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(service.store) },
      { kind: 'select', name: 'retailer', label: 'Retailer', choices: retailers },
      { kind: 'flag', name: 'failed', label: 'failed only', count: failed },
      { kind: 'links', name: 'status', label: 'Status', choices: statuses },
    ],
  };
}
