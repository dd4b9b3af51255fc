import type { Output } from '../../api/outputs/index.ts';
import type { Column, RecordResult } from '../../format/result.ts';
import type { NextStep } from '../../platform/errors.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { type ChangedFile, entryNamed } from '../../standing/file.ts';
import type { DateOrder } from '../../standing/orders.ts';
import { noteDoubt, ordersIfRead, scheduleText, shownEntry } from '../../standing/shown.ts';

/** The flag that names the file, for a suggested command. */
export const fileFlag = (standing: string | undefined): string =>
  standing === undefined ? '' : ` --standing ${shellWord(standing)}`;

/** Returns the orders of a changed entry; undefined if this run has not heard from the service. */
export async function ordersIfHeard(
  context: Context,
  { entries, path }: ChangedFile,
  name: string,
): Promise<readonly DateOrder[] | undefined> {
  if (!context.serviceClock.isHeard) return undefined;
  return ordersIfRead(context, entryNamed(entries, name, path));
}

/** Columns for a changed entry. */
export const columnsOf = (
  shown: Parameters<typeof scheduleText>[0],
): readonly Column<Output<'StandingOrder'>>[] => [
  { name: 'name', path: 'name' },
  { name: 'state', path: 'state', kind: 'status' },
  { name: 'schedule', path: 'every', value: () => scheduleText(shown) },
  { name: 'late', path: 'late' },
  { name: 'skip', path: 'skip' },
  { name: 'ceiling', path: 'max_price', kind: 'money' },
  { name: 'live', path: 'live', kind: 'flag' },
  { name: 'file', path: 'file' },
];

/**
 * Result for a changed entry, with the entry's next dates.
 * @param orders are the entry's orders, if known.
 */
export async function entryResult(
  context: Context,
  changed: ChangedFile,
  name: string,
  standing?: string,
  orders?: readonly DateOrder[],
): Promise<RecordResult<Output<'StandingOrder'>>> {
  const [{ countAndRemember }, { RunMemory }] = await Promise.all([
    import('../../standing/counting.ts'),
    import('../../standing/memory.ts'),
  ]);
  const { path, entries } = changed;
  const { entry } = countAndRemember(
    context,
    { file: changed, memory: new RunMemory(context), entry: entryNamed(entries, name, path) },
    'command',
  );
  const shown = shownEntry(entry, path, context.serviceClock.now(), orders);
  const flags = `${fileFlag(standing)}${whereFlags(context)}`;
  await noteDoubt(context, entry, flags);
  const next: readonly NextStep[] = [
    { command: shellLine`errand standing show ${name}` + flags, when: 'to see what it does next' },
    shown.state === 'paused'
      ? { command: shellLine`errand standing resume ${name}` + flags, when: 'to go on with it' }
      : { command: `errand standing run${flags}`, when: 'to buy what is due; have cron or a CI job run it' },
  ];
  const [first] = shown.next_dates;
  const coming =
    shown.state === 'paused'
      ? 'paused: nothing is bought'
      : first
        ? `${!first.due ? 'next' : orders ? 'due now' : 'due now, unless it was bought'}: ${first.date}`
        : 'no date is to come: nothing is bought any more';
  return {
    kind: 'record',
    record: { ...shown, next: [...next] },
    columns: columnsOf(shown),
    id: 'id',
    hints: [coming, ...next.map(({ command, when }) => `${command} — ${when}`)],
  };
}
