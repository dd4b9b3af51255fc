import { returnStatuses } from '../../api/enums.ts';
import { spoken } from '../../api/order-state.ts';
import { type Content, html } from '../../platform/html.ts';
import { type StoredReturn, storedReturn } from '../returns/records.ts';
import type { Store } from '../store/store.ts';
import { type Conditions, conditionOf, startsWith, userCondition } from './conditions.ts';
import { type Filters, filterBar, readFilters } from './filters.ts';
import { usersToOffer } from './find-orders.ts';
import { ordersPath } from './orders.ts';
import { age, money } from './pages/figures.ts';
import type { Page } from './pages/page.ts';
import { listPage } from './paging.ts';
import { returnBadge, returnsPath } from './returns-of-order.ts';
import { userNames } from './users.ts';

const filterNames = ['id', 'status', 'user'] as const;
type Name = (typeof filterNames)[number];

const conditions: Conditions<Name> = {
  id: (value) => ({
    sql: `(${startsWith('r.id')}) OR (${startsWith('r.order_id')}) OR r.number = ?`,
    values: Array.from({ length: 5 }, () => value.toLowerCase()),
  }),
  status: (value) => ({ sql: 'r.status = ?', values: [value] }),
  user: (value) => userCondition('r.user_id', value),
};

/** Statuses of an earlier version are read as today's. */
const statuses = returnStatuses.filter((status) => status !== 'in_progress' && status !== 'completed');

/** The returns of every user, newest first. */
export const returnsPage: Page<'consoleReturns'> = ({ service: { store, clock }, search }) => {
  const filters = readFilters(search, filterNames);
  const { sql, values } = conditionOf(conditions, filters);
  const byStatus = counts(store, filters);
  const sum = [...byStatus.values()].reduce((total, count) => total + count, 0);
  return listPage({
    section: 'returns',
    search,
    filters,
    bar: filterBar({
      path: returnsPath,
      what: ['return', 'returns'],
      filters,
      count: {
        all: Number(store.get('SELECT count(*) AS count FROM returns')?.count),
        found: filters.status === '' ? sum : (byStatus.get(filters.status) ?? 0),
      },
      fields: [
        { kind: 'text', name: 'id', label: 'Id of it, or of its order' },
        { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
        {
          kind: 'links',
          name: 'status',
          label: 'Status',
          choices: statuses.map((value) => ({ value, text: spoken(value), count: byStatus.get(value) ?? 0 })),
        },
      ],
    }),
    read: ({ before, limit }) =>
      store
        .all(
          `SELECT * FROM returns r WHERE ${sql} AND r.seq < ? ORDER BY r.seq DESC LIMIT ?`,
          ...values,
          before,
          limit,
        )
        .map(storedReturn),
    numberOf: ({ seq }) => seq,
    table: (rows) => returnsTable(store, rows, clock.now()),
  });
};

function counts(store: Store, filters: Filters<Name>): Map<string, number> {
  const { sql, values } = conditionOf(conditions, filters, 'status');
  const rows = store.all(
    `SELECT r.status, count(*) AS count FROM returns r WHERE ${sql} GROUP BY 1`,
    ...values,
  );
  return new Map(rows.map(({ status, count }) => [String(status), Number(count)]));
}

function returnsTable(store: Store, rows: readonly StoredReturn[], now: number): Content {
  if (rows.length === 0)
    return html`<p class="soft">No return yet. One is requested on the page of an order that was placed.</p>`;
  const nameOf = userNames(
    store,
    rows.map(({ userId }) => userId),
  );
  return html`<table class="stack"><thead><tr><th class="fit">Return</th><th class="fit">State</th><th>Reason</th><th class="fit number">Credited</th>
<th class="fit">Order</th><th class="fit">By</th><th class="fit">Requested</th></tr></thead><tbody>${rows.map(
    ({ record: { id, status, reason, items, credited_amount, order_id, created_at }, userId }) =>
      html`<tr id="return-${id}"><td class="fit"><a class="mono" href="${returnsPath}/${id}">${id.slice(0, 8)}</a></td><td class="fit">${returnBadge(status)}</td>
<td>${spoken(reason)} <small>${units(items)}</small></td><td class="fit number" data-label="credited">${money(credited_amount)}</td>
<td class="fit" data-label="order"><a class="mono" href="${ordersPath}/${order_id}">${order_id.slice(0, 8)}</a></td><td class="fit" data-label="by">${nameOf(userId)}</td><td class="fit">${age(Date.parse(created_at), now)}</td></tr>`,
  )}</tbody></table>`;
}

/** How many units are sent back. */
export function units(items: StoredReturn['record']['items']): string {
  const count = items.reduce((sum, { quantity }) => sum + quantity, 0);
  return count === 1 ? '1 unit' : `${count.toLocaleString('en-US')} units`;
}
