import type { Draw } from './draw.ts';
import { wholeCents } from './money.ts';
import type { OrderBody, OrderRecord } from './types.ts';

type Blocks = Pick<OrderRecord, 'payment' | 'connect'>;
type CardPayment = NonNullable<Blocks['payment']>;
type Connect = NonNullable<Blocks['connect']>;

/** The card processor's own charge: 2.9 % and 30 cents. */
const processorFee = (cents: number): number => (cents > 0 ? wholeCents(cents * 0.029) + 30 : 0);

/** The payment blocks of a new order: the ceiling held on the card, nothing taken. All simulated. */
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
    // A percentage is known only once the cost is.
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

/** The blocks once the retailer took the order at `cost` (USD cents). */
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
  const share = ceiling === 0 ? 0 : cost / ceiling;
  const margin = connect.customer_margin ?? wholeCents((connect.secured_amount - ceiling) * share);
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

/** The blocks of an order that came to nothing: a hold is released, a charge refunded. */
export function returnedBlocks(record: OrderRecord, state: 'released' | 'refunded'): Blocks {
  return {
    payment: record.payment && { ...record.payment, state },
    connect: record.connect && { ...record.connect, state },
  };
}
