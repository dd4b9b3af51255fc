import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { cancelOrder } from '../../orders/cancel.ts';
import { type IdentifiedOrder, stateOfOrder } from '../../orders/order-record.ts';
import { productLine } from '../../orders/screen.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { centsIn } from '../../spending/price-of-order.ts';
import type { ReportRow } from '../report/rows.ts';
import { withdrawalOf } from '../upload/batch.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';
import { partialError } from './partial.ts';

export type CancelledRow = Output<'CancelledRow'>;
type Outcome = CancelledRow['outcome'];

/** Maximum number of cancellations in flight. */
const maxInFlight = 4;

/** An order to cancel, with what is known of it. */
export interface Cancellable {
  /** Row of the file; undefined of a single order, or where this machine does not know it. */
  readonly number: number | undefined;
  readonly orderId: string | undefined;
  /** What follows without a request; undefined if the service decides. */
  readonly outcome: Outcome | undefined;
  readonly state: string;
  readonly product: string;
  /** In cents. */
  readonly ceiling: number | undefined;
}

/** The order of a row. */
export const cancellableRow = (row: ReportRow): Cancellable => ({
  number: row.number,
  orderId: row.orderId,
  outcome: outcomeOfRow(row),
  state: row.state.text,
  product: row.product(),
  ceiling: row.ceiling,
});

/** A single order, as it was just read. */
export function cancellableOrder(order: IdentifiedOrder): Cancellable {
  const { text, mood } = stateOfOrder(order);
  const isCancelled = order.status === 'cancelled';
  const known = mood === 'bad' ? 'not_ordered' : order.status === 'order_placed' ? 'too_late' : undefined;
  return {
    number: undefined,
    orderId: order.id,
    outcome: isCancelled ? 'was_cancelled' : known,
    state: text,
    product: productLine(order),
    ceiling: centsIn(order, 'max_price'),
  };
}

function outcomeOfRow({ row, rowStatus, orderId, later }: ReportRow): Outcome | undefined {
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
      return later || orderId === undefined ? 'in_doubt' : undefined;
  }
}

/**
 * Cancels orders, several at once, and yields each with what became of it, in their order. An order that is cancelled
 * already counts as done, so the same orders may be given again.
 * @param failed is told, after all were yielded, if the service could not be asked about one; no further order is
 * cancelled then.
 */
export async function* cancelAll(
  context: Context,
  orders: readonly Cancellable[],
  failed: (error: ErrandError) => void,
): AsyncGenerator<CancelledRow> {
  let failure: ErrandError | undefined;
  const previews: RequestPreview[] = [];
  const ended = new Map<number, CancelledRow>();
  let next = 0;
  let doneRows = 0;
  async function* untilFailure() {
    for (const entry of orders.entries()) {
      if (failure || context.signal.aborted) return;
      yield entry;
    }
  }
  const work = async ([at, order]: readonly [number, Cancellable]): Promise<void> => {
    try {
      ended.set(at, recordOf(order, await cancelOne(context, order)));
      doneRows += 1;
    } catch (error) {
      if (error instanceof RequestPreview) previews.push(error);
      else if (!(error instanceof ErrandError)) throw error;
      else {
        failure ??= error;
        ended.set(at, recordOf(order, error.facts.outcome === 'unknown' ? 'in_doubt' : 'not_tried'));
      }
    }
  };
  const done = inFlight(untilFailure(), work, { limit: maxInFlight, now: context.clock.monotonic });
  for await (const _ of done)
    for (let row = ended.get(next); row; row = ended.get(next)) {
      yield row;
      ended.delete(next);
      next += 1;
    }
  if (previews.length > 0) throw new RequestPreview(previews.map(({ text }) => text).join(''));
  for (const [at, order] of orders.entries())
    if (at >= next) yield ended.get(at) ?? recordOf(order, order.outcome ?? 'not_tried');
  if (failure) failed(partialError(failure, doneRows));
  else context.signal.throwIfAborted();
}

async function cancelOne(context: Context, { outcome, orderId }: Cancellable): Promise<Outcome> {
  if (outcome !== undefined || orderId === undefined) return outcome ?? 'in_doubt';
  try {
    await cancelOrder(context, orderId);
    return 'cancelled';
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.code === 'order_not_cancellable') return 'too_late';
    // What the service refuses of one order says nothing about the others.
    if (error.category === 'not_found' || error.category === 'conflict') return 'refused';
    throw error;
  }
}

const recordOf = (
  { number, orderId, state, product, ceiling }: Cancellable,
  outcome: Outcome,
): CancelledRow => ({
  row: number ?? null,
  order_id: orderId ?? null,
  outcome,
  order_state: state,
  product,
  ceiling_cents: ceiling ?? null,
});

/** Counts orders by what became of them, and says how the command ends. */
export class CancelTally {
  readonly #counts = new Map<string, number>();
  /** What ended the command before all was tried. */
  failure: ErrandError | undefined;
  /** Orders that cannot be cancelled any more. */
  readonly late: string[] = [];

  add({ outcome, order_id: id }: CancelledRow): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
    if (outcome === 'too_late' && id !== null) this.late.push(id);
  }

  of(...outcomes: readonly Outcome[]): number {
    return outcomes.reduce((sum, outcome) => sum + (this.#counts.get(outcome) ?? 0), 0);
  }

  /** Formats `30 cancelled, 2 too late to cancel`. */
  get text(): string {
    const counted = [...outcomeTexts].flatMap(([outcome, text]) => {
      const count = this.#counts.get(outcome) ?? 0;
      return count === 0 ? [] : [`${countText(count)} ${text}`];
    });
    return counted.join(', ') || 'nothing to cancel';
  }

  get exitCode(): number {
    if (this.of('in_doubt') > 0) return exitCodes.in_doubt;
    if (this.failure) return this.failure.exitCode;
    const left = this.of('too_late', 'elsewhere', 'waiting', 'refused', 'not_tried');
    if (left === 0) return 0;
    return this.of('cancelled', 'was_cancelled') > 0 ? exitCodes.ended_badly : exitCodes.conflict;
  }
}

export const outcomeTexts: ReadonlyMap<string, string> = new Map<Outcome, string>([
  ['cancelled', 'cancelled'],
  ['was_cancelled', 'cancelled before'],
  ['too_late', 'too late to cancel'],
  ['returned', 'returned already'],
  ['elsewhere', 'ordered by another command'],
  ['not_ordered', 'failed before'],
  ['waiting', 'not ordered yet'],
  ['in_doubt', 'in doubt'],
  ['refused', 'refused by the service'],
  ['not_tried', 'not tried'],
]);

/** What is about to be cancelled: `30 orders, at most $1,234.00`. */
export function cancellableText(orders: readonly Cancellable[]): string {
  const open = orders.filter(({ outcome }) => outcome === undefined);
  const cents = open.reduce((sum, { ceiling = 0 }) => sum + ceiling, 0);
  const count = open.length === 1 ? '1 order' : `${countText(open.length)} orders`;
  return `${count} to cancel, at most ${formatMoney(cents)}`;
}
