import { failedOrderStatuses, type OrderStatus, orderStatuses } from '../../api/enums.ts';
import { spoken } from '../../api/order-state.ts';
import { retailerOf } from '../catalogue/retailers.ts';
import type { SandboxConfig } from '../config.ts';
import type { Service } from '../server/service.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { type Conditions, conditionOf, startsWith, userCondition } from './conditions.ts';
import type { Choice, Filters } from './filters.ts';
import type { Part } from './paging.ts';

export const orderFilters = ['id', 'status', 'user', 'retailer', 'failed'] as const;
type Name = (typeof orderFilters)[number];

/** One condition on the row `o` for each filter. Each leaves the narrow index to be walked, and never reads a wide row. */
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
 * Orders of every user, newest first: `seq`, `user_id` and the record as `listed`. The inner query walks a narrow index
 * (the signs keep it from the wide rows), so that no record is read that is not shown.
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

export interface OrderCounts {
  readonly all: number;
  readonly found: number;
  readonly failed: number;
  readonly statuses: readonly Choice[];
  readonly retailers: readonly Choice[];
}

const mostRetailers = 50;

/** How many orders there are of each kind, each under the other filters. */
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

/** Orders of each status, whatever status is looked for. */
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
    mostRetailers,
  );
  return rows.map((row) => {
    const host = String(row.host);
    return { value: host, text: hostText(host, config), count: Number(row.count) };
  });
}

/** A host by the name of its retailer. */
function hostText(host: string, { shopUrl }: SandboxConfig): string {
  if (host === new URL(shopUrl).host) return 'the sandbox shop';
  const retailer = retailerOf(`https://${host}`);
  return retailer ? `${retailer.name} (${host})` : host;
}

const mostOffered = 30;

/** Users by their email, those with most orders first. */
export const usersToOffer = (store: Store): string[] =>
  store
    .all(
      'SELECT email FROM users WHERE email IS NOT NULL GROUP BY email ORDER BY sum(order_count) DESC LIMIT ?',
      mostOffered,
    )
    .map(({ email }) => String(email));
