import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import { audited } from './audited.ts';

/**
 * Cancels an order, with audit records. Also succeeds if the order is already cancelled, or if the response is lost but
 * the order turns out to be cancelled.
 * @throws ErrandError order_not_cancellable if the order was already processed.
 */
export async function cancelOrder(context: OrderContext, id: string): Promise<void> {
  const { profile, baseUrl } = context.settings;
  const subject = { profile: profile.value, service: baseUrl.value, orderId: id };
  await audited(
    context,
    (detail) => ({ kind: 'cancellation', ...subject, detail }),
    () => cancel(context, id),
  );
}

async function cancel(context: OrderContext, id: string): Promise<void> {
  const client = await context.client();
  try {
    await client.call('order.cancel', { path: { order_id: id } });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const isUnsure = error.facts.code === 'order_not_cancellable' || error.facts.outcome === 'unknown';
    if (!isUnsure || context.signal.aborted) throw error;
    const { body: order } = await client.call('order.get', { path: { order_id: id } }).catch(() => {
      // Throw the error of the cancellation rather than that of the lookup.
      throw error;
    });
    if (order.status !== 'cancelled') throw error;
    context.note(
      `${id} is cancelled${error.facts.outcome === 'unknown' ? '; the response had been lost' : ' already'}`,
    );
  }
}
