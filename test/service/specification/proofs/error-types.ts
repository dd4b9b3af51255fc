import { expect } from 'vitest';
import { type ErrorType, errorTypes } from '../../../../src/api/error-types.ts';
import { type Proof, type ProofsOf, proof } from '../proof.ts';
import type { concernRows, errorTypeRows, testSlugRows } from '../rows/errors.ts';
import { expectRefusal, fire, line, ordered, read, second } from '../scenes.ts';

/** Checks that an order of this test product fails with the type, both in the order and in its error details. */
const failsWith = (slug: string, type: ErrorType, more: Record<string, unknown> = {}): Proof =>
  proof(`an order of ${slug} fails with it`, async (it) => {
    const { status, job_result } = await ordered(it, slug, 12 * second, more);
    expect([status, job_result.error_type, job_result.error_details.code]).toEqual([
      'order_failed',
      type,
      type,
    ]);
  });

/** For types the sandbox's shop never produces: triggers the failure and checks that the order carries it. */
const rehearsed = (type: ErrorType): Proof =>
  proof('made to happen, the order fails with it', async (it) => {
    const { id } = await ordered(it, 'test-never');
    await fire(it, 'failed', id, { error_type: type });
    const { status, job_result } = await read(it, `/orders/${id}`);
    expect([status, job_result.success, job_result.error_type]).toEqual(['order_failed', false, type]);
    expect(job_result.error_details).toMatchObject({ code: type, message: expect.any(String) });
    expect(errorTypes[type].hint.length).toBeGreaterThan(0);
  });

export const errorTypeProofs: ProofsOf<typeof errorTypeRows> = {
  'error_type max_price_exceeded': failsWith('test-success', 'max_price_exceeded', { max_price: 100 }),
  'error_type out_of_stock': failsWith('test-out-of-stock', 'out_of_stock'),
  'error_type invalid_variant': failsWith('test-invalid-variant', 'invalid_variant'),
  'error_type shipping_unavailable': failsWith('test-shipping-unavailable', 'shipping_unavailable'),
  'error_type gift_option_unavailable': failsWith('test-gift-unavailable', 'gift_option_unavailable', {
    is_gift: true,
  }),
  'error_type quantity_limit_exceeded': proof('an order over the cap fails with it', async (it) => {
    const products = [line(it, 'test-quantity-limit', 3)];
    const { job_result } = await ordered(it, 'test-success', 12 * second, { products, max_price: 9_000 });
    expect(job_result.error_type).toBe('quantity_limit_exceeded');
  }),
  'error_type order_limit_exceeded': failsWith('test-order-limit', 'order_limit_exceeded'),
  'error_type cart_empty': failsWith('test-out-of-stock', 'cart_empty', {
    fulfillment: { items: 'best_effort' },
  }),
  'error_type login_failed': failsWith('test-login-failed', 'login_failed'),
  'error_type account_locked': failsWith('test-account-locked', 'account_locked'),
  'error_type product_not_found': rehearsed('product_not_found'),
  'error_type product_out_of_stock': rehearsed('product_out_of_stock'),
  'error_type product_unavailable': rehearsed('product_unavailable'),
  'error_type invalid_product_url': rehearsed('invalid_product_url'),
  'error_type product_variant_required': rehearsed('product_variant_required'),
  'error_type product_variant_unavailable': rehearsed('product_variant_unavailable'),
  'error_type product_quantity_unavailable': rehearsed('product_quantity_unavailable'),
  'error_type add_to_cart_failed': rehearsed('add_to_cart_failed'),
  'error_type checkout_blocked': rehearsed('checkout_blocked'),
  'error_type checkout_failed': rehearsed('checkout_failed'),
  'error_type shipping_address_invalid': rehearsed('shipping_address_invalid'),
  'error_type shipping_method_unavailable': rehearsed('shipping_method_unavailable'),
  'error_type payment_declined': rehearsed('payment_declined'),
  'error_type payment_method_invalid': rehearsed('payment_method_invalid'),
  'error_type payment_failed': rehearsed('payment_failed'),
  'error_type session_expired': rehearsed('session_expired'),
  'error_type account_verification_required': rehearsed('account_verification_required'),
  'error_type retailer_unavailable': rehearsed('retailer_unavailable'),
};

const refusedAtCreation = (slug: string, status: number, code: string): Proof =>
  proof('at creation, and there is no order', async (it) => {
    expectRefusal(await it.order(slug), status, code);
    expect((await read(it, '/orders')).total).toBe(0);
  });

export const testSlugProofs: ProofsOf<typeof testSlugRows> = {
  'slug test-success': proof('is placed and delivered', async (it) => {
    const { status, tracking_numbers } = await ordered(it);
    expect([status, tracking_numbers[0].status]).toEqual(['order_placed', 'delivered']);
  }),
  'slug test-price-exceeded': failsWith('test-price-exceeded', 'max_price_exceeded', { max_price: 90_000 }),
  'slug test-out-of-stock': failsWith('test-out-of-stock', 'out_of_stock'),
  'slug test-invalid-variant': failsWith('test-invalid-variant', 'invalid_variant'),
  'slug test-shipping-unavailable': failsWith('test-shipping-unavailable', 'shipping_unavailable'),
  'slug test-invalid-address': refusedAtCreation('test-invalid-address', 400, 'invalid_shipping_address'),
  'slug test-url-unreachable': refusedAtCreation('test-url-unreachable', 400, 'url_unreachable'),
  'slug test-insufficient-funds': refusedAtCreation('test-insufficient-funds', 402, 'insufficient_funds'),
};

export const concernProofs: ProofsOf<typeof concernRows> = {
  'concern gift': proof('comes as a normal order, and says so', async (it) => {
    const more = { is_gift: true, fulfillment: { gift: 'best_effort' } };
    const { status, fulfillment } = await ordered(it, 'test-gift-unavailable', 12 * second, more);
    expect(status).toBe('order_placed');
    expect(fulfillment.concessions).toMatchObject([{ concern: 'gift', code: 'gift_option_unavailable' }]);
  }),
  'concern items': proof('skips what cannot be bought; nothing left is cart_empty', async (it) => {
    const fulfillment = { items: 'best_effort' };
    const products = [line(it, 'test-success'), line(it, 'test-invalid-variant')];
    const order = await ordered(it, 'test-success', 12 * second, { products, fulfillment });
    expect([order.status, order.items[1].status]).toEqual(['order_placed', 'skipped']);
    expect(order.fulfillment.concessions).toMatchObject([{ concern: 'items', code: 'invalid_variant' }]);
    const empty = await ordered(it, 'test-invalid-variant', 12 * second, { fulfillment });
    expect([empty.status, empty.job_result.error_type]).toEqual(['order_failed', 'cart_empty']);
  }),
  'concern quantity': proof('buys the cap, and says how many of how many', async (it) => {
    const products = [line(it, 'test-quantity-limit', 5)];
    const fulfillment = { quantity: 'best_effort' };
    const order = await ordered(it, 'test-success', 12 * second, { products, fulfillment, max_price: 9_000 });
    expect(order.status).toBe('order_placed');
    expect(order.fulfillment.concessions).toMatchObject([
      { code: 'quantity_limit_exceeded', requested_quantity: 5, fulfilled_quantity: 2 },
    ]);
  }),
};
