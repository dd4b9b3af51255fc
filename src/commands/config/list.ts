import { defineCommand } from '../../cli/define.ts';
import { preferenceInUse, preferences } from '../../config/preferences.ts';
import type { Column } from '../../format/result.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the preferences: what holds, the default, and where it comes from',
  examples: [{ command: 'errand config list', note: 'every preference and its value' }],
  output: { list: 'Preference' },
  readsOnly: true,
  related: ['config set', 'config edit', 'help environment'],
  async run(context) {
    const { preferences: stored } = (await context.store()).stored;
    const rows = Object.entries(preferences).map(([name, { description, default: otherwise }]) => {
      const { value: inUse, from } = preferenceInUse(name, stored[name], context.environment);
      return { name, value: stored[name] ?? null, in_use: inUse, default: otherwise, from, description };
    });
    return { kind: 'list', rows, columns: preferenceColumns, screen: preferenceScreen, id: 'name' };
  },
});

const preferenceColumns: readonly Column[] = [
  { name: 'preference', path: 'name', weight: 10 },
  { name: 'value', path: 'value', weight: 9 },
  { name: 'what it does', path: 'description', weight: 8, isProse: true },
];

const preferenceScreen: readonly Column[] = [
  { name: 'preference', path: 'name', weight: 10 },
  { name: 'value', path: 'in_use', weight: 9 },
  { name: 'default', path: 'default', weight: 7 },
  { name: 'from', path: 'from', weight: 8 },
  { name: 'what it does', path: 'description', weight: 6, isProse: true, wraps: true },
];
