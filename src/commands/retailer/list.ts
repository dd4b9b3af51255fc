import { defineCommand } from '../../cli/define.ts';
import { optionFor } from '../../cli/from-contract.ts';
import { listRows, moreHint } from '../../cli/paged-list.ts';
import { operations } from '../../contract/operations/index.ts';
import { retailerColumns } from './columns.ts';

const query = operations['retailer.list'].query;

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the supported retailers; free, no key',
  options: {
    name: optionFor(query.name),
    limit: optionFor(query.limit),
    offset: optionFor(query.offset),
    all: { kind: 'flag', description: 'page to the end' },
    include: optionFor(query.include),
  },
  examples: [
    { command: 'errand retailer list', note: 'who can be ordered from' },
    {
      command: "errand retailer list -o json --query '[?no_account_needed].retailer'",
      note: 'no account needed',
    },
  ],
  operations: ['retailer.list'],
  related: ['retailer check', 'search'],
  async run(context, { all = false, ...filters }) {
    const paged = await listRows(context, 'retailer.list', filters, all);
    return {
      kind: 'list',
      rows: paged.rows,
      columns: retailerColumns,
      id: 'retailer',
      empty: 'no retailer matches',
      hints: () => moreHint(paged, 'retailers'),
    };
  },
});
