import { defineCommand } from '../../cli/define.ts';

export const use = defineCommand({
  name: 'use',
  summary: 'Use a profile from now on',
  arguments: [{ name: 'name', completes: 'profiles', description: 'name of the profile', required: true }],
  examples: [{ command: 'errand profile use local', note: 'back to the embedded sandbox' }],
  output: { nothing: true },
  related: ['profile list', 'profile set'],
  async run(context, { name }) {
    const store = await context.store();
    await store.useProfile(name);
    return { kind: 'none', hints: [`using profile ${name}: ${store.profile(name)?.base_url}`] };
  },
});
