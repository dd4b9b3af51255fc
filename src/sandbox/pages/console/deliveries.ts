import { readDeliveries } from '../../deliveries/read.ts';
import type { Page } from '../page.ts';
import { deliveriesTable } from './deliveries-table.ts';
import { listPage } from './paging.ts';

export const deliveriesPage: Page<'consoleDeliveries'> = ({ service: { store, clock }, search }) =>
  listPage({
    section: 'deliveries',
    title: 'Webhook deliveries',
    search,
    read: (part) => readDeliveries(store, part),
    numberOf: ({ seq }) => seq,
    table: (rows) => deliveriesTable(rows, { now: clock.now(), back: 'deliveries' }),
  });
