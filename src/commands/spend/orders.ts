import { listRows } from '../../cli/list-command.ts';
import type { Context } from '../../run/context.ts';
import type { Span } from '../../spending/report/tally.ts';

/** Options that select the orders of a report. */
export const spanOptions = {
  since: {
    kind: 'text',
    placeholder: 'date',
    description: 'orders created from then on: 2026-11-01, 2026-11, 7d, today, or a time',
  },
  until: {
    kind: 'text',
    placeholder: 'date',
    description: 'orders created until then; a day or a month named so is included',
  },
  timeZone: {
    kind: 'text',
    placeholder: 'zone',
    description: "zone of days and months: America/Chicago; else the policy's, else UTC",
  },
} as const;

/**
 * Streams all orders that were created within a time span.
 * @throws ErrandError.
 */
export async function* ordersOf(context: Context, { since, before }: Span): AsyncGenerator<unknown> {
  const query = {
    ...(since !== undefined && { created_after: since }),
    ...(before !== undefined && { created_before: before }),
  };
  const { createProgress } = await import('../../cli/output/progress.ts');
  const { rows, count } = await listRows(context, 'order.list', query, true, { isTakenRowByRow: true });
  let progress: ReturnType<typeof createProgress> | undefined;
  try {
    for await (const row of rows) {
      const { shown, total } = count();
      progress ??= createProgress(context.io, {
        label: 'reading orders',
        unit: 'orders',
        now: context.clock.monotonic,
        ...(total !== undefined && { total }),
      });
      progress.update(shown);
      yield row;
    }
  } finally {
    progress?.end();
  }
}
