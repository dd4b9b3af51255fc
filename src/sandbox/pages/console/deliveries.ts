import { htmlPage } from '../html.ts';
import { siteLinks } from '../links.ts';
import { html } from '../markup.ts';
import type { Page } from '../page.ts';
import { deliveriesPath, deliveriesTable } from './deliveries-table.ts';
import { pager, partOf } from './paging.ts';
import { readDeliveries } from './read-deliveries.ts';

export const deliveriesPage: Page = ({ service: { store, clock }, search }) => {
  const part = partOf(search);
  const rows = readDeliveries(store, part);
  const now = clock.now();
  return htmlPage(
    'Webhook deliveries',
    html`<section>${deliveriesTable(rows, { now, back: 'deliveries' })}${pager(deliveriesPath, part, rows.length, rows.at(-1)?.seq)}</section>`,
    { live: true, links: siteLinks },
  );
};
