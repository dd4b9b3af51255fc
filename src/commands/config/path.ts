import { defineCommand } from '../../cli/define.ts';

export const path = defineCommand({
  name: 'path',
  summary: 'Where configuration and state are kept',
  examples: [{ command: 'errand config path -o json', note: 'folders and files' }],
  output: { record: 'Folders' },
  readsOnly: true,
  related: ['help environment'],
  async run(context) {
    const { folders } = context.settings;
    const record = { config: (await context.store()).file, state: folders.state };
    return {
      kind: 'record',
      record,
      columns: [
        { name: 'config', path: 'config' },
        { name: 'state', path: 'state' },
      ],
      id: 'config',
    };
  },
});
