import { defineCommand } from '../../cli/define.ts';
import { preferences } from '../../config/preferences.ts';
import type { Column } from '../../format/result.ts';

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

const preferenceColumns: readonly Column[] = [
  { name: 'preference', path: 'name', weight: 10 },
  { name: 'value', path: 'value', weight: 9 },
  { name: 'what it does', path: 'description', weight: 8, isProse: true },
];

/** Shows `not set` on a TTY, which would otherwise hide a column that is empty in every row. */
const preferenceScreen: readonly Column[] = preferenceColumns.map((column) =>
  column.path === 'value' ? { ...column, value: ({ value }) => value ?? 'not set' } : column,
);
