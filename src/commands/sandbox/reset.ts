import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../errors.ts';
import { embeddedUrl } from '../../settings/stored.ts';
import { checkEmbedded } from './embedded-only.ts';

export const reset = defineCommand({
  name: 'reset',
  summary: 'Delete all data of the embedded sandbox, and the key for it',
  options: { yes: { kind: 'flag', description: 'without confirmation' } },
  examples: [{ command: 'errand sandbox reset --yes', note: 'begin anew' }],
  output: { nothing: true },
  related: ['sandbox mint', 'quickstart'],
  async run(context, { yes = false }) {
    checkEmbedded(context, 'reset');
    const { state } = context.settings.folders;
    if (!yes) {
      if (!context.interactive.yes) {
        throw new UsageError(
          `pass --yes to delete the sandbox's data; cannot prompt, because ${context.interactive.why}`,
          {
            next: [{ command: 'errand sandbox reset --yes', when: 'to delete it' }],
          },
        );
      }
      const prompt = await context.prompt();
      if (!(await prompt.confirm(context, `Delete the sandbox's orders and keys in ${state}?`))) {
        return { kind: 'none', hints: ['nothing was deleted'] };
      }
    }
    await (await context.sandbox()).resetSandbox(state, context.signal);
    const store = await context.store();
    await store.forgetKeysAt(embeddedUrl);
    return { kind: 'none', hints: ['the sandbox is empty; the next command mints a new key'] };
  },
});
