import { defineCommand } from '../../cli/define.ts';
import { controlled } from './controlled.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore a snapshot of the sandbox, including its clock',
  description:
    'What happened since is gone from the sandbox. Keys of that state work again; later ones do not. Faults and speed stay as they are set now. Works on the embedded sandbox, and on one that this machine serves.',
  arguments: [{ name: 'name', description: 'name of the snapshot', required: true }],
  examples: [{ command: 'errand sandbox restore before', note: 'as it was when the snapshot was taken' }],
  output: { nothing: true },
  related: ['sandbox snapshot', 'sandbox reset'],
  async run(context, { name }) {
    await (await controlled(context, 'restore')).act('restore', { name });
    return { kind: 'none', hints: [`the sandbox is as it was at ${name}`] };
  },
});
