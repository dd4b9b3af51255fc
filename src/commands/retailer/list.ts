import { listCommand } from '../../cli/list-command.ts';
import { retailerColumns } from './columns.ts';

export const list = listCommand('retailer.list', {
  summary: 'List the supported retailers; free, no key',
  columns: retailerColumns,
  id: 'retailer',
  what: 'retailers',
  empty: 'no retailer matches',
  examples: [
    { command: 'errand retailer list', note: 'who can be ordered from' },
    {
      command: "errand retailer list -o json --query '[?no_account_needed].retailer'",
      note: 'no account needed',
    },
  ],
  related: ['retailer check', 'search'],
});
