import type { ResultOf } from '../../format/output-forms.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import type { Completed } from '../../orders/input/complete.ts';
import { placeOrder } from '../../orders/place.ts';
import type { Placed } from '../../orders/placed.ts';
import { spendingLines } from '../../orders/spending-lines.ts';
import type { Context } from '../../run/context.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { type createdOutput, createdResult, type Following } from './created.ts';

interface Placing extends Following, Consent {
  /** The file that the payload came from, for what is refused in it. */
  readonly file?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly new?: boolean | undefined;
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
  readonly again?: boolean | undefined;
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
  const { referenceFrom } = await import('../../orders/needs/options.ts');
  const reference = referenceFrom(placing, body);
  await confirmSpending(context, {
    yes: placing.yes === true,
    question: 'Place this order with real money?',
    lines: () => spendingLines(context, body),
  });
  const place = async (): Promise<Placed> => {
    if (!reference) return placeOrder(context, body, { isNew: placing.new === true, ...consentOf(placing) });
    const { placeNamed } = await import('../../orders/needs/place-named.ts');
    const now = () => context.serviceClock.now();
    return placeNamed(context, body, {
      reference,
      again: placing.again === true,
      now,
      ...consentOf(placing),
    });
  };
  const { order, existed } = await inUsersWords(placing.file, place);
  if (existed) context.note('this order existed already; nothing was ordered twice');
  return createdResult(context, order, placing);
}
