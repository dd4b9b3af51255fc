import { defineCommand } from '../../cli/define.ts';

export const logout = defineCommand({
  name: 'logout',
  summary: "Forget the profile's key",
  description:
    'The key in use, or the command that prints it, and the client token of the legacy surface; --all forgets the keys beside it too. They stay valid at the service.',
  options: { all: { kind: 'flag', description: 'every key that the profile has' } },
  examples: [
    { command: 'errand auth logout --profile served', note: 'the key stays valid at the service' },
    { command: 'errand auth logout --all', note: 'and those beside it' },
  ],
  output: { nothing: true },
  related: ['auth list', 'auth token', 'profile delete'],
  async run(context, { all = false }) {
    const { profile, apiKey } = context.settings;
    const store = await context.store();
    const had = store.profile(profile.value);
    const otherKeyCount = had?.other_keys?.length ?? 0;
    const left = apiKey?.from === 'environment' ? [`${apiKey.name} is still set in the environment`] : [];
    const otherKeyHints =
      all || otherKeyCount === 0
        ? []
        : [
            `${otherKeyCount === 1 ? 'another key is' : `${otherKeyCount} other keys are`} kept: \`errand auth list\` shows ${otherKeyCount === 1 ? 'it' : 'them'}, \`errand auth logout --all\` forgets ${otherKeyCount === 1 ? 'it' : 'them'}`,
          ];
    if (!had?.api_key && !had?.key_command && !had?.legacy_token && (!all || otherKeyCount === 0))
      return {
        kind: 'none',
        hints: [`profile ${profile.value} has no key${otherKeyCount > 0 ? ' in use' : ''}`, ...otherKeyHints],
      };
    const { withoutStoredKeys } = await import('../../config/keys.ts');
    await store.setProfile(profile.value, (before = { base_url: context.settings.baseUrl.value }) => {
      const { legacy_token: _, key_command: __, ...rest } = withoutStoredKeys(before, all);
      return rest;
    });
    const keys = otherKeyHints.length > 0 ? 'the key in use' : 'the keys';
    const what = had?.key_command ? 'the key command' : keys;
    return { kind: 'none', hints: [`forgot ${what} of profile ${profile.value}`, ...otherKeyHints, ...left] };
  },
});
