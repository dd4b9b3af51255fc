import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import { writerOf } from '../output/writer.ts';
import { thingOf } from './things.ts';

/** Stdout has taken the result: what this run made is known to the user now. Where its reader has gone, stderr says it. */
export async function reportPrinted(context: Context): Promise<void> {
  const intents = context.unreported();
  if (writerOf(context.io.stdout.stream).isClosed) {
    const lines = intents.map(({ operation, key, madeId }) => {
      const { one, made } = thingOf(operation);
      return `the ${one} ${madeId ?? key} was ${made}; the reader of stdout has gone`;
    });
    if (!(await context.tell(lines))) return;
  }
  await reportShown(context);
}

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
