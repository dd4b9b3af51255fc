import { UsageError } from '../../../errors.ts';
import { resumeIntent } from '../../../ordering/resume.ts';
import { defineCommand } from '../../define.ts';
import { eachId } from '../../ids.ts';
import { orderColumns } from '../columns.ts';

export const resume = defineCommand({
  name: 'resume',
  summary: 'Settle orders in doubt: the same key is sent again, and exactly one order comes of it',
  arguments: [{ name: 'keys', description: 'keys of the journal, or their beginnings', variadic: true }],
  options: { all: { kind: 'flag', description: 'everything in doubt in this profile' } },
  examples: [
    { command: 'errand order journal resume --all', note: 'settle whatever is in doubt' },
    {
      command: 'errand order journal list -o id | xargs -r errand order journal resume',
      note: 'the same, by key',
    },
  ],
  operations: ['order.create', 'order.get'],
  exitCodes: { 10: 'still in doubt: the service does not answer' },
  related: ['order journal list', 'order journal forget'],
  async run(context, { keys = [], all = false }) {
    if (all === keys.length > 0) throw new UsageError('name the keys to resume, or give --all');
    const journal = await context.journal();
    const { value: profile } = context.settings.profile;
    const inDoubt = () => journal.list().filter((record) => record.profile === profile);
    const wanted = all ? inDoubt().map(({ key }) => key) : keys;
    return {
      kind: 'list',
      columns: orderColumns,
      empty: 'nothing is in doubt',
      ...eachId(context, wanted, async (key) => (await resumeIntent(context, journal.get(key))).order),
    };
  },
});
