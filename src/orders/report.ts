import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** Marks everything made in this run as reported to the user. */
export async function reportShown(context: Context): Promise<void> {
  const made = context.unreported().filter(({ madeId }) => madeId !== undefined);
  if (made.length === 0) return;
  try {
    await (await context.journal()).report(made);
  } catch (error) {
    // Ignore the failure, because running the same command again, or viewing the journal, reports the result again.
    if (!(error instanceof ErrandError)) throw error;
  }
}
