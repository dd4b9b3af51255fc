import { defineCommand } from '../../cli/define.ts';

export const path = defineCommand({
  name: 'path',
  summary: 'Where configuration and state are kept, and which database is shared',
  examples: [
    { command: 'errand config path -o json', note: 'folders, files, and the database that is shared' },
  ],
  output: { record: 'Folders' },
  readsOnly: true,
  related: ['help environment'],
  async run(context) {
    const { folders, database } = context.settings;
    const record = {
      config: (await context.store()).file,
      state: folders.state,
      database: database ? { address: database.shown, from: database.from, name: database.name } : null,
    };
    return {
      kind: 'record',
      record,
      columns: [
        { name: 'config', path: 'config' },
        { name: 'state', path: 'state' },
        { name: 'database', path: 'database.address' },
        {
          name: 'named by',
          path: 'database.name',
          value: () => (database?.from === 'profile' ? `profile ${database.name}` : database?.name),
        },
      ],
      id: 'config',
    };
  },
});
