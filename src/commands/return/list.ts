import { defineCommand } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { listRows, moreHint } from '../../cli/paged-list.ts';
import { operations } from '../../contract/operations/index.ts';
import { returnColumns } from './columns.ts';

const { query } = operations['return.list'];

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List returns, newest first',
  options: {
    status: optionFor(query.status),
    search: optionFor(query.search),
    limit: optionFor(query.limit),
    offset: optionFor(query.offset),
    all: { kind: 'flag', description: 'page to the end' },
  },
  examples: [
    { command: 'errand return list', note: 'the newest 50' },
    { command: 'errand return list --search $ORDER', note: 'those of one order' },
    {
      command:
        'errand return list --status approved --all -o id | errand return labels - --dir labels --force',
      note: 'every label that is due',
    },
  ],
  operations: ['return.list'],
  related: ['return get', 'return labels', 'order list'],
  async run(context, { all = false, ...filters }) {
    const paged = await listRows(context, 'return.list', filters, all);
    return {
      kind: 'list',
      rows: paged.rows,
      columns: returnColumns,
      empty: 'no return matches',
      hints: () => moreHint(paged, 'returns'),
    };
  },
});
