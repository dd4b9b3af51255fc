import { defineCommand } from '../../cli/define.ts';

export const deleteProfile = defineCommand({
  name: 'delete',
  aliases: ['rm', 'remove'],
  summary: 'Delete a profile and its key',
  arguments: [{ name: 'name', completes: 'profiles', description: 'name of the profile', required: true }],
  examples: [{ command: 'errand profile delete served', note: 'where it was in use, local takes its place' }],
  output: { nothing: true },
  related: ['profile list', 'auth logout'],
  async run(context, { name }) {
    const store = await context.store();
    await store.deleteProfile(name);
    return { kind: 'none', hints: [`deleted ${name}; using ${store.stored.current_profile}`] };
  },
});
