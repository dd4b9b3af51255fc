import type { Printed } from '../../api/outputs/printed.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import type { Completed } from '../../orders/input/complete.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { placeOrder } from '../../orders/place.ts';
import { orderView } from '../../orders/screen.ts';
import { spendingLines } from '../../orders/spending-lines.ts';
import { type Until, untilValues } from '../../orders/watch-policy.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { watchResult } from './watch-result.ts';

/** What follows an order that was placed. */
export const watchOptions = {
  watch: { kind: 'flag', description: 'follow the order to its end' },
  until: {
    kind: 'choice',
    values: untilValues,
    description: 'with --watch: what to wait for (default delivered)',
  },
} as const;

/** What every command prints that places an order and may follow it. */
export const createdOutput = [
  { record: 'order.create' },
  { list: 'order.get', when: 'that is empty where --watch could not read the order' },
  { events: 'OrderWatchEvent', when: 'and --watch' },
] as const satisfies readonly Printed[];

/** Exit codes of every command that places an order and may follow it. */
export const placedExits = {
  5: 'the idempotency key belongs to another order',
  7: 'with --watch: the order failed or was cancelled',
  8: 'with --watch: --timeout passed; the order goes on',
} as const;

interface Following {
  readonly watch?: boolean | undefined;
  readonly until?: Until | undefined;
}

/** @throws UsageError for what only following has. */
export function checkFollowing({ watch = false, until }: Following): void {
  if (until !== undefined && !watch) throw new UsageError('--until needs --watch');
}

/** The order that was placed, or followed to its end. */
export async function createdResult(
  context: Context,
  order: OrderRecord,
  { watch = false, until = 'delivered' }: Following,
): Promise<ResultOf<typeof createdOutput>> {
  const id = String(order.id);
  if (watch) return watchResult(context, [id], { until });
  return {
    kind: 'record',
    record: order,
    ...orderView,
    hints: [`follow it: ${shellLine`errand order watch ${id}`}${whereFlags(context)}`],
  };
}

interface Placing extends Following, Consent {
  /** The file that the payload came from, for what is refused in it. */
  readonly file?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly new?: boolean | undefined;
}

/** Checks a payload, asks before real money is spent, and places the order; follows it where that is requested. */
export async function orderAssembled(
  before: Context,
  { payload, argv }: Completed,
  placing: Placing,
): Promise<ResultOf<typeof createdOutput>> {
  // A command to run again says what was answered, too.
  const context = { ...before, argv };
  const { checkOrder, inUsersWords } = await import('../../orders/input/check.ts');
  const body = await checkOrder(payload, placing.file);
  await confirmSpending(context, {
    yes: placing.yes === true,
    question: 'Place this order with real money?',
    lines: () => spendingLines(context, body),
  });
  const { order, existed } = await inUsersWords(placing.file, () =>
    placeOrder(context, body, { isNew: placing.new === true, ...consentOf(placing) }),
  );
  if (existed) context.note('this order existed already; nothing was ordered twice');
  return createdResult(context, order, placing);
}
