import type { Operation } from '../api/operation.ts';
import { operations } from '../api/operations/index.ts';
import { type Intent, type PaymentNote, paidAccount } from '../journal/journal-record.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { JournaledOperation } from './order-record.ts';

type Given = Pick<Intent, 'key' | 'keyOrigin' | 'body'>;

/** An intent whose operation is known, and with it what the intent leads to. */
export type IntentOf<N extends JournaledOperation> = Intent & { readonly operation: N };

/** What is about to be requested with the key in use, as the journal keeps it. */
export async function intentOf<N extends JournaledOperation>(
  context: OrderContext,
  operation: N,
  given: Given,
): Promise<IntentOf<N>> {
  const { surface }: Operation = operations[operation];
  const { profile, baseUrl, legacyBaseUrl } = context.settings;
  return {
    ...given,
    ...(await context.sender(surface)),
    operation,
    profile: profile.value,
    baseUrl: (surface === 'legacy' ? legacyBaseUrl : baseUrl).value,
  };
}

/** The operation of intents that are paid by challenge. */
export const paidOperation = 'agent.order.create';

/** Who sends an operation with the key in use; what is paid by challenge needs none. */
export async function senderOf(
  context: OrderContext,
  operation: string,
): Promise<Pick<Intent, 'keyMasked' | 'account'>> {
  if (operation === paidOperation) return { keyMasked: 'payment', account: paidAccount };
  return context.sender(operation === 'legacy.retry' ? 'legacy' : 'current');
}

/** The same of an order that is paid by challenge, before it is known how. */
export const paidIntent = ({ settings }: OrderContext, given: Given): IntentOf<typeof paidOperation> => ({
  ...given,
  operation: paidOperation,
  profile: settings.profile.value,
  baseUrl: settings.baseUrl.value,
  keyMasked: 'payment',
  account: paidAccount,
});

export const paidBy = (payment: PaymentNote): Pick<Intent, 'keyMasked' | 'payment'> => ({
  keyMasked: `payment by ${payment.method}`,
  payment,
});
