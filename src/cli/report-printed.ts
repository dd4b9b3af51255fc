import { reportShown } from '../orders/report.ts';
import { labelsOf } from '../orders/submit/intent.ts';
import type { Context } from '../run/context.ts';
import { writerOf } from './output/writer.ts';

/**
 * Marks this run's results as reported once stdout has accepted them. If the reader of stdout has closed, first reports
 * the results on stderr.
 */
export async function reportPrinted(context: Context): Promise<void> {
  const intents = context.unreported();
  if (writerOf(context.io.stdout.stream).isClosed) {
    const lines = intents.map(({ operation, key, madeId }) => {
      const { one, made } = labelsOf(operation);
      return `the ${one} ${madeId ?? key} was ${made}; the reader of stdout has gone`;
    });
    if (!(await context.log(lines))) return;
  }
  await reportShown(context);
}
