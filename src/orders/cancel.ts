import { ErrandError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import { audited } from './audited.ts';

/**
 * Cancels an order, with audit records. Also succeeds if the order is already cancelled, or if the response is lost but
 * the order turns out to be cancelled. @param note is called with how that was found out. @returns whether the order
 * was cancelled before.
 * @throws ErrandError order_not_cancellable if the order was already processed.
 */
export async function cancelOrder(
  context: OrderContext,
  id: string,
  note: (line: string) => void = context.note,
): Promise<boolean> {
  const { profile, baseUrl } = context.settings;
  const subject = { profile: profile.value, service: baseUrl.value, orderId: id };
  return audited(
    context,
    (detail) => ({ kind: 'cancellation', ...subject, detail }),
    () => cancel(context, id, note),
  );
}

async function cancel(context: OrderContext, id: string, note: (line: string) => void): Promise<boolean> {
  const client = await context.client();
  try {
    await client.call('order.cancel', { path: { order_id: id } });
    return false;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const isUnsure = error.facts.code === 'order_not_cancellable' || error.facts.outcome === 'unknown';
    if (!isUnsure || context.signal.aborted) throw error;
    const { body: order } = await client.call('order.get', { path: { order_id: id } }).catch(() => {
      // Throw the error of the cancellation rather than that of the lookup.
      throw error;
    });
    if (order.status !== 'cancelled') throw error;
    const isLost = error.facts.outcome === 'unknown';
    note(`${id} is cancelled${isLost ? '; the response had been lost' : ' already'}`);
    return !isLost;
  }
}
