import { defineCommand } from '../../cli/define.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { fileOption } from '../../standing/file.ts';
import { columnsOf, fileFlag } from './result.ts';

export const remove = defineCommand({
  name: 'remove',
  aliases: ['rm', 'delete'],
  summary: 'Remove a standing order from the file',
  description:
    'Orders that were placed go on. One that is added again is another: it has another id, and buys no date before it was added. Prints what was removed.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: fileOption,
  examples: [{ command: 'errand standing remove coffee', note: 'nothing of it is bought any more' }],
  output: { record: 'StandingOrder' },
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing pause', 'standing list'],
  async run(context, { name, standing }) {
    const [
      { changeEntryFile, entriesOf, entryNamed, readEntryFile },
      { noteDoubt, shownEntry },
      { RunMemory },
    ] = await Promise.all([
      import('../../standing/file.ts'),
      import('../../standing/shown.ts'),
      import('../../standing/memory.ts'),
    ]);
    const file = readEntryFile(context, standing);
    let removed = entryNamed(await entriesOf(file), name, file.path);
    const changed = await changeEntryFile(context, standing, (document, entries, path) => {
      removed = entryNamed(entries, name, path);
      document.deleteIn(['orders', name]);
    });
    const memory = new RunMemory(context);
    const ids = changed.entries.map(({ id }) => id);
    memory.leaveOthers(changed.path, ids, context.serviceClock.now());
    memory.save();
    await noteDoubt(context, removed, `${fileFlag(standing)}${whereFlags(context)}`);
    const shown = shownEntry(removed, file.path, context.serviceClock.now());
    return {
      kind: 'record',
      record: {
        ...shown,
        state: 'removed',
        next_dates: [],
        next: [{ command: `errand standing list${fileFlag(standing)}`, when: 'to see the others' }],
      },
      columns: columnsOf(shown),
      id: 'id',
      hints: [`removed the standing order ${name}: nothing of it is bought any more`],
    };
  },
});
