import { defineCommand } from '../../cli/define.ts';
import { parsePreference, preferenceInUse, preferences, specOf } from '../../config/preferences.ts';
import { currentName } from '../../config/stored.ts';

export const set = defineCommand({
  name: 'set',
  summary: 'Set a preference; without a value, unset it',
  arguments: [
    {
      name: 'name',
      offers: preferences,
      description: `one of ${Object.keys(preferences).join(', ')}`,
      required: true,
    },
    {
      name: 'value',
      offersBy: Object.fromEntries(
        Object.entries(preferences).flatMap(([name, { values }]) => (values ? [[name, values]] : [])),
      ),
      description: 'its value; left out, the preference is unset',
    },
  ],
  examples: [
    { command: 'errand config set output ndjson', note: 'for every command, where no flag says otherwise' },
    { command: 'errand config set output', note: 'back to the default' },
  ],
  output: { nothing: true },
  related: ['config list'],
  repairsConfig: true,
  async run(context, { name, value }) {
    specOf(name);
    const parsed = value === undefined ? undefined : parsePreference(name, value);
    const current = currentName(name);
    if (current !== name) context.note(`${name} is called ${current} now`);
    await (await context.store()).setPreference(current, parsed);
    return {
      kind: 'none',
      hints: [
        parsed === undefined
          ? `${current} is not set`
          : `${current} = ${preferenceInUse(current, parsed, {}).value}`,
      ],
    };
  },
});
