import type { Printed } from '../../api/outputs/printed.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { relativeTime } from '../../format/time.ts';
import type { Reference } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { Completed } from '../../orders/input/complete.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { orderView } from '../../orders/screen.ts';
import { confirmSpending, paymentLines, spendingLines } from '../../orders/spending-lines.ts';
import type { Placed } from '../../orders/submit/intent.ts';
import { placeOrder } from '../../orders/submit/submit.ts';
import { unfinishedLine } from '../../orders/unfinished.ts';
import { type Until, untilValues } from '../../orders/watch-policy.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { defaultWindowMs } from '../../run/duplicate-window.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import type { AnyCommand } from '../define.ts';
import { watchResult } from './watch-result.ts';

/** Options for following a placed order. */
export const watchOptions = {
  watch: { kind: 'flag', description: 'follow the order to its end' },
  until: {
    kind: 'choice',
    values: untilValues,
    description: 'with --watch: what to wait for (default delivered)',
  },
} as const;

/** Output of every command that places an order and may follow it. */
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

/** @throws UsageError if an option that works only while following is given without `--watch`. */
export function checkFollowing({ watch = false, until }: Following): void {
  if (until !== undefined && !watch) throw new UsageError('--until needs --watch');
}

/** Result for a placed order. With `watch`, follows the order to its end first. */
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
  /** File from which the payload was read, for error messages. */
  readonly file?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly new?: boolean | undefined;
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
  readonly again?: boolean | undefined;
}

/**
 * Validates a payload, asks for confirmation before real money is spent, and places the order. Follows the order if the
 * options request it.
 */
export async function orderAssembled(
  before: Context,
  completed: Completed,
  placing: Placing,
): Promise<ResultOf<typeof createdOutput>> {
  const { checkOrder, inUsersWords } = await import('../../orders/input/check.ts');
  // If prompts completed the order, show the whole order before it is sent.
  const isReviewed = completed.facts !== undefined && !before.previewsRequests && placing.yes !== true;
  const { payload, argv, ofFile } = isReviewed ? await reviewed(before, completed, placing.file) : completed;
  // Put the user's answers into the command to run again.
  const context = { ...before, argv };
  const body = await checkOrder(payload, placing.file);
  const { referenceFrom } = await import('../../orders/needs/options.ts');
  const { withFileReference } = await import('../../orders/input/file-reference.ts');
  const reference = referenceFrom({ ...placing, ...withFileReference(placing, ofFile) }, body);
  await confirmSpending(context, {
    yes: placing.yes === true || isReviewed,
    question: 'Place this order with real money?',
    lines: () => spendingLines(context, body),
  });
  const place = (): Promise<Placed> =>
    placeOrder(context, body, {
      ...{ isNew: placing.new === true, again: placing.again === true, reference },
      ...consentOf(placing),
    });
  const { order, existed } = await inUsersWords(placing.file, place);
  if (existed) context.note('this order existed already; nothing was ordered twice');
  if (existed && reference) noteAge(context, order, reference);
  return createdResult(context, order, placing);
}

async function reviewed(
  context: Context,
  completed: Completed,
  file: string | undefined,
): Promise<Completed> {
  const { checkOrder } = await import('../../orders/input/check.ts');
  const { reviewOrder } = await import('../../orders/input/review.ts');
  const isRehearsal = context.isRehearsal();
  return reviewOrder(context, completed, {
    question: isRehearsal ? 'Place this order?' : 'Place this order with real money?',
    async lines({ payload }) {
      const body = await checkOrder(payload, file);
      return isRehearsal ? [] : paymentLines(context, body);
    },
  });
}

/**
 * Prints how old an order is that was found by its reference, unless the order is recent. The user may have wanted a
 * new order.
 */
function noteAge(context: Context, { created_at: at }: OrderRecord, { text }: Reference): void {
  const now = context.serviceClock.now();
  if (typeof at !== 'string' || !(now - Date.parse(at) > defaultWindowMs.live)) return;
  const example = `${text}-${new Date(now).toISOString().slice(0, 10)}`;
  context.note(
    `it was ordered ${relativeTime(at, now)}; another occasion takes another reference, such as ${safeText(example, maxReference)}`,
  );
}

const maxReference = 60;

/** Wraps an order command, so that it ends with a one-line reminder if the outcome of any order is in doubt. */
export const reminding = (command: AnyCommand): AnyCommand => ({
  ...command,
  async run(context, input) {
    const result = await command.run(context, input);
    if (!journalExists(context.settings)) return result;
    const line = await reminder(context);
    if (line !== undefined) context.note(line);
    return result;
  },
});

/** The command has succeeded, so a failure of the journal must not make it fail. */
async function reminder(context: Context): Promise<string | undefined> {
  try {
    return await unfinishedLine(context, (await context.journal()).unfinished());
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    return `cannot check whether an order is in doubt: ${error.message}`;
  }
}
