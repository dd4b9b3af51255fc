import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** The user has been shown what became of everything in this run. */
export async function reportShown(context: Context): Promise<void> {
  const made = context.unreported().filter(({ madeId }) => madeId !== undefined);
  if (made.length === 0) return;
  try {
    await (await context.journal()).report(made);
  } catch (error) {
    // The same command, or a look into the journal, then reports it once more.
    if (!(error instanceof ErrandError)) throw error;
  }
}
