import { readDeliveries } from '../../deliveries/read.ts';
import type { Page } from '../page.ts';
import { deliveriesPath, deliveriesTable } from './deliveries-table.ts';
import { listPage } from './paging.ts';

export const deliveriesPage: Page<'consoleDeliveries'> = ({ service: { store, clock }, search }) =>
  listPage({
    title: 'Webhook deliveries',
    path: deliveriesPath,
    search,
    read: (part) => readDeliveries(store, part),
    numberOf: ({ seq }) => seq,
    table: (rows) => deliveriesTable(rows, { now: clock.now(), back: 'deliveries' }),
  });
