import { defineCommand } from '../../cli/define.ts';
import { fileOption } from '../../standing/file.ts';
import { entryResult } from './result.ts';

export const pause = defineCommand({
  name: 'pause',
  summary: 'Buy nothing until it is resumed',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: fileOption,
  examples: [{ command: 'errand standing pause coffee', note: 'dates that pass meanwhile are not bought' }],
  output: { record: 'StandingOrder' },
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing resume', 'standing skip'],
  async run(context, { name, standing }) {
    const { changeEntryFile, entryNamed } = await import('../../standing/file.ts');
    const changed = await changeEntryFile(context, standing, (document, entries, path) => {
      if (entryNamed(entries, name, path).isPaused) context.note(`${name} is paused already`);
      document.setIn(['orders', name, 'paused'], true);
    });
    return entryResult(context, changed, name, standing);
  },
});
