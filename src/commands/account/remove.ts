import { defineCommand } from '../../cli/define.ts';
import { checkName, eachId, readIds } from '../../run/ids.ts';
import { auditedAccount } from './fields.ts';

export const remove = defineCommand({
  name: 'remove',
  aliases: ['rm', 'delete'],
  summary: 'Delete stored retailer accounts',
  arguments: [
    {
      name: 'accounts',
      names: 'accounts',
      description: 'short ids; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    {
      command: 'errand account list --search old.example -o id | errand account remove -',
      note: 'orders already placed with them go on',
    },
  ],
  output: { list: 'RemovedAccount' },
  operations: ['account.delete'],
  related: ['account list'],
  async run(context, { accounts }) {
    const ids = await readIds(context, 'account', accounts, checkName);
    const client = await context.client();
    return {
      kind: 'list',
      columns: [{ name: 'removed', path: 'short_id' }],
      id: 'short_id',
      empty: 'no account to remove',
      ...eachId(context, ids, async (id) => {
        await auditedAccount(context, 'removed', id, () =>
          client.call('account.delete', { path: { short_id: id } }),
        );
        return { short_id: id };
      }),
    };
  },
});
