import { defineCommand } from '../../cli/define.ts';
import { fileOption } from '../../standing/file.ts';
import { entryResult, ordersIfHeard } from './result.ts';

export const resume = defineCommand({
  name: 'resume',
  summary: 'Go on with a standing order that was paused',
  description:
    'It is bought from the next date on. No date that was due before, by the clock of the service, is bought.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: fileOption,
  examples: [{ command: 'errand standing resume coffee', note: 'it is bought again from its next date on' }],
  output: { record: 'StandingOrder' },
  needsKey: true,
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing pause'],
  async run(context, { name, standing }) {
    const [{ changeEntryFile, entriesOf, entryNamed, readEntryFile }, { setSince }, { serviceTime }] =
      await Promise.all([
        import('../../standing/file.ts'),
        import('../../standing/change.ts'),
        import('../../standing/service-time.ts'),
      ]);
    const file = readEntryFile(context, standing);
    const { isPaused } = entryNamed(await entriesOf(file), name, file.path);
    if (!isPaused) context.note(`${name} is not paused; nothing was changed`);
    const now = isPaused ? await serviceTime(context) : 0;
    const changed = await changeEntryFile(context, standing, (document, entries, path) => {
      const entry = entryNamed(entries, name, path);
      if (!entry.isPaused || !isPaused) return;
      document.deleteIn(['orders', name, 'paused']);
      setSince(document, entry, now);
    });
    const orders = await ordersIfHeard(context, changed, name);
    return entryResult(context, changed, name, standing, orders);
  },
});
