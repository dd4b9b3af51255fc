import { ownOpenText } from '../../../journal/own-open.ts';
import type { Context } from '../../../run/context.ts';

/** What this machine's own journal still holds where machines share one, in a line for people; undefined where nothing. @throws StorageError. */
export async function ownOpenLine(context: Context): Promise<string | undefined> {
  if (!context.settings.database) return undefined;
  const open = await (await context.journal()).openInOwn();
  if (open.length === 0) return undefined;
  return `${ownOpenText(open)}, which stops spending: errand order journal move`;
}
