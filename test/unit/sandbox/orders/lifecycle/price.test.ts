import { describe, expect, it } from 'vitest';
import type { LineFacts, NewOrder, OrderBody } from '../../../../../src/sandbox/orders/lifecycle/types.ts';
import { listed, live, newOrder } from './order.ts';

const url = 'https://general-store.example/mug';
const priced = (order: Partial<OrderBody>, lines: (LineFacts | null)[], rest: Partial<NewOrder> = {}) => {
  const { record, steps } = live(newOrder(order, { lines, ...rest }));
  return { record, price: record.job_result?.price_components, ledger: steps.flatMap((step) => step.ledger) };
};

describe('the ceiling', () => {
  it('holds at exactly the total, shipping included, and not a cent below', () => {
    const line = { ...listed, shippingCents: 499 };
    expect(priced({ max_price: 3_499 }, [line]).record.status).toBe('order_placed');
    const { record, ledger } = priced({ max_price: 3_498 }, [line]);
    expect(record.job_result?.error_details?.field_errors[0]).toMatchObject({
      field: 'max_price',
      received: 3_498,
      expected: '3499',
    });
    expect(record.items[0]?.error_type).toBe('max_price_exceeded');
    expect(ledger).toEqual([]);
  });

  it('counts the quantity, and shipping once for a retailer', () => {
    const products = [
      { url, quantity: 2 },
      { url, quantity: 1 },
    ];
    const lines = [
      { ...listed, shippingCents: 300 },
      { ...listed, priceCents: 500, shippingCents: 400 },
    ];
    const { price } = priced({ products, max_price: 100_000 }, lines);
    expect([price?.subtotal, price?.shipping, price?.total]).toEqual([6_500, 400, 6_900]);
    expect(price?.line_items?.reduce((sum, { amount }) => sum + amount, 0)).toBe(6_900);
  });

  it('leaves the service fee out', () => {
    expect(priced({ max_price: 3_000 }, [listed]).record.status).toBe('order_placed');
  });
});

describe('another currency', () => {
  const euro = { ...listed, currency: 'EUR', priceCents: 2_000 };

  it('is priced in its own and charged in USD with the conversion markup', () => {
    const { price, ledger } = priced({}, [euro]);
    expect(price).toMatchObject({
      total: 2_000,
      currency: 'EUR',
      payment_currency: 'USD',
      converted_payment_total: 2_224,
    });
    expect(ledger).toEqual([{ reason: 'purchase', payer: 'wallet', cents: 2_224 }]);
  });

  it('is held against the ceiling after conversion', () => {
    expect(priced({ max_price: 2_224 }, [euro]).record.status).toBe('order_placed');
    expect(priced({ max_price: 2_223 }, [euro]).record.status).toBe('order_failed');
  });

  it('is converted line by line in an order of several currencies', () => {
    const { price } = priced(
      {
        products: [
          { url, quantity: 1 },
          { url, quantity: 1 },
        ],
        max_price: 9_000,
      },
      [euro, listed],
    );
    expect(price).toMatchObject({ total: 5_224, currency: 'USD', converted_payment_total: null });
  });
});

describe('a product that no catalogue lists', () => {
  it.each([0, 1, 50, 5_000, 10_000_000])('succeeds within a ceiling of %i cents', (max_price) => {
    const products = [
      { url: 'https://elsewhere.example/p/1', quantity: 3 },
      { url: 'https://elsewhere.example', quantity: 1 },
    ];
    const { record, ledger } = priced({ products, max_price }, [null, null]);
    expect(record.status).toBe('order_placed');
    expect(ledger[0]?.cents).toBeLessThanOrEqual(max_price);
  });

  it('leaves something of a usual ceiling to give back, and costs more than nothing', () => {
    const { price } = priced({ products: [{ url: 'https://elsewhere.example/p/1', quantity: 1 }] }, [null]);
    expect(price?.total).toBeGreaterThanOrEqual(500);
    expect(price?.total).toBeLessThan(5_000);
  });

  it('shares what a listed line leaves', () => {
    const products = [
      { url, quantity: 1 },
      { url: 'https://elsewhere.example/p/1', quantity: 2 },
    ];
    expect(priced({ products, max_price: 3_100 }, [listed, null]).record.status).toBe('order_placed');
  });
});

describe('who pays', () => {
  it.each([
    ['wallet', {}],
    ['retailer_account', { retailer_credentials_id: 'xx_acct_1' }],
    ['card', { payment: { mode: 'card' } }],
    ['connect', { payment: { mode: 'connect' } }],
  ] as const)('%s', (payer, order) => {
    expect(priced(order, [listed]).ledger).toEqual([{ reason: 'purchase', payer, cents: 3_000 }]);
  });

  it('a card is held to the ceiling and the fee, charged the price and the fee', () => {
    const { record } = priced({ payment: { mode: 'card', payment_method: 'pm_1' } }, [listed]);
    expect(record.payment).toMatchObject({
      state: 'captured',
      authorized_cents: 5_100,
      captured_cents: 3_100,
      payment_method: 'pm_1',
      simulated: true,
    });
  });

  it('a hold is released when the order fails and a charge refunded when the retailer cancels', () => {
    const shop = (slug: string) => [{ url: `http://localhost:1/shop/${slug}`, quantity: 1 }];
    const state = (slug: string, mode: 'card' | 'connect') => {
      const { record } = priced({ products: shop(slug), payment: { mode } }, [null]);
      return record.payment?.state ?? record.connect?.state;
    };
    expect(state('test-out-of-stock', 'card')).toBe('released');
    expect(state('test-out-of-stock', 'connect')).toBe('released');
    expect(state('test-cancelled-by-retailer', 'card')).toBe('refunded');
    expect(state('test-cancelled-by-retailer', 'connect')).toBe('refunded');
  });

  it('a connected customer pays the cost and the margin, flat or in percent', () => {
    const connect = (margin: { type: 'flat' | 'percent'; value: number }) =>
      priced({ payment: { mode: 'connect', margin } }, [listed]).record.connect;
    expect(connect({ type: 'flat', value: 700 })).toMatchObject({
      secured_amount: 5_700,
      order_cost: 3_000,
      customer_margin: 700,
      final_charge: 3_700,
    });
    expect(connect({ type: 'percent', value: 10 })).toMatchObject({
      secured_amount: 5_500,
      customer_margin: 300,
      final_charge: 3_300,
      stripe_fee: 126,
      transfer_amount: 174,
    });
  });
});
