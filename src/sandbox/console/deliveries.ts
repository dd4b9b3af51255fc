import type { Content } from '../../platform/html.ts';
import type { Store } from '../store/store.ts';
import { deliveriesPath, deliveriesTable } from './deliveries-table.ts';
import { type Filters, filterBar, readFilters } from './filters.ts';
import { countDeliveries, deliveryFilters, findDeliveries } from './find-deliveries.ts';
import { usersToOffer } from './find-orders.ts';
import type { Page } from './pages/page.ts';
import { listPage } from './paging.ts';

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
