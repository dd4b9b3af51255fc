import { defineCommand } from '../../../cli/define.ts';
import { embeddedUrl } from '../../../config/stored.ts';
import { isUnnoted, type JournalRecord } from '../../../journal/journal-record.ts';
import { lostRecordText } from '../../../journal/lost-intents.ts';
import { isAtWork, isOthers, wasSentWithOtherKey, workerOf } from '../../../journal/take-over.ts';
import { orderList } from '../../../orders/screen.ts';
import { senderOf } from '../../../orders/submit/intent.ts';
import { resumeIntent } from '../../../orders/submit/resume.ts';
import { UsageError } from '../../../platform/errors.ts';
import { shellLine } from '../../../platform/shell.ts';
import type { Context } from '../../../run/context.ts';
import { flagsTo, unnamedService, whereFlags } from '../../../run/context-flags.ts';
import { eachId, readIds } from '../../../run/ids.ts';
import { asItIs, keysMeaning, ownOpenLine } from './columns.ts';

/**
 * Selects the records to settle, which are those of the current service and account. Prints a note about all other
 * records.
 */
async function unfinishedHere(
  context: Context,
  records: readonly JournalRecord[],
): Promise<readonly JournalRecord[]> {
  const { value: baseUrl } = context.settings.baseUrl;
  const elsewhere = records.filter((record) => record.base_url !== baseUrl);
  for (const note of new Set(await Promise.all(elsewhere.map((record) => noteElsewhere(context, record)))))
    context.note(note);
  const here = records.filter((record) => record.base_url === baseUrl);
  const foreign: JournalRecord[] = [];
  for (const record of here.filter((it) => it.state === 'intended' && !isUnnoted(it)))
    if (wasSentWithOtherKey(record, await senderOf(context, record.operation))) foreign.push(record);
  for (const { account, sent_with: sentWith } of new Map(foreign.map((it) => [it.sent_with, it])).values()) {
    const savedKey = await lineToUse(context, account);
    context.note(
      `more is in doubt that was sent with another key, ${sentWith}: resume it with that one${savedKey}`,
    );
  }
  return here.filter((record) => !foreign.includes(record));
}

/** Describes records of another service, and how to settle them there. */
async function noteElsewhere(context: Context, { profile, base_url: url }: JournalRecord): Promise<string> {
  const where = await flagsTo(context, profile, url);
  if (where === undefined) return `more is in doubt: a record names ${unnamedService}`;
  const place = url === embeddedUrl ? 'in the sandbox that errand brings along' : `at ${url}`;
  return `more is in doubt ${place}: ${shellLine`errand order journal resume --all --base-url ${url}`}`;
}

/** Leaves a record to another process that is settling the record at this moment. Such a record is not in doubt. */
function leave(context: Context, record: JournalRecord): void {
  const { who, leaseS } = workerOf(record);
  const then =
    leaseS === undefined ? '' : `; should that be gone, its lease ends in ${leaseS} s: resume it then`;
  context.note(`${record.key} is left to ${who}, which is at work on it${then}`);
}

/** Suggests the command that switches back to an account's key; empty if the profile does not have that key. */
async function lineToUse(context: Context, account: string): Promise<string> {
  const { value: profile } = context.settings.profile;
  const { accountOf, keysOf } = await import('../../../config/keys.ts');
  const stored = (await context.store()).profile(profile);
  const savedKey = stored && keysOf(stored).find(({ key }) => accountOf(key, stored) === account);
  return savedKey ? `: errand auth use ${savedKey.id}${whereFlags(context)}` : '';
}

export const resume = defineCommand({
  name: 'resume',
  summary: 'Settle orders in doubt: resend the same key, so exactly one order is placed',
  description:
    'Also shows what an interrupted command placed without reporting it. With --all, what another process is at work on is left to it and noted, so that it may run on several machines at once. A key older than a day is not resent automatically, since the service may have forgotten it: errand names orders that look like it; where none does, --resend sends the key after one more look. A record that the audit chain does not have as it stands, that is not signed under the API key in use, or whose money is not reserved though a policy held, is never sent: errand names what looks like it.',
  arguments: [{ name: 'keys', names: 'intents', description: keysMeaning, variadic: true }],
  options: {
    all: { kind: 'flag', description: 'everything in doubt or not reported at the service in use' },
    resend: {
      kind: 'flag',
      description: 'send a key again that is older than a day, if no order looks like it; name it',
    },
  },
  examples: [
    { command: 'errand order journal resume --all', note: 'settle whatever is in doubt' },
    {
      command: 'errand order journal list -o id | xargs -r errand order journal resume',
      note: 'the same, by key',
    },
  ],
  output: { list: ['order.get', 'bulk.create', 'return.get', 'RetriedOrder'] },
  operations: ['order.create', 'order.get', 'order.list'],
  exitCodes: {
    5: 'older than a service keeps a key: look, then --resend or forget; or not in the audit chain as it stands, or not signed under the key in use: look, then forget; or, by its key, another process is at work on it',
    10: 'still in doubt: the service does not respond',
  },
  related: ['order journal list', 'order journal forget'],
  async run(context, { keys = [], all = false, resend = false }) {
    if (all === keys.length > 0) throw new UsageError('name the keys to resume, or give --all');
    if (all && resend) throw new UsageError('--resend needs the keys by name: each was looked at before');
    const named = await readIds(context, 'key', keys, asItIs);
    const journal = await context.journal();
    const own = await ownOpenLine(context);
    if (own !== undefined) context.note(own);
    const { value: baseUrl } = context.settings.baseUrl;
    const found = all ? await unfinishedHere(context, journal.list()) : [];
    const others = found.filter(isOthers);
    for (const record of others) leave(context, record);
    const lost = all ? journal.lost() : [];
    for (const record of lost)
      context.note(`${lostRecordText(record)}: \`errand order list\` shows whether it was ordered`);
    const unfinished = new Map(
      found.filter((it) => !others.includes(it)).map((record) => [record.key, record]),
    );
    return {
      kind: 'list',
      ...orderList,
      empty:
        others.length + lost.length > 0
          ? 'nothing else is in doubt'
          : 'nothing is in doubt, and all is reported',
      ...eachId(context, all ? [...unfinished.keys()] : named, async (key) => {
        const record = unfinished.get(key) ?? journal.get(key, baseUrl);
        try {
          return (await resumeIntent(context, record, { resend })).order;
        } catch (error) {
          if (!all || !isAtWork(error)) throw error;
          leave(context, journal.get(key, baseUrl));
          return undefined;
        }
      }),
    };
  },
});
