import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** Marks everything that was made in this run as reported to the user. */
export async function reportShown(context: Context): Promise<void> {
  const made = context.unreported().filter(({ madeId }) => madeId !== undefined);
  if (made.length === 0) return;
  try {
    await (await context.journal()).report(made);
  } catch (error) {
    // Ignore the failure. Running the same command again reports the result again, and so does viewing the journal.
    if (!(error instanceof ErrandError)) throw error;
  }
}
