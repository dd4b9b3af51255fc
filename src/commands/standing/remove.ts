import { defineCommand } from '../../cli/define.ts';
import { fileOption } from '../../standing/file.ts';

export const remove = defineCommand({
  name: 'remove',
  aliases: ['rm', 'delete'],
  summary: 'Remove a standing order from the file',
  description:
    'Orders that were placed go on. One that is added again is another: it has another id, and buys no date before it was added.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: fileOption,
  examples: [{ command: 'errand standing remove coffee', note: 'nothing of it is bought any more' }],
  output: { nothing: true },
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing pause', 'standing list'],
  async run(context, { name, standing }) {
    const { changeEntryFile, entryNamed } = await import('../../standing/file.ts');
    await changeEntryFile(context, standing, (document, entries, path) => {
      entryNamed(entries, name, path);
      document.deleteIn(['orders', name]);
    });
    return { kind: 'none', hints: [`removed the standing order ${name}: nothing of it is bought any more`] };
  },
});
