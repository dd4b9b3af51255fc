import { defineCommand } from '../../../cli/define.ts';
import { isWithin, spanOptions } from '../../../run/span.ts';
import { columnsFor, ownOpenLine, shown } from './columns.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List what is in doubt, or was made but never reported',
  options: {
    ...spanOptions,
    all: { kind: 'flag', description: 'everything else too; it is kept for 30 days' },
  },
  examples: [
    { command: 'errand order journal list', note: 'orders in doubt' },
    { command: 'errand order journal list --all -o json', note: 'everything the journal knows' },
  ],
  output: { list: 'JournalRecord' },
  readsOnly: true,
  related: ['order journal resume', 'order journal forget'],
  async run(context, { all = false, since, until }) {
    const journal = await context.journal();
    const own = await ownOpenLine(context);
    const records = journal.list(all).filter((one) => isWithin(one.created_at, { since, until }));
    return {
      kind: 'list',
      rows: records.map(shown),
      ...columnsFor(records),
      id: 'key',
      empty: 'nothing is in doubt or unreported',
      ...(own !== undefined && { hints: () => [own] }),
    };
  },
});
