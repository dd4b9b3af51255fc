import { stateWords } from '../../api/state-words.ts';
import { listCommand } from '../../cli/list-command.ts';
import {
  type ReferenceFilter,
  referenceFilterOptions,
  referenceHints,
  referenceQuery,
} from '../../orders/needs/reference-filter.ts';
import { orderList } from '../../orders/screen.ts';

/** How `list` and `export` present the order filters. */
export const orderFilters = {
  group: 'Filters',
  rename: { status_filter: 'status', created_after: 'since', created_before: 'until' },
  edges: { created_after: 'since', created_before: 'until' },
  hiddenFlags: {
    status_filter: ['--state'],
    created_after: ['--created-after'],
    created_before: ['--created-before'],
  },
  completes: { order_id: 'orders' },
  words: { status_filter: stateWords },
} as const;

export const list = listCommand('order.list', {
  summary: 'List orders, newest first',
  filters: orderFilters,
  ...orderList,
  more: {
    options: referenceFilterOptions,
    toQuery: (input: ReferenceFilter, query) => referenceQuery(input, query, 'flags'),
    hints: referenceHints,
  },
  screenQuery: { include: ['tracking_events'] },
  what: 'orders',
  empty: 'no order matches',
  examples: [
    { command: 'errand order list', note: 'the newest 50' },
    {
      command: 'errand order list --status waiting -o id | errand order cancel -',
      note: 'cancel what can be',
    },
    { command: 'errand order list --all -o ndjson', note: 'every order, one a line' },
    { command: 'errand order list --reference REQ-00006', note: 'by your own name for it' },
  ],
  related: ['order get', 'order export', 'order watch'],
});
