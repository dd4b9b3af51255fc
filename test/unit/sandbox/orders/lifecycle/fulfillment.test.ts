import { describe, expect, it } from 'vitest';
import type { OrderBody } from '../../../../../src/sandbox/orders/lifecycle/types.ts';
import { listed, live, newOrder, shop } from './order.ts';

const items = { items: 'best_effort' } as const;
const gift = { gift: 'best_effort' } as const;
const quantity = { quantity: 'best_effort' } as const;

const outcome = (order: Partial<OrderBody>) => {
  const { record, steps } = live(newOrder(order));
  return {
    status: record.status,
    error: record.job_result?.error_type ?? null,
    items: record.items.map(({ status, error_type }) => [status, error_type]),
    concessions: (record.fulfillment?.concessions ?? []).map((concession) => [
      concession.concern,
      concession.code,
      concession.requested_quantity,
      concession.fulfilled_quantity,
    ]),
    charged: steps.flatMap(({ ledger }) => ledger).reduce((sum, { cents }) => sum + cents, 0),
  };
};

describe('a strict order', () => {
  it('fails whole with the error of its one bad line, and names only that line', () => {
    const { record } = live(newOrder({ products: [shop('test-success'), shop('test-out-of-stock')] }));
    expect(record.status).toBe('order_failed');
    expect(record.items.map(({ status, error_type }) => [status, error_type])).toEqual([
      ['cancelled', null],
      ['failed', 'out_of_stock'],
    ]);
    expect(record.items[0]?.cancellation_reason).toBe('Another line of the order was refused.');
    expect(
      record.job_result?.error_details?.line_rejections.map(({ item_id, code }) => [item_id, code]),
    ).toEqual([[record.items[1]?.id, 'out_of_stock']]);
  });

  it('lists every rejected line with its own code and takes the first as the error of the order', () => {
    const { record } = live(
      newOrder({ products: [shop('test-invalid-variant'), shop('test-out-of-stock')] }),
    );
    expect(record.job_result?.error_type).toBe('invalid_variant');
    expect(record.items.map(({ error_type }) => error_type)).toEqual(['invalid_variant', 'out_of_stock']);
    expect(record.job_result?.error_details?.line_rejections).toHaveLength(2);
  });

  it('names no line when the whole order fails', () => {
    const { record } = live(newOrder({ products: [shop('test-order-limit'), shop('test-success')] }));
    expect(record.job_result?.error_details?.line_rejections).toEqual([]);
    expect(record.items.map(({ status, error_type }) => [status, error_type])).toEqual([
      ['failed', null],
      ['failed', null],
    ]);
  });

  it('reports line rejections only for the retailer that does', () => {
    const { record } = live(newOrder({}, { lines: [{ ...listed, available: false }] }));
    expect(record.job_result?.error_type).toBe('out_of_stock');
    expect(record.job_result?.error_details?.line_rejections).toEqual([]);
  });
});

describe('the items concern', () => {
  it('skips the bad line and ships the rest', () => {
    expect(
      outcome({ products: [shop('test-out-of-stock'), shop('test-success')], fulfillment: items }),
    ).toEqual({
      status: 'order_placed',
      error: null,
      items: [
        ['skipped', 'out_of_stock'],
        ['delivered', null],
      ],
      concessions: [['items', 'out_of_stock', null, null]],
      charged: 1_999,
    });
  });

  it('fails as cart_empty when every line is skipped', () => {
    const products = [shop('test-out-of-stock'), shop('test-invalid-variant')];
    expect(outcome({ products, fulfillment: items })).toEqual({
      status: 'order_failed',
      error: 'cart_empty',
      items: [
        ['skipped', 'out_of_stock'],
        ['skipped', 'invalid_variant'],
      ],
      concessions: [
        ['items', 'out_of_stock', null, null],
        ['items', 'invalid_variant', null, null],
      ],
      charged: 0,
    });
  });

  it.each([
    ['test-price-exceeded', 'max_price_exceeded'],
    ['test-order-limit', 'order_limit_exceeded'],
    ['test-shipping-unavailable', 'shipping_unavailable'],
    ['test-login-failed', 'login_failed'],
  ])('does not relax %s', (slug, code) => {
    const all = { ...items, ...gift, ...quantity };
    const { status, error, concessions } = outcome({
      products: [shop(slug), shop('test-success')],
      max_price: 100_000,
      is_gift: true,
      fulfillment: all,
    });
    expect([status, error, concessions]).toEqual(['order_failed', code, []]);
  });

  it('leaves a skipped line skipped when the retailer cancels the rest', () => {
    const products = [shop('test-out-of-stock'), shop('test-cancelled-by-retailer')];
    const { record } = live(newOrder({ products, fulfillment: items }));
    expect(record.items.map(({ status }) => status)).toEqual(['skipped', 'cancelled']);
  });
});

describe('the quantity concern', () => {
  it('buys the cap and reports both counts', () => {
    const { charged, concessions, status } = outcome({
      products: [shop('test-quantity-limit', 5)],
      fulfillment: quantity,
    });
    expect([status, charged, concessions]).toEqual([
      'order_placed',
      2 * 1_999,
      [['quantity', 'quantity_limit_exceeded', 5, 2]],
    ]);
  });

  it('is not replaced by the items concern', () => {
    const { error } = outcome({ products: [shop('test-quantity-limit', 5)], fulfillment: items });
    expect(error).toBe('quantity_limit_exceeded');
  });
});

describe('the gift concern', () => {
  it('sends a normal order and reports the substitution', () => {
    const { status, concessions } = outcome({
      products: [shop('test-gift-unavailable')],
      is_gift: true,
      gift_message: 'Many happy returns',
      fulfillment: gift,
    });
    expect([status, concessions]).toEqual([
      'order_placed',
      [['gift', 'gift_option_unavailable', null, null]],
    ]);
  });

  it('is not needed where the retailer has a gift option', () => {
    expect(outcome({ is_gift: true, fulfillment: gift }).concessions).toEqual([]);
  });
});

describe('what the catalogue knows of a line', () => {
  const error = (facts: object, product: object = {}, order: Partial<OrderBody> = {}) => {
    const products = [{ url: 'https://general-store.example/mug', quantity: 1, ...product }];
    const { record } = live(newOrder({ products, ...order }, { lines: [{ ...listed, ...facts }] }));
    return record.job_result?.error_type;
  };
  const options = { Size: ['S', 'M'] };

  it('decides on variants, conditions and handling time', () => {
    expect(error({ options }, { variant: [{ label: 'Size', value: 'M' }] })).toBeNull();
    expect(error({ options }, { variant: [{ label: 'Size', value: 'XXL' }] })).toBe('invalid_variant');
    expect(error({ options }, { variant: [{ label: 'Colour', value: 'M' }] })).toBe('invalid_variant');
    expect(error({ conditions: ['New'] }, { condition_in: ['New', 'Refurbished'] })).toBeNull();
    expect(error({ conditions: ['UsedGood'] }, { condition_in: ['New'] })).toBe('product_unavailable');
    expect(error({ conditions: ['UsedGood'] }, { condition_not_in: ['UsedGood'] })).toBe(
      'product_unavailable',
    );
    expect(error({ handlingDays: 4 }, {}, { handling_days_max: 4 })).toBeNull();
    expect(error({ handlingDays: 4 }, {}, { handling_days_max: 3 })).toBe('shipping_method_unavailable');
  });

  it('names the field that would have to change', () => {
    const products = [{ url: 'https://general-store.example/mug', quantity: 4 }];
    const { record } = live(newOrder({ products }, { lines: [{ ...listed, quantityCap: 2 }] }));
    expect(record.job_result?.error_details?.field_errors).toEqual([
      {
        field: 'products.0.quantity',
        code: 'quantity_limit_exceeded',
        message: 'The retailer does not sell that many of this item.',
        received: 4,
        expected: '2',
      },
    ]);
  });

  it('fails an order whose managed account cannot be used', () => {
    const { record } = live(newOrder({}, { accountError: 'login_failed' }));
    expect([record.status, record.job_result?.error_type]).toEqual(['order_failed', 'login_failed']);
  });
});
