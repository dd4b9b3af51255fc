import type { Content } from '../../platform/html.ts';
import type { Store } from '../store/store.ts';
import { type Delivery, deliveryColumns, deliveryIn, readDeliveries } from '../webhooks/read.ts';
import { type Conditions, conditionOf, startsWith, userCondition } from './conditions.ts';
import { deliveriesPath, deliveriesTable } from './deliveries-table.ts';
import { type Choice, type Filters, filterBar, isFiltered, readFilters } from './filters.ts';
import { usersToOffer } from './find-orders.ts';
import type { Page } from './pages/page.ts';
import { listPage, type Part } from './paging.ts';

export const deliveriesPage: Page<'consoleDeliveries'> = ({ service: { store, clock, config }, search }) => {
  const filters = readFilters(search, deliveryFilters);
  return listPage({
    section: 'deliveries',
    title: 'Webhook deliveries',
    search,
    filters,
    bar: deliveriesBar(store, filters),
    read: (part) => findDeliveries(store, filters, part),
    numberOf: ({ seq }) => seq,
    table: (rows) => deliveriesTable(config, rows, { now: clock.now(), back: 'deliveries' }),
  });
};

function deliveriesBar(store: Store, filters: Filters<(typeof deliveryFilters)[number]>): Content {
  const { all, found, failed, states, events, classes } = countDeliveries(store, filters);
  return filterBar({
    path: deliveriesPath,
    what: ['delivery', 'deliveries'],
    filters,
    count: { all, found },
    fields: [
      { kind: 'text', name: 'id', label: 'Id of it, or of its order' },
      { kind: 'text', name: 'user', label: 'User', offers: usersToOffer(store) },
      { kind: 'select', name: 'event', label: 'Event', choices: events },
      { kind: 'select', name: 'class', label: 'Response', choices: classes },
      { kind: 'flag', name: 'failed', label: 'failed only', count: failed },
      { kind: 'links', name: 'state', label: 'State', choices: states },
    ],
  });
}

export const deliveryFilters = ['id', 'state', 'event', 'class', 'user', 'failed'] as const;
type Name = (typeof deliveryFilters)[number];

const state = `CASE WHEN d.delivered_at IS NOT NULL THEN 'delivered' WHEN d.given_up_at IS NOT NULL THEN 'given up' ELSE 'waiting' END`;
/** Of the last response; an attempt without one has none. */
const statusClass = `CASE WHEN d.attempts = 0 THEN 'not sent' WHEN d.last_status IS NULL THEN 'no response' ELSE (d.last_status / 100) || 'xx' END`;
/** Its last attempt came to nothing. */
const failed = 'd.attempts > 0 AND d.delivered_at IS NULL';

/** One condition on the row `d` for each filter. */
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

/** Deliveries of every order, newest first; the inner query walks a narrow index, so that no body is read that is not shown. */
export function findDeliveries(store: Store, filters: Filters<Name>, { before, limit }: Part): Delivery[] {
  if (!isFiltered(filters)) return readDeliveries(store, { before, limit });
  const { sql, values } = conditionOf(conditions, filters);
  return store
    .all(
      `SELECT ${deliveryColumns} WHERE d.seq IN
         (SELECT seq FROM (SELECT d.seq FROM deliveries d WHERE ${sql} AND +d.seq < ? ORDER BY +d.seq DESC LIMIT ?))
       ORDER BY d.seq DESC`,
      ...values,
      before,
      limit,
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

/** How many deliveries there are of each kind, each under the other filters. */
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
