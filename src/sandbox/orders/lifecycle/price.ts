import type { OrderLine } from './lines.ts';
import { chargedInUsd, paymentCurrency, wholeCents } from './money.ts';
import type { PriceComponents } from './types.ts';

export interface Purchase {
  readonly line: OrderLine;
  readonly quantity: number;
}

/**
 * What the retailers charge for the purchases: in their currency when they share one, else all in USD.
 * No tax is added, so that a ceiling a little over the shown price holds.
 */
export function priceOf(purchases: readonly Purchase[]): PriceComponents {
  const currency = commonCurrency(purchases);
  const inCurrency = (amount: number, from: string) =>
    from === currency ? amount : chargedInUsd(amount, from);
  const cart = purchases.map(({ line: { facts }, quantity }) => {
    const unit_price = inCurrency(facts.priceCents, facts.currency);
    const line_total = wholeCents(unit_price * quantity);
    return { name: facts.title, product_id: facts.productId, quantity, unit_price, line_total };
  });
  const subtotal = sum(cart.map((item) => item.line_total));
  const shipping = shippingOf(purchases, inCurrency);
  const total = sum([subtotal, shipping]);
  return {
    subtotal,
    tax: 0,
    shipping,
    discount: 0,
    fees: 0,
    total,
    converted_payment_total: currency === paymentCurrency ? null : chargedInUsd(total, currency),
    currency,
    payment_currency: paymentCurrency,
    cart_items: cart,
    line_items: [
      ...cart.map(({ name, line_total }) => ({ description: name, amount: line_total, category: 'item' })),
      ...(shipping > 0 ? [{ description: 'Shipping', amount: shipping, category: 'shipping' }] : []),
    ],
    breakdown_recorded: true,
  };
}

/**
 * What is charged, USD cents, and what `max_price` is held against: items, shipping and tax less discount, after
 * conversion. The service's own fee is not part of it.
 */
export const chargedCents = (price: PriceComponents): number => price.converted_payment_total ?? price.total;

const sum = (amounts: readonly number[]): number =>
  wholeCents(amounts.reduce((total, part) => total + part, 0));

function commonCurrency(purchases: readonly Purchase[]): string {
  const currencies = new Set(purchases.map(({ line }) => line.facts.currency));
  const [only] = currencies;
  return only !== undefined && currencies.size === 1 ? only : paymentCurrency;
}

function shippingOf(
  purchases: readonly Purchase[],
  inCurrency: (amount: number, from: string) => number,
): number {
  const highest = new Map<string, number>();
  for (const { line } of purchases) {
    const { retailer, shippingCents = 0, currency } = line.facts;
    highest.set(retailer, Math.max(highest.get(retailer) ?? 0, inCurrency(shippingCents, currency)));
  }
  return sum([...highest.values()]);
}
