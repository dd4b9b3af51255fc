import type { Context } from '../../../context.ts';
import { UsageError } from '../../../errors.ts';
import { resumeIntent } from '../../../ordering/resume.ts';
import { shellLine } from '../../../shell-word.ts';
import type { JournalRecord } from '../../../state/journal-record.ts';
import { wasSentWithAnother } from '../../../state/take-over.ts';
import { defineCommand } from '../../define.ts';
import { eachId, readIds } from '../../ids.ts';
import { orderColumns } from '../../order-columns.ts';
import { asItIs, keysMeaning } from './keys.ts';

/** What is in doubt at the service and account in use; what is elsewhere is told of. */
function inDoubtHere(
  context: Context,
  records: readonly JournalRecord[],
  keyChanged: boolean,
): readonly JournalRecord[] {
  const { value: baseUrl } = context.settings.baseUrl;
  const elsewhere = records.filter((record) => record.base_url !== baseUrl).map(({ base_url: url }) => url);
  for (const url of new Set(elsewhere)) {
    context.note(
      `more is in doubt at ${url}: ${shellLine`errand order journal resume --all --base-url ${url}`}`,
    );
  }
  const here = records.filter((record) => record.base_url === baseUrl);
  const foreign = keyChanged ? [] : here.filter((it) => wasSentWithAnother(it, context.keyMasked()));
  for (const sentWith of new Set(foreign.map(({ sent_with }) => sent_with))) {
    context.note(`more is in doubt that was sent with another key, ${sentWith}: resume it with that one`);
  }
  return here.filter((record) => !foreign.includes(record));
}

export const resume = defineCommand({
  name: 'resume',
  summary: 'Settle orders in doubt: the same key is sent again, and exactly one order comes of it',
  arguments: [{ name: 'keys', description: keysMeaning, variadic: true }],
  options: {
    all: { kind: 'flag', description: 'everything in doubt at the service in use' },
    keyChanged: {
      kind: 'flag',
      description: 'what was sent with another key too: the account got a new one since',
    },
  },
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
  async run(context, { keys = [], all = false, keyChanged = false }) {
    if (all === keys.length > 0) throw new UsageError('name the keys to resume, or give --all');
    const named = await readIds(context, 'key', keys, asItIs);
    const journal = await context.journal();
    const { value: baseUrl } = context.settings.baseUrl;
    const found = new Map(
      all ? inDoubtHere(context, journal.list(), keyChanged).map((record) => [record.key, record]) : [],
    );
    return {
      kind: 'list',
      columns: orderColumns,
      empty: 'nothing is in doubt',
      ...eachId(context, all ? [...found.keys()] : named, async (key) => {
        const record = found.get(key) ?? journal.get(key, baseUrl);
        return (await resumeIntent(context, record, { keyChanged })).order;
      }),
    };
  },
});
