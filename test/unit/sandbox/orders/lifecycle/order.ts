import { expect } from 'vitest';
import { checkShape } from '../../../../../src/api/schemas/check.ts';
import { advance, createOrder } from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import type {
  LineFacts,
  NewOrder,
  OrderBody,
  OrderRecord,
  OrderState,
  Step,
} from '../../../../../src/sandbox/orders/lifecycle/types.ts';

export const createdAt = Date.parse('2026-10-09T12:00:00Z');
export const shopUrl = 'http://127.0.0.1:4848/shop';
export const orderId = '6f1c2d3e-0000-4000-8000-000000000001';

export const config = {
  prefix: 'xx',
  trackingUrlBase: 'http://127.0.0.1:4848/track',
  shopUrl,
  orderFeeCents: 100,
};

export const address = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  address_line1: '1 Analytical Way',
  city: 'Austin',
  state: 'TX',
  postal_code: '73301',
  country: 'us',
  phone_number: '+15125550100',
};

export const shop = (slug: string, quantity = 1) => ({ url: `${shopUrl}/${slug}`, quantity });

export const listed: LineFacts = {
  retailer: 'general-store',
  productId: 'B-1',
  title: 'Coffee mug',
  priceCents: 3_000,
  currency: 'USD',
  available: true,
  giftOption: true,
};

/** An order of one listed product at $30 under a $50 ceiling, with the given changes. */
export function newOrder(order: Partial<OrderBody> = {}, rest: Partial<NewOrder> = {}): NewOrder {
  const products = order.products ?? [{ url: 'https://general-store.example/mug', quantity: 1 }];
  const body = { products, shipping_address: address, max_price: 5_000, ...order };
  const checked = checkShape('OrderCreate', body, 'body');
  if (checked.issues) throw new Error(JSON.stringify(checked.issues));
  const lines = products.map(({ url }) => (url.includes('general-store') ? listed : null));
  return { order: checked.value, orderId, createdAt, userNumber: 1001, seed: 7, config, lines, ...rest };
}

export interface Life extends OrderState {
  readonly steps: readonly Step[];
}

/** Runs an order's whole lifecycle, checking every record against the contract. */
export function live(input: NewOrder): Life {
  const state = createOrder(input);
  const life = advance(state, Number.MAX_SAFE_INTEGER);
  for (const record of [state.record, ...life.steps.map((step) => step.record)]) expectContract(record);
  return life;
}

export function expectContract(record: OrderRecord): void {
  expect(checkShape('OrderResponse', record, 'response').issues).toBeUndefined();
}

/** Seconds after creation, for schedules. */
export const seconds = (at: number): number => (at - createdAt) / 1_000;
export const secondsIn = (s: number): number => createdAt + s * 1_000;
