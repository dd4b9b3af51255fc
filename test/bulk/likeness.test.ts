import { describe, expect, test } from 'vitest';
import { likeliest, likenessOf, type MappedColumn } from '../../src/bulk/mapping/likeness.ts';

const pick = (column: MappedColumn, headings: readonly string[]): string | undefined =>
  headings[likeliest(column, headings, () => true) ?? -1];

describe('the heading that looks most like a column', () => {
  test.each<[MappedColumn, readonly string[], string | undefined]>([
    ['postal_code', ['Bill To Zip', 'Ship To City', 'Ship To Zip'], 'Ship To Zip'],
    ['postal_code', ['ShipPostalCode', 'note'], 'ShipPostalCode'],
    ['postal_code', ['Seller Zip', 'Billing Zip'], undefined],
    ['name', ['Product Name', 'Company Name', 'Recipient Name'], 'Recipient Name'],
    ['name', ['Item', 'Ship To', 'Ship To City'], 'Ship To'],
    ['name', ['File Name', 'First Name'], undefined],
    ['first_name', ['Ship Last Name', 'ShipFirstName'], 'ShipFirstName'],
    ['address_line1', ['Email Address', 'IP Address', 'Ship Address 2', 'Ship Address 1'], 'Ship Address 1'],
    ['address_line1', ['Address2', 'Street'], 'Street'],
    ['address_line2', ['Delivery Address Line 1', 'Delivery Address Line 2'], 'Delivery Address Line 2'],
    ['product_url', ['Image URL', 'Tracking Link', 'Supplier note', 'Item Link'], 'Item Link'],
    ['max_price', ['Retail Price', 'Shipping', 'Price Limit'], 'Price Limit'],
    ['max_price', ['Retail Price', 'Total'], undefined],
    ['state', ['Order Status', 'Payment State', 'Delivery State'], 'Delivery State'],
    ['phone_number', ['Tel.', 'Fax'], 'Tel.'],
    ['quantity', ['Qty Ordered', 'SKU'], 'Qty Ordered'],
    ['country', ['', 'Land'], undefined],
  ])('%s among %j is %j', (column, headings, wanted) => {
    expect(pick(column, headings)).toBe(wanted);
  });

  test('is none that was chosen before', () => {
    expect(likeliest('city', ['City', 'Town'], (index) => index !== 0)).toBe(1);
  });

  test('is found quickly in a heading of any length', () => {
    const before = performance.now();
    for (const text of ['aA'.repeat(500_000), 'a1'.repeat(500_000), ' '.repeat(1_000_000)])
      expect(likenessOf('city', text)).toBe(0);
    expect(performance.now() - before).toBeLessThan(500);
  });
});
