import { batchList } from '../../bulk/upload/columns.ts';
import { listCommand } from '../../cli/list-command.ts';

export const list = listCommand('bulk.list', {
  summary: 'List batches, newest first',
  ...batchList,
  spanBy: 'created_at',
  what: 'batches',
  empty: 'no batch was uploaded',
  examples: [
    { command: 'errand bulk list', note: 'what was uploaded, and how it stands' },
    {
      command: "errand bulk list -o json --query '[?failed_count > `0`].id'",
      note: 'batches with failed rows',
    },
  ],
  related: ['bulk get', 'bulk watch'],
});
