import { defineCommand } from '../../cli/define.ts';
import { fileOption } from '../../standing/file.ts';
import { entryResult } from './result.ts';

export const resume = defineCommand({
  name: 'resume',
  summary: 'Go on with a standing order that was paused',
  description: 'Dates that passed while it was paused are not bought.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: fileOption,
  examples: [{ command: 'errand standing resume coffee', note: 'it is bought again from today on' }],
  output: { record: 'StandingOrder' },
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing pause'],
  async run(context, { name, standing }) {
    const { changeEntryFile, entryNamed } = await import('../../standing/file.ts');
    const changed = await changeEntryFile(context, standing, (document, entries, path) => {
      if (!entryNamed(entries, name, path).isPaused) return;
      document.deleteIn(['orders', name, 'paused']);
      document.setIn(['orders', name, 'since'], new Date(context.clock.now()).toISOString());
    });
    return entryResult(context, changed, name, standing);
  },
});
