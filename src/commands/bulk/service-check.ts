import type { Batch } from '../../bulk/batches.ts';
import type { ShownIssue } from '../../bulk/check.ts';
import { inFlight } from '../../bulk/flow.ts';
import type { Context } from '../../context.ts';

/** What the service says of one batch. */
interface Checked {
  readonly rows: number;
  readonly invalid: number;
  /** Cents, the service's fees with it. */
  readonly estimate: number;
  /** Cents to spend. */
  readonly wallet: number;
  readonly byInvoice: boolean;
  readonly issues: readonly ShownIssue[];
}

/** How many requests run at once, at most. */
const mostInFlight = 4;

/** Has the service check batches without placing anything. */
export async function* checkAtService(
  context: Context,
  name: string,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Checked> {
  const client = await context.client();
  yield* inFlight(
    batches,
    async ({ rows, numbers }) => {
      const body = { filename: name, rows: rows.map((row) => ({ ...row })) };
      const { body: answer } = await client.call('bulk.validate', { body });
      const issues = answer.rows.flatMap(({ index, errors }) =>
        errors.map((message) => ({ row: numbers[index] ?? index, column: '', value: '', message })),
      );
      return {
        rows: answer.total_rows,
        invalid: answer.invalid_rows,
        estimate: answer.estimated_total_cents,
        wallet: answer.wallet_balance_cents,
        byInvoice: answer.billed_by_invoice,
        issues,
      };
    },
    { most: mostInFlight, now: context.clock.now },
  );
}
