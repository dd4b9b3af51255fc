import { type JsonObject, numberIn, objectsIn, own, textIn } from '../api/json.ts';

/** The amount charged for the goods, in the currency of the charge. */
export function chargeOf(order: unknown): { readonly cents: number; readonly currency: string } | undefined {
  const price = own(own(order, 'job_result'), 'price_components');
  const converted = centsIn(price, 'converted_payment_total');
  if (converted !== undefined)
    return { cents: converted, currency: (textIn(price, 'payment_currency') ?? 'USD').toUpperCase() };
  const total = centsIn(price, 'total');
  return total === undefined
    ? undefined
    : { cents: total, currency: (textIn(price, 'currency') ?? 'USD').toUpperCase() };
}

/** The part of an order's `job_result` that says what it cost and what came back: all that `moneyOf` reads of it. */
export function moneyInResult(result: unknown): JsonObject {
  const price = own(result, 'price_components');
  return {
    refunds: own(result, 'refunds'),
    price_components: {
      converted_payment_total: own(price, 'converted_payment_total'),
      payment_currency: own(price, 'payment_currency'),
      total: own(price, 'total'),
      currency: own(price, 'currency'),
    },
  };
}

/** A part of an order's price, in the retailer's currency. */
export interface PricePart {
  readonly part: string;
  readonly cents: number;
}

/** The parts of a price, which add up to its total. Undefined if the service reports only the total. Pure. */
export function partsOfPrice(order: unknown): readonly PricePart[] | undefined {
  const price = own(own(order, 'job_result'), 'price_components');
  const total = centsIn(price, 'total');
  if (total === undefined || own(price, 'breakdown_recorded') === false) return undefined;
  const amount = (name: string): number => numberIn(price, name) ?? 0;
  const items = cartOf(price);
  const goods = items.reduce((sum, { cents }) => sum + cents, 0);
  const parts = [
    ...(goods === amount('subtotal') ? items : [{ part: 'items', cents: amount('subtotal') }]),
    { part: 'shipping', cents: amount('shipping') },
    { part: 'tax', cents: amount('tax') },
    { part: 'fees of the retailer', cents: amount('fees') },
    { part: 'discount', cents: -Math.abs(amount('discount')) },
  ].filter(({ cents }) => cents !== 0 && Number.isSafeInteger(cents));
  const rest = total - parts.reduce((sum, { cents }) => sum + cents, 0);
  return rest === 0 ? parts : [...parts, { part: 'not itemised', cents: rest }];
}

const cartOf = (price: unknown): PricePart[] =>
  objectsIn(price, 'cart_items').map((item: JsonObject) => ({
    part: `${numberIn(item, 'quantity') ?? 1} x ${textIn(item, 'name') ?? 'item'}`,
    cents: numberIn(item, 'line_total') ?? 0,
  }));

/** An amount that is safe to calculate with. Undefined for any other value. */
export const centsIn = (value: unknown, key: string): number | undefined => {
  const text = textIn(value, key);
  const found = text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : numberIn(value, key);
  return found !== undefined && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
};

/** Parses an amount written as text, as in a payment challenge. */
export const minorUnits = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
