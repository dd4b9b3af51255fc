import type { Context } from '../context.ts';
import type { JournalRecord } from '../state/journal-record.ts';
import { flagsTo, whereFlags } from '../where-flags.ts';

interface Owed {
  readonly inDoubt: readonly JournalRecord[];
  readonly unreported: readonly JournalRecord[];
}

/** What earlier commands have left open and how to settle it, in a line; undefined where nothing. */
export async function owedLine(context: Context, owed: Owed): Promise<string | undefined> {
  const open = counted(owed.inDoubt.length, 'is in doubt', 'are in doubt');
  const placed = counted(
    owed.unreported.length,
    'was placed and never reported',
    'were placed and never reported',
  );
  const what = [open, placed].filter((part) => part !== '').join(', ');
  if (what === '') return undefined;
  const commands = await settlingCommands(context, owed);
  return `${what}; ${commands.join(' and ')} ${commands.length === 1 ? 'settles' : 'settle'} that`;
}

/** One command for each service and profile that something was sent to. */
export async function settlingCommands(
  context: Context,
  { inDoubt, unreported }: Owed,
): Promise<readonly string[]> {
  const flags = await Promise.all([...inDoubt, ...unreported].map((record) => flagsOf(context, record)));
  return [...new Set(flags)].map((found) => `errand order journal resume --all${found}`);
}

/** The flags with which a command reaches the service and the profile of a record. */
async function flagsOf(context: Context, { profile, base_url: baseUrl }: JournalRecord): Promise<string> {
  const { settings } = context;
  if (profile === settings.profile.value && baseUrl === settings.baseUrl.value) return whereFlags(context);
  return flagsTo(context, profile, baseUrl);
}

function counted(count: number, one: string, more: string): string {
  if (count === 0) return '';
  return count === 1 ? `one order ${one}` : `${count} orders ${more}`;
}
