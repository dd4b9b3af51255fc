import { defineCommand } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { listRows, moreHint } from '../../cli/paged-list.ts';
import { operations } from '../../contract/operations/index.ts';
import { batchColumns } from './columns.ts';

const { query } = operations['bulk.list'];

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List batches, newest first',
  options: {
    limit: optionFor(query.limit),
    offset: optionFor(query.offset),
    all: { kind: 'flag', description: 'page to the end' },
  },
  examples: [
    { command: 'errand bulk list', note: 'what was uploaded, and how it stands' },
    {
      command: "errand bulk list -o json --query '[?failed_count > `0`].id'",
      note: 'batches with failed rows',
    },
  ],
  operations: ['bulk.list'],
  related: ['bulk get', 'bulk watch'],
  async run(context, { all = false, ...query }) {
    const paged = await listRows(context, 'bulk.list', query, all);
    return {
      kind: 'list',
      rows: paged.rows,
      columns: batchColumns,
      empty: 'no batch was uploaded',
      hints: () => moreHint(paged, 'batches'),
    };
  },
});
