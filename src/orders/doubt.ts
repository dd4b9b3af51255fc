import { InDoubtError, PaymentRequiredError, UnpaidOrderError } from '../http/errors.ts';
import { journalCommand } from '../journal/journal-command.ts';
import type { Intent } from '../journal/journal-record.ts';
import { type ErrandError, type ErrorFacts, stopOf } from '../platform/errors.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import { noteInDoubt } from './audited.ts';
import { labelsOf, type ResourceLabels } from './submit/intent.ts';

/**
 * Whether the failure of a first send proves that no order exists. It does if the request was never sent, or if the
 * service refused the request.
 */
export const isCertain = ({ facts: { outcome } }: ErrandError): boolean =>
  outcome === 'not_sent' || outcome === 'rejected';

/** `again` if an earlier attempt with the same key may have reached the service, else `first`. */
export type Sending = 'first' | 'again';

/**
 * The error for a request that may have taken effect. If the request was interrupted, the exit code is that of the
 * interruption, otherwise 10.
 */
function inDoubt(
  context: OrderContext,
  error: ErrandError,
  { key, operation }: Pick<Intent, 'key' | 'operation'>,
  sending: Sending,
): InDoubtError {
  const labels = labelsOf(operation);
  const isPaymentRefused = error instanceof PaymentRequiredError;
  const isRefusedNow = sending === 'again' && error.facts.outcome === 'rejected';
  const how = isPaymentRefused
    ? `the ${labels.one} was sent, and its payment is refused now`
    : isRefusedNow
      ? `the ${labels.one} may have been made by an earlier attempt, and is refused now`
      : `the ${labels.one} was sent, but its outcome is unknown`;
  const facts = {
    ...error.facts,
    retryable: true,
    idempotencyKey: key,
    cause: error,
    ...(isPaymentRefused
      ? refusedPayment(context, key)
      : isRefusedNow
        ? error instanceof UnpaidOrderError
          ? payFirst(context, key, error)
          : refusedNow(context, key, labels, error)
        : noResponse(context, key, operation)),
  };
  return new InDoubtError(`in doubt: ${how} (${error.message})`, facts, stopOf(error));
}

/** Same as `inDoubt`, but also writes the audit record. */
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

/** Hints by operation. All other operations get `orderAgain`. */
const hints: Readonly<Record<string, string>> = {
  'bulk.create':
    'It is safe to resume or to upload the same file again: each row has a key, so you get one order per row.',
  'return.create': 'It is safe to resume or to run the same command again: you get one return.',
};

/** Advice on repeating an operation that is in doubt. */
export const hintInDoubt = (operation: string): string =>
  (Object.hasOwn(hints, operation) ? hints[operation] : undefined) ?? orderAgain;

const noResponse = (context: OrderContext, key: string, operation: string): Advice => ({
  hint: hintInDoubt(operation),
  next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
});

/**
 * Advice for a retry that is refused although an earlier attempt may have succeeded. The user should check whether the
 * list has the result.
 */
const refusedNow = (
  context: OrderContext,
  key: string,
  { one, list }: ResourceLabels,
  { category }: ErrandError,
): Advice => ({
  hint: `Check whether the ${one} exists. If it does not, or if it has failed or was cancelled, you can forget the record.${
    category === 'not_found'
      ? ' A reference that another account uses too needs a --namespace of its own.'
      : ''
  }`,
  next: [
    { command: `${list}${whereFlags(context)}`, when: `to see whether the ${one} was made` },
    { command: journalCommand('forget', key, whereFlags(context)), when: 'where it was not' },
  ],
});

/** Advice for a retry that the service takes only once the order is paid for. */
const payFirst = (context: OrderContext, key: string, { facts, page }: UnpaidOrderError): Advice => ({
  hint: facts.hint,
  next: [
    {
      command: journalCommand('resume', key, whereFlags(context)),
      when: `once it is paid for${page ? ` at ${page.href}` : ''}: it sends the same key`,
    },
  ],
});

/**
 * Advice for a payment that is refused now, after an earlier attempt got no response. Only the payer can tell whether
 * the money was taken.
 */
const refusedPayment = (context: OrderContext, key: string): Advice => ({
  hint: 'Look whether the wallet shows this payment before you order again.',
  next: [
    {
      command: journalCommand('forget', key, whereFlags(context)),
      when: 'once it is certain that nothing was paid',
    },
  ],
});
