import { defineCommand } from '../../../cli/define.ts';
import type { Repaired } from '../../../journal/repair.ts';
import { DamagedError } from '../../../platform/errors.ts';
import type { Context } from '../../../run/context.ts';
import { journalColumns, shown } from './columns.ts';

export const repair = defineCommand({
  name: 'repair',
  summary: 'Rebuild a damaged or missing journal from what is intact',
  description:
    'The old file is kept beside the new one. Damaged records are shown and kept but never sent; drop them one by one with `order journal forget`. The same goes for orders in doubt that only the audit chain still records. errand cannot recover what is unreadable: check your orders.',
  examples: [{ command: 'errand order journal repair', note: 'a journal that is whole is left as it is' }],
  output: [{ list: 'JournalRecord' }, { nothing: true, when: 'where the journal is whole' }],
  related: ['order journal list', 'order journal forget', 'order list'],
  async run(context) {
    if (await isWhole(context)) return { kind: 'none', hints: ['the journal is whole; nothing was changed'] };
    const { database } = context.settings;
    if (database) return { kind: 'none', hints: [await refreshCopy(context, database.shown)] };
    const { repairJournal } = await import('../../../journal/repair.ts');
    const { clock, settings, signal } = context;
    const stamp = `damaged-${new Date(clock.now()).toISOString().replaceAll(':', '-')}`;
    const repaired = await repairJournal(settings.folders.state, {
      stamp,
      now: clock.now,
      origin: await context.origin(),
      waiting: { signal },
    });
    return {
      kind: 'list',
      rows: repaired.damaged.map(shown),
      columns: journalColumns,
      id: 'key',
      empty: 'no damaged record was found',
      hints: () => hints(repaired),
    };
  },
});

async function isWhole(context: Context): Promise<boolean> {
  try {
    await (await context.journal()).checkWhole();
    return true;
  } catch (error) {
    if (error instanceof DamagedError) return false;
    throw error;
  }
}

/** Refreshes the local copy of a shared journal. @throws DamagedError if the database itself is damaged. */
async function refreshCopy(context: Context, shown: string): Promise<string> {
  const journal = await context.journal();
  await journal.refresh('anew');
  try {
    await journal.checkWhole();
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    throw new DamagedError(`the journal in the database ${shown} is damaged: ${error.message}`, {
      cause: error,
      hint: 'Nothing was changed, and nothing is sent. Restore a backup of the database.',
    });
  }
  return `this machine's copy of the journal was damaged; it is made anew from ${shown}`;
}

function hints({ aside, kept, damaged, lost, recorded, chain, reservations }: Repaired): readonly string[] {
  return [
    aside === undefined
      ? 'a new journal is begun'
      : `a new journal is begun; the old one is kept as ${aside}`,
    `${kept} intact and ${damaged.length} damaged records were found`,
    ...(lost === 0
      ? []
      : [
          `${lost} more, of which something was made, are lost; the audit chain names them: errand audit log --kind responded`,
        ]),
    ...(recorded === undefined ? [] : [`${recorded} intents were recorded in the last 30 days or before`]),
    ...(reservations.lost === 0
      ? []
      : [
          `${reservations.lost} reservations of the policy are lost; ${reservations.madeUp} orders of the audit chain count in their place, until \`errand policy usage --refresh\` reads them`,
        ]),
    chain.kept + chain.left === 0
      ? 'no record of the audit chain could be read; it begins again'
      : chain.left === 0
        ? `the audit chain keeps its ${chain.kept} records and goes on`
        : `the audit chain keeps its first ${chain.kept} records and goes on; ${chain.left} more are in the old file`,
    'What is missing may have been ordered: errand order list',
  ];
}
