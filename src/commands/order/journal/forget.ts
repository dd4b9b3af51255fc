import { defineCommand } from '../../../cli/define.ts';
import { ErrandError } from '../../../platform/errors.ts';
import { eachId, readIds } from '../../../run/ids.ts';
import { asItIs, journalColumns, keysMeaning, shown } from './columns.ts';

export const forget = defineCommand({
  name: 'forget',
  aliases: ['rm'],
  summary: 'Drop an order in doubt without finding out its outcome',
  description: 'It may have been placed anyway: check `errand order list` first.',
  arguments: [{ name: 'keys', names: 'intents', description: keysMeaning, required: true, variadic: true }],
  examples: [{ command: 'errand order journal forget $KEY', note: 'after a look at the service' }],
  output: { list: 'JournalRecord' },
  related: ['order journal list', 'order journal resume'],
  async run(context, { keys }) {
    const journal = await context.journal();
    const { value: baseUrl } = context.settings.baseUrl;
    return {
      kind: 'list',
      columns: journalColumns,
      id: 'key',
      ...eachId(context, await readIds(context, 'key', keys, asItIs), async (key) => {
        const record = await journal.claim(journal.get(key, baseUrl), false);
        if (record.state !== 'intended' && record.state !== 'damaged') {
          const made = record.order_id === null ? '' : ` (${record.order_id})`;
          throw new ErrandError('conflict', `${record.key} is not in doubt: it is ${record.state}${made}`);
        }
        await journal.forget(record.key, record.base_url);
        return shown(journal.get(record.key, record.base_url));
      }),
    };
  },
});
