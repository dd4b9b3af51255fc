import { defineCommand } from '../../cli/define.ts';
import { keyMode, maskKey } from '../../config/keys.ts';
import { UsageError } from '../../platform/errors.ts';

export const use = defineCommand({
  name: 'use',
  summary: 'Use another key that the profile has',
  description: 'The one that was in use stays beside it.',
  arguments: [
    {
      name: 'key',
      description: 'its id or the beginning of it, or its last four characters, as auth list shows them',
      completes: 'keys',
      required: true,
    },
  ],
  examples: [{ command: 'errand auth use $(errand auth list -o id | tail -1)', note: 'the key before' }],
  output: { nothing: true },
  related: ['auth list', 'sandbox mint'],
  async run(context, { key: given = '' }) {
    const { profile, apiKey } = context.settings;
    const [{ keyMatching: keyMeant }, { withKey }] = await Promise.all([
      import('../../config/keys.ts'),
      import('../../config/keys.ts'),
    ]);
    let used = '';
    let wasInUse = false;
    await (await context.store()).setProfile(profile.value, (found) => {
      if (!found) throw new UsageError(`there is no profile "${profile.value}"`);
      const { key, isInUse } = keyMeant(profile.value, found, given);
      used = key;
      wasInUse = isInUse;
      return withKey(found, key, new Date(context.clock.now()).toISOString());
    });
    const mode = keyMode(used);
    const shown = `${maskKey(used)}${mode ? ` (${mode})` : ''}`;
    const what = wasInUse ? 'already uses' : 'uses';
    return {
      kind: 'none',
      hints: [
        `profile ${profile.value} ${what} ${shown}`,
        ...(mode === 'live' ? ['orders with this key spend real money'] : []),
        ...(apiKey?.from === 'environment' ? [`${apiKey.name} is set and goes before it`] : []),
      ],
    };
  },
});
