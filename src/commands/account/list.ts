import { listCommand } from '../../cli/list-command.ts';
import { accountColumns } from './fields.ts';

export const list = listCommand('account.list', {
  summary: 'List stored retailer accounts; secrets are never shown',
  columns: accountColumns,
  id: 'short_id',
  what: 'accounts',
  empty: 'no account is stored; `errand account add --email …` stores one',
  examples: [
    { command: 'errand account list', note: 'which is busy, and with what' },
    { command: 'errand account list --search membersbarn -o id', note: 'short ids, for a script' },
  ],
  related: ['account add', 'order create'],
});
