import { existsSync } from 'node:fs';
import { journalFile } from '../state/journal-tables.ts';
import type { AnyCommand } from './define.ts';

/** An order command that, once it has run, tells of what is in doubt: one line, and only where there is something. */
export const reminding = (command: AnyCommand): AnyCommand => ({
  ...command,
  async run(context, input) {
    const result = await command.run(context, input);
    if (!existsSync(journalFile(context.settings.folders.state))) return result;
    const count = (await context.journal()).countInDoubt();
    if (count > 0) {
      const what = count === 1 ? 'one order is' : `${count} orders are`;
      context.note(`${what} in doubt; errand order journal resume --all settles that`);
    }
    return result;
  },
});
