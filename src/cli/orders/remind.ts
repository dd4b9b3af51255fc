import { journalExists } from '../../journal/journal-tables.ts';
import { owedLine } from '../../orders/owed.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { AnyCommand } from '../define.ts';

/** An order command that, once it has run, tells of what is in doubt: one line, and only where there is something. */
export const reminding = (command: AnyCommand): AnyCommand => ({
  ...command,
  async run(context, input) {
    const result = await command.run(context, input);
    if (!journalExists(context.settings)) return result;
    const line = await reminder(context);
    if (line !== undefined) context.note(line);
    return result;
  },
});

/** What the command has done stands, whatever has become of the journal. */
async function reminder(context: Context): Promise<string | undefined> {
  try {
    return await owedLine(context, (await context.journal()).owed());
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    return `cannot check whether an order is in doubt: ${error.message}`;
  }
}
