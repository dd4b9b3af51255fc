import { encodeJson } from './canonical-json.ts';
import { billCurrency } from './challenge.ts';
import type { Payment } from './payments.ts';

/**
 * The headers of a response that was paid. They follow from the payment, so that a lost response can be given again.
 * @param more further fields of the receipt.
 */
export function receiptHeaders(
  payment: Payment,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const { method, reference, challengeId, cents, at } = payment;
  const receipt = {
    method,
    reference,
    status: 'success',
    timestamp: new Date(at).toISOString(),
    challengeId,
    amount: String(cents),
    currency: billCurrency,
    simulated: true,
    ...more,
    // No card processor and no ledger took part.
    ...(method !== 'sandbox' && { verified: ['form', 'binding'] }),
  };
  return { 'payment-receipt': encodeJson(receipt), 'cache-control': 'private' };
}
