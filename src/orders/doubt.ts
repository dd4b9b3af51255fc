import { InDoubtError, PaymentRequiredError } from '../http/errors.ts';
import { journalCommand } from '../journal/journal-command.ts';
import type { Intent } from '../journal/journal-record.ts';
import { type ErrandError, type ErrorFacts, stopOf } from '../platform/errors.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import { noteInDoubt } from './audited.ts';
import { type Thing, thingOf } from './submit/intent.ts';

/** Whether a failure of the first send proves that there is no order: it never left, or the service itself refused it. */
export const isCertain = ({ facts: { outcome } }: ErrandError): boolean =>
  outcome === 'not_sent' || outcome === 'rejected';

/** Whether an earlier send of the same key may have reached the service. */
export type Sending = 'first' | 'again';

/** What was requested may exist. Interruption keeps its own exit code; everything else is exit 10. */
function inDoubt(
  context: OrderContext,
  error: ErrandError,
  { key, operation }: Pick<Intent, 'key' | 'operation'>,
  sending: Sending,
): InDoubtError {
  const thing = thingOf(operation);
  const isPaymentRefused = error instanceof PaymentRequiredError;
  const isRefusedNow = sending === 'again' && error.facts.outcome === 'rejected';
  const how = isPaymentRefused
    ? `the ${thing.one} was sent, and its payment is refused now`
    : isRefusedNow
      ? `the ${thing.one} may have been made by an earlier attempt, and is refused now`
      : `the ${thing.one} was sent, but its outcome is unknown`;
  const facts = {
    ...error.facts,
    retryable: true,
    idempotencyKey: key,
    cause: error,
    ...(isPaymentRefused
      ? refusedPayment(context, key)
      : isRefusedNow
        ? refusedNow(context, key, thing)
        : noResponse(context, key, operation)),
  };
  return new InDoubtError(`in doubt: ${how} (${error.message})`, facts, stopOf(error));
}

/** The same, with its record in the audit chain. */
export async function leftInDoubt(
  context: OrderContext,
  error: ErrandError,
  intent: Pick<Intent, 'key' | 'baseUrl' | 'operation'>,
  sending: Sending = 'first',
): Promise<InDoubtError> {
  await noteInDoubt(context, intent, error);
  return inDoubt(context, error, intent, sending);
}

type Advice = Pick<ErrorFacts, 'hint' | 'next'>;

const orderAgain = 'Do not order again: resume sends the same key, so you get exactly one order.';

/** By operation; where nothing stands, `orderAgain`. */
const hints: Readonly<Record<string, string>> = {
  'bulk.create':
    'It is safe to resume or to upload the same file again: each row has a key, so you get one order per row.',
  'return.create': 'It is safe to resume or to run the same command again: you get one return.',
};

/** Whether the same may be ordered again while it is in doubt, in words. */
export const hintInDoubt = (operation: string): string =>
  (Object.hasOwn(hints, operation) ? hints[operation] : undefined) ?? orderAgain;

const noResponse = (context: OrderContext, key: string, operation: string): Advice => ({
  hint: hintInDoubt(operation),
  next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
});

/** The service responds, but not whether the earlier attempt made anything: a look at what there is tells. */
const refusedNow = (context: OrderContext, key: string, { one, list }: Thing): Advice => ({
  hint: `Check whether the ${one} exists. If it does not, nothing was made and you can forget the record.`,
  next: [
    { command: `${list}${whereFlags(context)}`, when: `to see whether the ${one} was made` },
    { command: journalCommand('forget', key, whereFlags(context)), when: 'where it was not' },
  ],
});

/** A payment that got no response, and is refused now: only who paid can tell whether it was taken the first time. */
const refusedPayment = (context: OrderContext, key: string): Advice => ({
  hint: 'Look whether the wallet shows this payment before you order again.',
  next: [
    {
      command: journalCommand('forget', key, whereFlags(context)),
      when: 'once it is certain that nothing was paid',
    },
  ],
});
