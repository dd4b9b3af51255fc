import { defineCommand } from '../../cli/define.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { controlled } from './controlled.ts';

export const reset = defineCommand({
  name: 'reset',
  summary: 'Delete all data of the sandbox, and the keys for it',
  description:
    'Of the embedded sandbox, or of one that this machine serves: that one goes on, empty. Profiles for its address forget their keys. Snapshots stay; where there are any, so do the keys, beside the one in use.',
  options: { yes: { kind: 'flag', description: 'without confirmation' } },
  examples: [{ command: 'errand sandbox reset --yes', note: 'begin anew' }],
  output: { nothing: true },
  related: ['sandbox mint', 'quickstart'],
  async run(context, { yes = false }) {
    const { baseUrl, folders } = context.settings;
    const isEmbedded = baseUrl.value === embeddedUrl;
    // Check first that the service is a sandbox, so that the user is not asked about something else.
    const served = isEmbedded ? undefined : await controlled(context, 'reset');
    const where = isEmbedded ? `in ${folders.state}` : `at ${baseUrl.value}`;
    if (!yes) {
      if (!context.interactive.yes) {
        throw new UsageError(
          `pass --yes to delete the sandbox's data; cannot prompt, because ${context.interactive.why}`,
          {
            next: [{ command: typedCommand([...context.argv, '--yes']), when: 'to delete it' }],
          },
        );
      }
      const prompt = await context.prompt();
      if (!(await prompt.confirm(context, `Delete the sandbox's orders and keys ${where}?`))) {
        return { kind: 'none', hints: ['nothing was deleted'] };
      }
    }
    // Do not open the sandbox to reset it, because data that cannot be read must be deleted too.
    const sandbox = await import('../../sandbox-door.ts');
    const until = context.clock.now();
    if (served) await served.act('reset', {});
    else await sandbox.resetSandbox(folders.state, context.signal);
    const { noteGone } = await import('./gone.ts');
    const gone = { until, why: 'the sandbox was emptied', dataFile: served?.state.kept_in };
    const doubtNotes = await noteGone(context, gone);
    const store = await context.store();
    const mayComeBack = served ? served.state.snapshots.length > 0 : sandbox.hasSnapshots(folders.state);
    await store.retireKeysAt(baseUrl.value, mayComeBack);
    // If the served sandbox keeps the embedded sandbox's data, then emptying one also empties the other.
    if (served?.state.kept_in === sandbox.fileOf(folders.state))
      await store.retireKeysAt(embeddedUrl, mayComeBack);
    const keys = mayComeBack
      ? [`keys of its snapshots are kept: \`errand auth list${whereFlags(context)}\` shows them`]
      : [];
    const next = isEmbedded
      ? 'the next command mints a new key'
      : `\`errand sandbox mint${whereFlags(context)}\` mints a new key`;
    return { kind: 'none', hints: [...doubtNotes, ...keys, `the sandbox is empty; ${next}`] };
  },
});
