import type { Context } from '../../../context.ts';
import { UsageError } from '../../../errors.ts';
import { resumeIntent } from '../../../ordering/resume.ts';
import type { JournalRecord } from '../../../state/journal-record.ts';
import { defineCommand } from '../../define.ts';
import { eachId } from '../../ids.ts';
import { orderColumns } from '../../order-columns.ts';

/** Keys in doubt at the service in use; those of other services are told of. */
function inDoubtHere(context: Context, records: readonly JournalRecord[]): string[] {
  const { value: baseUrl } = context.settings.baseUrl;
  const elsewhere = records.filter((record) => record.base_url !== baseUrl).map(({ base_url: url }) => url);
  for (const url of new Set(elsewhere)) {
    context.note(`more is in doubt at ${url}: errand order journal resume --all --base-url ${url}`);
  }
  return records.filter((record) => record.base_url === baseUrl).map(({ key }) => key);
}

export const resume = defineCommand({
  name: 'resume',
  summary: 'Settle orders in doubt: the same key is sent again, and exactly one order comes of it',
  arguments: [{ name: 'keys', description: 'keys of the journal, or their beginnings', variadic: true }],
  options: { all: { kind: 'flag', description: 'everything in doubt at the service in use' } },
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
    const wanted = all ? inDoubtHere(context, journal.list()) : keys;
    return {
      kind: 'list',
      columns: orderColumns,
      empty: 'nothing is in doubt',
      ...eachId(context, wanted, async (key) => (await resumeIntent(context, journal.get(key))).order),
    };
  },
});
