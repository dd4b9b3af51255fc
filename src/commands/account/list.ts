import { defineCommand } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { listRows, moreHint } from '../../cli/paged-list.ts';
import { operations } from '../../contract/operations/index.ts';
import { accountColumns } from './columns.ts';

const { query } = operations['account.list'];

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List stored retailer accounts; secrets are never shown',
  options: {
    search: optionFor(query.search),
    limit: optionFor(query.limit),
    offset: optionFor(query.offset),
    all: { kind: 'flag', description: 'page to the end' },
  },
  examples: [
    { command: 'errand account list', note: 'which is busy, and with what' },
    { command: 'errand account list --search membersbarn -o id', note: 'short ids, for a script' },
  ],
  operations: ['account.list'],
  related: ['account add', 'order create'],
  async run(context, { all = false, ...filters }) {
    const paged = await listRows(context, 'account.list', filters, all);
    return {
      kind: 'list',
      rows: paged.rows,
      columns: accountColumns,
      id: 'short_id',
      empty: 'no account is stored; `errand account add --email …` stores one',
      hints: () => moreHint(paged, 'accounts'),
    };
  },
});
