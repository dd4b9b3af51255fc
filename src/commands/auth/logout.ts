import { defineCommand } from '../../cli/define.ts';

export const logout = defineCommand({
  name: 'logout',
  summary: "Forget the profile's keys",
  examples: [{ command: 'errand auth logout --profile served', note: 'the key stays valid at the service' }],
  output: { nothing: true },
  related: ['auth token', 'profile delete'],
  async run(context) {
    const { profile, apiKey } = context.settings;
    const store = await context.store();
    const had = store.profile(profile.value);
    if (!had?.api_key && !had?.legacy_token)
      return { kind: 'none', hints: [`profile ${profile.value} has no key`] };
    await store.setProfile(profile.value, (before) => {
      const {
        api_key: _,
        legacy_token: __,
        ...rest
      } = before ?? { base_url: context.settings.baseUrl.value };
      return rest;
    });
    const left = apiKey?.from === 'environment' ? [`${apiKey.name} is still set in the environment`] : [];
    return { kind: 'none', hints: [`forgot the keys of profile ${profile.value}`, ...left] };
  },
});
