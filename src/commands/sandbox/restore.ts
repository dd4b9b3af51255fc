import { defineCommand } from '../../cli/define.ts';
import { checkEmbedded } from './embedded-only.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore a snapshot of the embedded sandbox, including its clock',
  description:
    'What happened since is gone from the sandbox. Keys of that state work again; later ones do not.',
  arguments: [{ name: 'name', description: 'name of the snapshot', required: true }],
  examples: [{ command: 'errand sandbox restore before', note: 'as it was when the snapshot was taken' }],
  output: { nothing: true },
  related: ['sandbox snapshot', 'sandbox reset'],
  async run(context, { name }) {
    checkEmbedded(context, 'restore');
    const { restoreSandbox } = await context.sandbox();
    await restoreSandbox(context.settings.folders.state, name, context.signal);
    return { kind: 'none', hints: [`the sandbox is as it was at ${name}`] };
  },
});
