import { chargedInUsd, type OrderLine, paymentCurrency, wholeCents } from './lines.ts';
import type { Draw } from './schedule.ts';
import type { OrderBody, OrderRecord, PriceComponents } from './types.ts';

type Blocks = Pick<OrderRecord, 'payment' | 'connect'>;
type CardPayment = NonNullable<Blocks['payment']>;
type Connect = NonNullable<Blocks['connect']>;

/** The card processor's fee: 2.9 % plus 30 cents. */
const processorFee = (cents: number): number => (cents > 0 ? wholeCents(cents * 0.029) + 30 : 0);

/**
 * Payment blocks of a new order. The ceiling is authorised on the card, and nothing is captured yet. Everything is
 * simulated.
 */
export function securedBlocks(order: OrderBody, orderFeeCents: number, draw: Draw): Blocks {
  const { payment } = order;
  const intent = `pi_sim_${draw.digits('payment intent', 16)}`;
  if (payment?.mode === 'card') {
    const held = order.retailer_credentials_id ? 0 : order.max_price;
    const card: CardPayment = {
      mode: 'card',
      state: 'authorized',
      authorized_cents: wholeCents(held + orderFeeCents),
      fee_cents: orderFeeCents,
      stripe_fee_cents: 0,
      captured_cents: 0,
      payment_method: payment.payment_method ?? null,
      payment_intent_id: intent,
      simulated: true,
    };
    return { payment: card, connect: null };
  }
  if (payment?.mode !== 'connect') return { payment: null, connect: null };
  const { margin } = payment;
  const atCeiling =
    margin?.type === 'percent' ? (order.max_price * margin.value) / 100 : (margin?.value ?? 0);
  const connect: Connect = {
    state: 'secured',
    secured_amount: wholeCents(order.max_price + wholeCents(atCeiling)),
    order_cost: null,
    // The margin is a percentage of the cost, so it is unknown until the cost is known.
    customer_margin: margin?.type === 'percent' ? null : wholeCents(atCeiling),
    stripe_fee: null,
    final_charge: null,
    transfer_amount: null,
    payment_intent_id: intent,
    connected_account_id: `acct_sim_${draw.digits('connected account', 12)}`,
    simulated: true,
  };
  return { payment: null, connect };
}

/** Payment blocks after the retailer accepted the order at `cost` (USD cents). */
export function capturedBlocks(record: OrderRecord, cost: number): Blocks {
  return {
    payment: record.payment && capturedCard(record.payment, record.retailer_credentials_id ? 0 : cost),
    connect: record.connect && capturedConnect(record.connect, record.max_price, cost),
  };
}

function capturedCard(card: CardPayment, cost: number): CardPayment {
  const captured = wholeCents(cost + card.fee_cents);
  return { ...card, state: 'captured', captured_cents: captured, stripe_fee_cents: processorFee(captured) };
}

function capturedConnect(connect: Connect, ceiling: number, cost: number): Connect {
  const ratio = ceiling === 0 ? 0 : cost / ceiling;
  const margin = connect.customer_margin ?? wholeCents((connect.secured_amount - ceiling) * ratio);
  const charge = wholeCents(cost + margin);
  const fee = processorFee(charge);
  return {
    ...connect,
    state: 'captured',
    order_cost: cost,
    customer_margin: margin,
    stripe_fee: fee,
    final_charge: charge,
    transfer_amount: Math.max(0, margin - fee),
  };
}

/** Payment blocks of an unsuccessful order. All holds are released, and all charges are refunded. */
export function returnedBlocks(record: OrderRecord, state: 'released' | 'refunded'): Blocks {
  return {
    payment: record.payment && { ...record.payment, state },
    connect: record.connect && { ...record.connect, state },
  };
}

export interface Purchase {
  readonly line: OrderLine;
  readonly quantity: number;
}

/**
 * The price that the retailers charge. If all retailers share one currency, the price is in that currency, otherwise in
 * USD. No tax is added, so a ceiling slightly above the listed price is enough.
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
 * The charge in USD cents that is compared with `max_price`. It is the sum of items, shipping and tax, minus discount,
 * after conversion. Excludes the service's own fee.
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
