import { defineCommand } from '../../cli/define.ts';
import { preferences } from '../../config/preferences.ts';
import { preferenceColumns, preferenceScreen } from './columns.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the preferences',
  examples: [{ command: 'errand config list', note: 'every preference and its value' }],
  output: { list: 'Preference' },
  readsOnly: true,
  related: ['config set', 'help environment'],
  async run(context) {
    const { preferences: stored } = (await context.store()).stored;
    const rows = Object.entries(preferences).map(([name, { description }]) => ({
      name,
      value: stored[name] ?? null,
      description,
    }));
    return { kind: 'list', rows, columns: preferenceColumns, screen: preferenceScreen, id: 'name' };
  },
});
