import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { cancelOrder } from '../../orders/cancel.ts';
import { type IdentifiedOrder, stateOfOrder } from '../../orders/order-record.ts';
import { productLine } from '../../orders/screen.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { centsIn } from '../../spending/price-of-order.ts';
import { productLineOf, type ReportRow } from '../report/rows.ts';
import { withdrawalOf } from '../upload/batch.ts';
import { eachInOrder, OutcomeTally } from './each-in-order.ts';

export type CancelledRow = Output<'CancelledRow'>;
type Outcome = CancelledRow['outcome'];

/** An order to cancel, with the facts known about it. */
export interface Cancellable {
  /** Upload of the row; undefined for a single order, or if this machine does not know the upload. */
  readonly upload: string | undefined;
  /** Row of the file; undefined for a single order, or if this machine does not know the row. */
  readonly number: number | undefined;
  readonly orderId: string | undefined;
  /** The outcome, if it is certain without a request; undefined if the service decides. */
  readonly outcome: Outcome | undefined;
  readonly state: string;
  readonly product: string;
  /** The ceiling in cents. */
  readonly ceiling: number | undefined;
}

/** The order of a row. */
export const cancellableRow = (row: ReportRow): Cancellable => ({
  upload: row.upload,
  number: row.number,
  orderId: row.orderId,
  outcome: outcomeOfRow(row),
  state: row.state.text,
  product: productLineOf(row),
  ceiling: row.ceiling,
});

/** A single order that was just read. */
export function cancellableOrder(order: IdentifiedOrder): Cancellable {
  const { text, mood } = stateOfOrder(order);
  const isCancelled = order.status === 'cancelled';
  const known = mood === 'bad' ? 'not_ordered' : order.status === 'order_placed' ? 'too_late' : undefined;
  return {
    upload: undefined,
    number: undefined,
    orderId: order.id,
    outcome: isCancelled ? 'was_cancelled' : known,
    state: text,
    product: productLine(order),
    ceiling: centsIn(order, 'max_price'),
  };
}

function outcomeOfRow({ row, rowStatus, orderId, later, isEarlier }: ReportRow): Outcome | undefined {
  const withdrawal = row && withdrawalOf(row);
  if (withdrawal !== undefined) return withdrawal === 'cancelled' ? 'was_cancelled' : 'returned';
  switch (rowStatus) {
    case 'failed':
    case 'refused':
      return 'not_ordered';
    case 'left_out':
      return rowStatus;
    default:
  }
  if (isEarlier) return 'earlier';
  switch (rowStatus) {
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
 * Cancels orders, several at once, and yields their outcomes in the given order. An order that is already cancelled
 * counts as done, so the same orders may be given again. @param report is called after all outcomes, if a request
 * failed so that the order's outcome is unknown or the service cannot be reached. No further order is cancelled after
 * such a failure.
 */
export const cancelAll = (
  context: Context,
  orders: readonly Cancellable[],
  report: (error: ErrandError) => void,
): AsyncGenerator<CancelledRow> =>
  eachInOrder(
    context,
    orders,
    {
      group: (_, at) => at,
      act: async (order) => recordOf(order, await cancelOne(context, order)),
      failed: (order, { facts }) => ({
        row: recordOf(order, facts.outcome === 'unknown' ? 'in_doubt' : 'not_tried'),
        goesOn: false,
      }),
      untried: (order) => recordOf(order, order.outcome ?? 'not_tried'),
      isDone: ({ outcome }) => outcome === 'cancelled',
    },
    report,
  );

async function cancelOne(context: Context, { outcome, orderId }: Cancellable): Promise<Outcome> {
  if (outcome !== undefined || orderId === undefined) return outcome ?? 'in_doubt';
  try {
    // A row says it: thousands may have been cancelled by another command meanwhile.
    const wasBefore = await cancelOrder(context, orderId, () => {});
    return wasBefore ? 'was_cancelled' : 'cancelled';
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.code === 'order_not_cancellable') return 'too_late';
    // If one order is refused, the others may still succeed.
    if (error.category === 'not_found' || error.category === 'conflict') return 'refused';
    throw error;
  }
}

const recordOf = (
  { upload, number, orderId, state, product, ceiling }: Cancellable,
  outcome: Outcome,
): CancelledRow => ({
  row: number ?? null,
  upload: upload ?? null,
  order_id: orderId ?? null,
  outcome,
  order_state: state,
  product,
  ceiling_cents: ceiling ?? null,
});

export const outcomeTexts: ReadonlyMap<string, string> = new Map<Outcome, string>([
  ['cancelled', 'cancelled'],
  ['was_cancelled', 'cancelled before'],
  ['too_late', 'too late to cancel'],
  ['returned', 'returned already'],
  ['elsewhere', 'ordered by another command'],
  ['earlier', 'ordered by an earlier command'],
  ['not_ordered', 'failed before'],
  ['left_out', 'left out'],
  ['waiting', 'not ordered yet'],
  ['in_doubt', 'in doubt'],
  ['refused', 'refused by the service'],
  ['not_tried', 'not tried'],
]);

export const cancelTally = (): OutcomeTally<Outcome> =>
  new OutcomeTally<Outcome>(outcomeTexts, {
    done: ['cancelled', 'was_cancelled'],
    left: ['too_late', 'elsewhere', 'waiting', 'refused', 'not_tried'],
  });

/** Describes what is about to be cancelled, and what stays: `3 orders to cancel, at most $44.00; 2 in doubt`. */
export function cancellableText(orders: readonly Cancellable[]): string {
  const open = orders.filter(({ outcome }) => outcome === undefined);
  const rest = [...outcomeTexts].flatMap(([outcome, text]) => {
    const { length } = orders.filter((order) => order.outcome === outcome);
    return length === 0 ? [] : `${countText(length)} ${text}`;
  });
  const cents = open.reduce((sum, { ceiling = 0 }) => sum + ceiling, 0);
  const count = open.length === 1 ? '1 order' : `${countText(open.length)} orders`;
  const stays = rest.length === 0 ? '' : `; ${rest.join(', ')}`;
  return `${count} to cancel, at most ${formatMoney(cents)}${stays}`;
}
