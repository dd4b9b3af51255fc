import { defineCommand } from '../../cli/define.ts';
import { preferences, specOf } from '../../config/preferences.ts';
import { currentName } from '../../config/stored.ts';

export const get = defineCommand({
  name: 'get',
  aliases: ['show'],
  summary: 'Print one preference',
  arguments: [
    {
      name: 'name',
      offers: preferences,
      description: `one of ${Object.keys(preferences).join(', ')}`,
      required: true,
    },
  ],
  examples: [{ command: 'errand config get output', note: 'empty where it is not set' }],
  output: { record: 'PreferenceValue' },
  readsOnly: true,
  related: ['config list'],
  async run(context, { name }) {
    specOf(name);
    const current = currentName(name);
    const value = (await context.store()).stored.preferences[current];
    return {
      kind: 'text',
      lines: value === undefined ? [] : [String(value)],
      record: { name: current, value: value ?? null },
    };
  },
});
