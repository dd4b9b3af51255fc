import { listCommand } from '../../cli/list-command.ts';
import { returnColumns } from './columns.ts';

export const list = listCommand('return.list', {
  summary: 'List returns, newest first',
  columns: returnColumns,
  spanBy: 'created_at',
  what: 'returns',
  empty: 'no return matches',
  examples: [
    { command: 'errand return list', note: 'the newest 50' },
    { command: 'errand return list --search $ORDER', note: 'those of one order' },
    {
      command:
        'errand return list --status approved --all -o id | errand return labels - --dir labels --force',
      note: 'every label that is due',
    },
  ],
  related: ['return get', 'return labels', 'order list'],
});
