import { defineCommand } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { listRows, moreHint } from '../../cli/paged-list.ts';
import { operations } from '../../contract/operations/index.ts';
import { orderColumns } from '../order-columns.ts';
import { filterOptions, wireFilters } from './filters.ts';

const query = operations['order.list'].query;

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List orders, newest first',
  options: {
    ...filterOptions,
    limit: optionFor(query.limit),
    offset: optionFor(query.offset),
    all: { kind: 'flag', description: 'page to the end' },
    include: optionFor(query.include),
  },
  examples: [
    { command: 'errand order list', note: 'the newest 50' },
    {
      command: 'errand order list --status pending -o id | errand order cancel -',
      note: 'cancel what can be',
    },
    { command: 'errand order list --all -o ndjson', note: 'every order, one a line' },
    { command: 'errand order list --metadata-key team --metadata-value web', note: 'by your own metadata' },
  ],
  operations: ['order.list'],
  related: ['order get', 'order export', 'order watch'],
  async run(context, { limit, offset, all = false, include, ...filters }) {
    const query = { ...wireFilters(filters), limit, offset, include };
    const paged = await listRows(context, 'order.list', query, all);
    return {
      kind: 'list',
      rows: paged.rows,
      columns: orderColumns,
      empty: 'no order matches',
      hints: () => moreHint(paged, 'orders'),
    };
  },
});
