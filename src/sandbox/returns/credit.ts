import { payerOf } from '../lifecycle/consequences.ts';
import type { OrderRecord } from '../lifecycle/index.ts';
import { chargedCents } from '../lifecycle/price.ts';
import type { ReturnRecord } from './types.ts';

type Units = ReturnRecord['items'];

/** How many of an item were bought: fewer than were asked for where the quantity was relaxed. */
export function boughtQuantity(order: OrderRecord, item: OrderRecord['items'][number]): number {
  const conceded = order.fulfillment?.concessions.find(
    ({ concern, item_id }) => concern === 'quantity' && item_id === item.id,
  );
  return conceded?.fulfilled_quantity ?? item.quantity;
}

/**
 * What the items cost the wallet, cents: their share of all that was charged, shipping and conversion included, so
 * that the shares of a whole order add up to its charge. 0 where something else than the wallet paid.
 * @param before what earlier returns of the order took.
 */
export function creditFor(order: OrderRecord, items: Units, before: readonly Units[]): number {
  const price = order.job_result?.price_components;
  if (!price || payerOf(order) !== 'wallet' || price.subtotal <= 0) return 0;
  const goodsBefore = before.reduce((sum, units) => sum + goodsOf(order, units), 0);
  const charged = (goods: number): number =>
    Math.round(chargedCents(price) * Math.min(1, goods / price.subtotal));
  return charged(goodsBefore + goodsOf(order, items)) - charged(goodsBefore);
}

function goodsOf(order: OrderRecord, units: Units): number {
  const cart = order.job_result?.price_components?.cart_items ?? [];
  // The cart has one line for each item that was bought, in their order.
  const bought = order.items.filter(({ status }) => status !== 'skipped');
  return units.reduce((sum, { order_item_id, quantity }) => {
    const line = cart[bought.findIndex(({ id }) => id === order_item_id)];
    return sum + (line?.unit_price ?? 0) * quantity;
  }, 0);
}
