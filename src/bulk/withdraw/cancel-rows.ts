import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { cancelOrder } from '../../orders/cancel.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import type { ReportRow } from '../report/rows.ts';
import { withdrawalOf } from '../upload/batch.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';

export type CancelledRow = Output<'BulkCancelRow'>;
type Outcome = CancelledRow['outcome'];

/** Maximum number of cancellations in flight. */
const maxInFlight = 4;

/** What is known of a row before its order is cancelled; undefined if the service decides. */
export function outcomeBefore({ row, rowStatus, orderId, later }: ReportRow): Outcome | undefined {
  const withdrawal = withdrawalOf(row);
  if (withdrawal !== undefined) return withdrawal === 'cancelled' ? 'was_cancelled' : 'returned';
  switch (rowStatus) {
    case 'failed':
    case 'refused':
      return 'not_ordered';
    case 'waiting':
      return 'waiting';
    case 'placed':
      return 'too_late';
    case 'before':
    case 'since':
      return 'elsewhere';
    default:
      if (later) return 'in_doubt';
      return orderId === undefined ? 'in_doubt' : undefined;
  }
}

/**
 * Cancels the orders of rows, several at once, and yields each row with what became of it, in the order of the rows. An
 * order that is cancelled already counts as done, so the same rows may be given again.
 * @throws ErrandError after all rows were yielded, if the service could not be asked about one; no further order is
 * cancelled then.
 */
export async function* cancelRows(
  context: Context,
  rows: readonly ReportRow[],
): AsyncGenerator<CancelledRow> {
  let failure: ErrandError | undefined;
  const previews: RequestPreview[] = [];
  const ended = new Map<number, CancelledRow>();
  let next = 0;
  async function* untilFailure() {
    for (const [at, row] of rows.entries()) {
      if (failure || context.signal.aborted) return;
      yield { at, row };
    }
  }
  const work = async ({ at, row }: { readonly at: number; readonly row: ReportRow }) => {
    const known = outcomeBefore(row);
    if (known !== undefined || row.orderId === undefined)
      return { at, record: recordOf(row, known ?? 'in_doubt') };
    try {
      await cancelOrder(context, row.orderId);
      return { at, record: recordOf(row, 'cancelled') };
    } catch (error) {
      if (error instanceof RequestPreview) {
        previews.push(error);
        return { at, record: undefined };
      }
      if (!(error instanceof ErrandError)) throw error;
      if (error.facts.code === 'order_not_cancellable') return { at, record: recordOf(row, 'too_late') };
      failure ??= error;
      return { at, record: recordOf(row, error.facts.outcome === 'unknown' ? 'in_doubt' : 'not_tried') };
    }
  };
  const done = inFlight(untilFailure(), work, { limit: maxInFlight, now: context.clock.monotonic });
  for await (const { at, record } of done) {
    if (!record) continue;
    ended.set(at, record);
    for (let row = ended.get(next); row; row = ended.get(next)) {
      yield row;
      ended.delete(next);
      next += 1;
    }
  }
  if (previews.length > 0) throw new RequestPreview(previews.map(({ text }) => text).join(''));
  for (const [at, row] of rows.entries())
    if (at >= next) yield ended.get(at) ?? recordOf(row, outcomeBefore(row) ?? 'not_tried');
  if (failure) throw failure;
  context.signal.throwIfAborted();
}

const recordOf = (row: ReportRow, outcome: Outcome): CancelledRow => ({
  row: row.number ?? null,
  order_id: row.orderId ?? null,
  outcome,
  order_state: row.state.text,
  product: row.product(),
  ceiling_cents: row.ceiling ?? null,
});

/** Counts rows by their outcomes, and says how the command ends. */
export class CancelTally {
  readonly #counts = new Map<string, number>();

  add({ outcome }: CancelledRow): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
  }

  of(...outcomes: readonly Outcome[]): number {
    return outcomes.reduce((sum, outcome) => sum + (this.#counts.get(outcome) ?? 0), 0);
  }

  /** Formats `30 cancelled, 2 too late`. */
  get text(): string {
    const counted = [...outcomeTexts].flatMap(([outcome, text]) => {
      const count = this.#counts.get(outcome) ?? 0;
      return count === 0 ? [] : [`${countText(count)} ${text}`];
    });
    return counted.join(', ') || 'no row';
  }

  /** Exit code: in doubt before mixed before none. */
  get exitCode(): number {
    if (this.of('in_doubt') > 0) return exitCodes.in_doubt;
    const left = this.of('too_late', 'elsewhere', 'waiting', 'not_tried');
    if (left === 0) return 0;
    return this.of('cancelled', 'was_cancelled') > 0 ? exitCodes.ended_badly : exitCodes.conflict;
  }
}

export const outcomeTexts: ReadonlyMap<string, string> = new Map<Outcome, string>([
  ['cancelled', 'cancelled'],
  ['was_cancelled', 'cancelled before'],
  ['too_late', 'too late to cancel'],
  ['returned', 'returned already'],
  ['elsewhere', 'ordered by another command, not cancelled'],
  ['not_ordered', 'failed before'],
  ['waiting', 'not ordered yet'],
  ['in_doubt', 'in doubt'],
  ['not_tried', 'not tried'],
]);

/** What is about to be cancelled: `30 orders, at most $1,234.00`. */
export function cancellableText(rows: readonly ReportRow[]): string {
  const open = rows.filter((row) => outcomeBefore(row) === undefined);
  const cents = open.reduce((sum, { ceiling = 0 }) => sum + ceiling, 0);
  const orders = open.length === 1 ? '1 order' : `${countText(open.length)} orders`;
  return `${orders}, at most ${formatMoney(cents)}`;
}
