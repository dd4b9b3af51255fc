import { own } from '../api/json.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import type { Context } from '../run/context.ts';
import { flagsTo, unnamedService, whereFlags } from '../run/context-flags.ts';
import { labelsOf, type ResourceLabels } from './submit/intent.ts';

interface Unfinished {
  readonly inDoubt: readonly JournalRecord[];
  readonly unreported: readonly JournalRecord[];
}

/**
 * One line that says what earlier commands left unfinished and how to settle it; undefined if they left nothing
 * unfinished.
 */
export async function unfinishedLine(context: Context, unfinished: Unfinished): Promise<string | undefined> {
  const open = counted(unfinished.inDoubt, ['is', 'are'], () => 'in doubt');
  const made = counted(unfinished.unreported, ['was', 'were'], (how) => `${how} and never reported`);
  const what = [open, made].filter((part) => part !== '').join(', ');
  if (what === '') return undefined;
  return `${what}; ${await settlingText(context, unfinished)}`;
}

/** A clause that says how to settle what earlier commands left unfinished. */
async function settlingText(context: Context, unfinished: Unfinished): Promise<string> {
  const { commands, isElsewhere } = await settlingCommands(context, unfinished);
  const settle = `${commands.join(' and ')} ${commands.length === 1 ? 'settles' : 'settle'} that`;
  if (!isElsewhere) return settle;
  const elsewhere = `a record names ${unnamedService}: errand order journal list`;
  return commands.length === 0 ? elsewhere : `${settle}; ${elsewhere}`;
}

/**
 * Commands that settle open records, one per service and profile. Also tells whether any record names an unknown
 * service.
 */
export async function settlingCommands(
  context: Context,
  { inDoubt, unreported }: Unfinished,
): Promise<{ readonly commands: readonly string[]; readonly isElsewhere: boolean }> {
  const records = [...inDoubt, ...unreported];
  const commands = await Promise.all(
    records.map(async (record) => {
      const flags = await flagsOf(context, record);
      return flags === undefined ? undefined : `${settlingCommand(record)}${flags}`;
    }),
  );
  const known = commands.filter((found) => found !== undefined);
  return { commands: [...new Set(known)], isElsewhere: known.length < records.length };
}

/**
 * Command that settles a record. For a standing order, this is `standing run`, which checks whether a date is still to
 * be bought; `resume` would buy it without checking.
 */
const settlingCommand = ({ body }: JournalRecord): string =>
  own(body.metadata, 'errand_standing') === undefined
    ? 'errand order journal resume --all'
    : 'errand standing run';

/** Flags that make a command use a record's service and profile. */
async function flagsOf(
  context: Context,
  { profile, base_url: baseUrl }: JournalRecord,
): Promise<string | undefined> {
  const { settings } = context;
  if (profile === settings.profile.value && baseUrl === settings.baseUrl.value) return whereFlags(context);
  return flagsTo(context, profile, baseUrl);
}

/**
 * Formats `one order is in doubt`, or `2 orders and 1 return are in doubt`.
 * @param state returns the end of the sentence. Its argument is the verb for what was made, such as `placed`.
 */
function counted(
  records: readonly JournalRecord[],
  [is, are]: readonly [one: string, several: string],
  state: (made: string) => string,
): string {
  const counts = new Map<ResourceLabels, number>();
  for (const { operation } of records) {
    const label = labelsOf(operation);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  const [label, other] = counts.keys();
  if (!label) return '';
  const what = state(other ? 'made' : label.made);
  if (records.length === 1) return `one ${label.one} ${is} ${what}`;
  const named = [...counts].map(([{ one, many }, count]) => `${count} ${count === 1 ? one : many}`);
  return `${named.join(' and ')} ${are} ${what}`;
}
