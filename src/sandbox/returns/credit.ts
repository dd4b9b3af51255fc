import { payerOf } from '../orders/lifecycle/advance.ts';
import type { OrderRecord } from '../orders/lifecycle/index.ts';
import { chargedCents } from '../orders/lifecycle/payment.ts';
import type { ReturnRecord } from './types.ts';

type Units = ReturnRecord['items'];

/** How many of an item were bought: fewer than were ordered where the quantity was relaxed. */
export function boughtQuantity(order: OrderRecord, item: OrderRecord['items'][number]): number {
  const conceded = order.fulfillment?.concessions.find(
    ({ concern, item_id }) => concern === 'quantity' && item_id === item.id,
  );
  return conceded?.fulfilled_quantity ?? item.quantity;
}

/**
 * What the items cost the wallet, cents: their share of all that was charged, shipping and conversion included, so
 * that the shares of a whole order add up to its charge, whichever are returned first and whichever are denied.
 * 0 where something else than the wallet paid.
 * @param before what earlier returns of the order took.
 */
export function creditFor(order: OrderRecord, items: Units, before: readonly Units[]): number {
  const price = order.job_result?.price_components;
  if (!price || payerOf(order) !== 'wallet' || price.subtotal <= 0) return 0;
  const charged = (goods: number): number =>
    Math.round(chargedCents(price) * Math.min(1, goods / price.subtotal));
  return items.reduce((sum, { order_item_id: id, quantity }) => {
    const { start, unitPrice } = placeInCart(order, id);
    // Each unit has a place of its own in the cart: a share that is rounded is rounded once.
    const from = start + unitsOf(before.flat(), id) * unitPrice;
    return sum + charged(from + quantity * unitPrice) - charged(from);
  }, 0);
}

const unitsOf = (units: Units, id: string): number =>
  units.reduce((sum, { order_item_id, quantity }) => sum + (order_item_id === id ? quantity : 0), 0);

/** What the lines before an item come to, and one unit of it, in minor units of the order's currency. */
function placeInCart(order: OrderRecord, id: string): { start: number; unitPrice: number } {
  const cart = order.job_result?.price_components?.cart_items ?? [];
  // The cart has one line for each item that was bought, in their order.
  const index = order.items.filter(({ status }) => status !== 'skipped').findIndex((item) => item.id === id);
  const start = cart.slice(0, Math.max(0, index)).reduce((sum, line) => sum + line.line_total, 0);
  return { start, unitPrice: cart[index]?.unit_price ?? 0 };
}
