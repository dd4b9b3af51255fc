import { defineCommand } from '../../cli/define.ts';
import { profileColumns, shownProfile } from './columns.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the profiles',
  examples: [{ command: 'errand profile list', note: 'services, keys masked, and which one is used' }],
  output: { list: 'Profile' },
  readsOnly: true,
  related: ['profile use', 'auth status'],
  async run(context) {
    const { profiles } = (await context.store()).stored;
    const rows = Object.entries(profiles).map(([name, profile]) =>
      shownProfile(name, profile, context.settings.profile.value),
    );
    return { kind: 'list', rows, columns: profileColumns, id: 'name' };
  },
});
