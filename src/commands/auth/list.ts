import { defineCommand } from '../../cli/define.ts';
import { keyMode, maskKey } from '../../config/keys.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'The keys that the profile has, masked, and which one is in use',
  description:
    'Orders and wallet belong to a key, so a key that is stored is kept when another takes its place.',
  examples: [
    { command: 'errand auth list', note: 'of the profile in use' },
    { command: 'errand auth list --profile served', note: 'of another' },
  ],
  output: { list: 'StoredKey' },
  readsOnly: true,
  related: ['auth use', 'auth status', 'auth logout'],
  async run(context) {
    const { profile, apiKey } = context.settings;
    const { keysOf } = await import('../../config/keys.ts');
    const stored = (await context.store()).profile(profile.value);
    const keys = stored ? keysOf(stored) : [];
    const command =
      stored?.key_command && (await import('../../config/key-command.ts')).shownCommand(stored.key_command);
    return {
      kind: 'list',
      rows: keys.map(({ id, key, storedAt, isInUse }) => ({
        id,
        key: maskKey(key),
        profile: profile.value,
        service: stored?.base_url ?? '',
        in_use: isInUse,
        mode: keyMode(key) ?? 'unknown',
        stored_at: storedAt ?? null,
        next: isInUse ? [] : [{ command: `errand auth use ${id}${whereFlags(context)}`, when: 'to use it' }],
      })),
      columns: [
        { name: 'id', path: 'id', weight: 9 },
        { name: 'key', path: 'key', weight: 10 },
        { name: 'in use', path: 'in_use', kind: 'flag', weight: 8 },
        { name: 'stored', path: 'stored_at', kind: 'time', isLocal: true, weight: 7 },
        { name: 'mode', path: 'mode', kind: 'status', weight: 6 },
        { name: 'service', path: 'service', weight: 5 },
      ],
      id: 'id',
      empty:
        command === undefined
          ? `profile ${profile.value} has no key`
          : `profile ${profile.value} stores no key: \`${command}\` prints it`,
      hints: () =>
        apiKey?.from === 'environment' ? [`${apiKey.name} is set and goes before the stored keys`] : [],
    };
  },
});
