import type { Context } from '../context.ts';
import { ErrandError, type ErrorFacts } from '../errors.ts';
import { PaymentRequiredError } from '../http/errors.ts';
import type { Grant } from '../http/payment-credential.ts';
import { journalCommand } from '../state/journal-command.ts';
import { whereFlags } from '../where-flags.ts';

/** Whether a failure of the first send proves that there is no order: it never left, or the service itself refused it. */
export const isCertain = ({ facts: { outcome } }: ErrandError): boolean =>
  outcome === 'not_sent' || outcome === 'rejected';

/** Whether an earlier send of the same key may have reached the service. */
export type Sending = 'first' | 'again';

/** Writes the outcome down, with what a paid order came with. Where that fails what was made exists all the same: its id is told, the record stays open. */
export async function settleIntent(context: Context, key: string, id: string, grant?: Grant): Promise<void> {
  try {
    await (await context.journal()).settle(key, context.settings.baseUrl.value, id, grant);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`${id} was made; the journal could not be told so (${error.message})`);
  }
}

/** Writes down that nothing came of an intent. Where that fails the refusal is what is to be told; the record stays open. */
export async function refuseIntent(
  context: Context,
  key: string,
  reason: { readonly code: string; readonly message: string },
): Promise<void> {
  try {
    await (await context.journal()).refuse(key, context.settings.baseUrl.value, reason);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`nothing came of ${key}; the journal could not be told so (${error.message})`);
  }
}

/** What was asked for may exist. Interruption keeps its own exit code; everything else is exit 10. */
export function inDoubt(
  context: Context,
  error: ErrandError,
  key: string,
  what: 'order' | 'batch',
  sending: Sending = 'first',
): ErrandError {
  const stopped = error.category === 'interrupted' || error.category === 'terminated';
  const isPaymentRefused = error instanceof PaymentRequiredError;
  const isRefusedNow = sending === 'again' && error.facts.outcome === 'rejected' && isCertain(error);
  const how = isPaymentRefused
    ? `the ${what} was sent, and its payment is refused now`
    : isRefusedNow
      ? `the ${what} may have been made by an earlier try, and is refused now`
      : `the ${what} was sent and no answer came`;
  return new ErrandError(stopped ? error.category : 'in_doubt', `in doubt: ${how} (${error.message})`, {
    ...error.facts,
    outcome: 'unknown',
    retryable: true,
    idempotencyKey: key,
    cause: error,
    ...(isPaymentRefused
      ? refusedPayment(key)
      : isRefusedNow
        ? refusedNow(context, key, what)
        : unanswered(context, key, what)),
  });
}

const hints = {
  order: 'Do not order again: resuming sends the same key, so that exactly one order comes of it.',
  batch: 'Resuming, or the same upload again, is safe: each row has a key, so that one order comes of it.',
} as const;

type Advice = Pick<ErrorFacts, 'hint' | 'next'>;

const unanswered = (context: Context, key: string, what: keyof typeof hints): Advice => ({
  hint: hints[what],
  next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
});

const lists = { order: 'errand order list', batch: 'errand bulk list' } as const;

/** The service answers, but not whether the earlier try made anything: a look at what there is tells. */
const refusedNow = (context: Context, key: string, what: keyof typeof lists): Advice => ({
  hint: `Look whether the ${what} is there: where it is not, nothing came of it, and it can be given up.`,
  next: [
    { command: `${lists[what]}${whereFlags(context)}`, when: `to see whether the ${what} was made` },
    { command: journalCommand('forget', key), when: 'where it was not' },
  ],
});

/** A payment that got no answer, and is refused now: only who paid can tell whether it was taken the first time. */
const refusedPayment = (key: string): Advice => ({
  hint: 'Look whether the wallet shows this payment before you order again.',
  next: [{ command: journalCommand('forget', key), when: 'once it is certain that nothing was paid' }],
});
