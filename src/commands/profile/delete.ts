import { defineCommand } from '../../cli/define.ts';
import { maskKey } from '../../config/keys.ts';
import { ErrandError } from '../../platform/errors.ts';

export const deleteProfile = defineCommand({
  name: 'delete',
  aliases: ['rm', 'remove'],
  summary: 'Delete a profile and its key',
  arguments: [{ name: 'name', completes: 'profiles', description: 'name of the profile', required: true }],
  options: { yes: { kind: 'flag', description: 'delete a profile that has a key without confirmation' } },
  examples: [{ command: 'errand profile delete served', note: 'where it was in use, local takes its place' }],
  output: { nothing: true },
  related: ['profile list', 'auth logout'],
  async run(context, { name, yes = false }) {
    const store = await context.store();
    const key = store.profile(name)?.api_key;
    if (key !== undefined && !yes && context.interactive.yes) {
      const question = `Delete the profile ${name} and its key ${maskKey(key)}?`;
      if (!(await context.confirm(question)))
        throw new ErrandError('interrupted', 'nothing was deleted', { outcome: 'not_sent' });
    }
    await store.deleteProfile(name);
    return { kind: 'none', hints: [`deleted ${name}; using ${store.stored.current_profile}`] };
  },
});
