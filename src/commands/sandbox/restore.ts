import { defineCommand } from '../../cli/define.ts';
import type { ProfileKey } from '../../config/keys.ts';
import { maskKey } from '../../config/keys.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { controlled } from './controlled.ts';

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore a snapshot of the sandbox, including its clock',
  description:
    'What happened since is gone from the sandbox, and errand knows it: the same order can be placed again. Keys of that state work again; later ones do not. Faults and speed stay as they are set now. Works on the embedded sandbox, and on one that this machine serves.',
  arguments: [{ name: 'name', description: 'name of the snapshot', required: true }],
  examples: [{ command: 'errand sandbox restore before', note: 'as it was when the snapshot was taken' }],
  output: { nothing: true },
  related: ['sandbox snapshot', 'sandbox reset'],
  async run(context, { name }) {
    const sandbox = await controlled(context, 'restore');
    const takenAt = sandbox.state.snapshots.find((it) => it.name === name)?.taken_at;
    const until = context.clock.now();
    await sandbox.act('restore', { name });
    const { noteGone } = await import('./gone.ts');
    const since = takenAt === undefined ? until : Date.parse(takenAt);
    const why = `the sandbox was restored to ${name}`;
    const doubtNotes = await noteGone(context, { since, until, why, dataFile: sandbox.state.kept_in });
    return {
      kind: 'none',
      hints: [`the sandbox is as it was at ${name}`, ...doubtNotes, ...(await keyOf(context, since))],
    };
  },
});

/**
 * Suggests the stored key that was in use at an earlier time, if the current key is newer than that.
 * @param since is the earlier time, in ms.
 */
async function keyOf(context: Context, since: number): Promise<string[]> {
  const { profile, baseUrl } = context.settings;
  const stored = (await context.store()).profile(profile.value);
  if (stored?.base_url !== baseUrl.value) return [];
  const { keysOf } = await import('../../config/keys.ts');
  const isOlder = ({ storedAt }: ProfileKey): boolean =>
    storedAt === undefined || Date.parse(storedAt) <= since;
  const keys = keysOf(stored);
  if (keys.some((key) => key.isInUse && isOlder(key))) return [];
  const older = keys
    .filter(isOlder)
    .toSorted((one, other) => (one.storedAt ?? '').localeCompare(other.storedAt ?? ''));
  const last = older.at(-1);
  if (!last) return [];
  return [
    `the key in use is newer than that; \`errand auth use ${last.id}${whereFlags(context)}\` goes back to ${maskKey(last.key)}`,
  ];
}
