import type { Call } from '../server/handler.ts';
import type { Service } from '../service.ts';
import { insertPayment, paymentBy } from './payments.ts';
import { receiptHeaders } from './receipt.ts';
import { openTill, type PaidOperation, verified } from './till.ts';

/**
 * Demands the price of a data call. The function given back takes the payment, once there is data for it, and
 * gives the headers of that response. @throws Refusal 402, both: of two calls with one credential one succeeds.
 */
export async function demandPayment<N extends PaidOperation>(
  service: Service,
  operation: N,
  { request, query, now }: Pick<Call<N>, 'request' | 'query' | 'now'>,
): Promise<() => Promise<Record<string, string>>> {
  const { store } = service;
  const till = await openTill(service, { operation, request, query, now }, 0);
  const payment = await verified(service, till, now);
  return () =>
    store.transaction(() => {
      if (paymentBy(store, payment.challengeId))
        throw till.refusal('invalid-challenge', 'The challenge has been paid with already.');
      insertPayment(store, payment);
      return receiptHeaders(payment);
    });
}
