import { htmlPage } from '../html.ts';
import { siteLinks } from '../links.ts';
import type { Page } from '../page.ts';
import { deliveriesPath, deliveriesTable } from './deliveries-table.ts';
import { pageOfList } from './paging.ts';
import { readDeliveries } from './read-deliveries.ts';

export const deliveriesPage: Page = ({ service: { store, clock }, search }) => {
  const body = pageOfList({
    path: deliveriesPath,
    search,
    read: (part) => readDeliveries(store, part),
    numberOf: ({ seq }) => seq,
    table: (rows) => deliveriesTable(rows, { now: clock.now(), back: 'deliveries' }),
  });
  return htmlPage('Webhook deliveries', body, { live: true, links: siteLinks });
};
