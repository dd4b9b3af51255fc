import { reportShown } from '../orders/report.ts';
import { thingOf } from '../orders/submit/intent.ts';
import type { Context } from '../run/context.ts';
import { writerOf } from './output/writer.ts';

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
