import { numberIn, objectsIn, own, textIn } from '../api/json.ts';
import { formatMoney } from '../format/money.ts';
import { moneyOf } from '../spending/money-of-order.ts';
import { centsIn, chargeOf } from '../spending/price-of-order.ts';
import type { OrderRecord } from './order-record.ts';

/** Cost of returned units, as their share of what was charged for the order. */
interface ReturnedAmount {
  readonly currency: string;
  /** Cents. */
  readonly total: number;
  /**
   * Price of the units alone, in cents; undefined if the order was charged in another currency than the one it is
   * priced in.
   */
  readonly items: number | undefined;
}

type Units = readonly { readonly order_item_id?: unknown; readonly quantity?: unknown }[];

/**
 * Cost of some units of an order, including their share of shipping, tax and discount. Undefined if the order's record
 * does not give a price for each line, or if the order was not paid for from the wallet.
 */
export function amountOf(order: OrderRecord, units: Units): ReturnedAmount | undefined {
  const price = own(own(order, 'job_result'), 'price_components');
  const charge = chargeOf(order);
  const subtotal = centsIn(price, 'subtotal');
  const bought = objectsIn(order, 'items').filter(({ status }) => status !== 'skipped');
  const cart = objectsIn(price, 'cart_items');
  if (!charge || !subtotal || cart.length !== bought.length) return undefined;
  if (moneyOf(order, { feeCents: 0 }).payer !== 'wallet') return undefined;
  let items = 0;
  for (const { order_item_id, quantity } of units) {
    const each = centsIn(cart[bought.findIndex(({ id }) => id === order_item_id)], 'unit_price');
    if (each === undefined || typeof quantity !== 'number') return undefined;
    items += each * quantity;
  }
  const isSame = charge.currency === (textIn(price, 'currency') ?? 'USD').toUpperCase();
  return {
    currency: charge.currency,
    total: Math.round(charge.cents * Math.min(1, items / subtotal)),
    items: isSame ? items : undefined,
  };
}

/** `$30.15: $28.49 for the items, $1.66 of shipping and tax`. */
export function amountText({ total, items, currency }: ReturnedAmount): string {
  const whole = formatMoney(total, currency);
  if (items === undefined || items === total) return whole;
  const rest = total - items;
  return rest > 0
    ? `${whole}: ${formatMoney(items, currency)} for the items, ${formatMoney(rest, currency)} of shipping and tax`
    : `${whole}: ${formatMoney(items, currency)} for the items, less ${formatMoney(-rest, currency)} of discount`;
}

/** Explains the amount credited for a return; undefined if nothing was credited. */
export function creditText(order: OrderRecord, record: object): string | undefined {
  const credited = numberIn(record, 'credited_amount');
  if (credited === undefined || credited <= 0) return undefined;
  const expected = amountOf(order, objectsIn(record, 'items'));
  const fee = 'the fee of the order is not credited';
  if (!expected) return `credited ${formatMoney(credited)}; ${fee}`;
  return expected.total === credited
    ? `credited ${amountText(expected)}; ${fee}`
    : `credited ${formatMoney(credited)}, where these units cost ${amountText(expected)}; ${fee}`;
}
