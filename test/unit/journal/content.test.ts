import { describe, expect, test } from 'vitest';
import { contentHash } from '../../../src/journal/content.ts';
import { address } from '../../support/order-body.ts';

const order = {
  products: [
    { url: 'https://shop.example/p/1', quantity: 1 },
    { url: 'https://shop.example/p/2', quantity: 2 },
  ],
  max_price: 5000,
  shipping_address: address,
};
const hash = (change: object) => contentHash('order.create', { ...order, ...change });

describe('the content of an order is the same', () => {
  test.each<[string, object]>([
    ['with another key', { idempotency_key: 'k2' }],
    ['with the country in small letters', { shipping_address: { ...address, country: 'us' } }],
    [
      'with other spaces and capitals in the address',
      { shipping_address: { ...address, city: ' AUSTIN ', address_line1: '1  main st' } },
    ],
    [
      'with absent fields written out',
      {
        po_number: null,
        is_gift: false,
        metadata: {},
        fulfillment: { gift: null },
        shipping_address: { ...address, address_line2: '' },
      },
    ],
    ['with the wallet named', { payment: { mode: 'wallet' } }],
    ['with the quantity left out', { products: [{ url: 'https://shop.example/p/1' }, order.products[1]] }],
    ['with its lines in another order', { products: order.products.toReversed() }],
    [
      'with the host in capitals',
      { products: [{ url: 'https://SHOP.example/p/1', quantity: 1 }, order.products[1]] },
    ],
  ])('%s', (_, change) => {
    expect(hash(change)).toBe(hash({}));
  });
});

describe('the content of an order is another', () => {
  test.each<[string, object]>([
    ['with another ceiling', { max_price: 5001 }],
    ['with another quantity', { products: [order.products[0], { ...order.products[1], quantity: 3 }] }],
    [
      'with a variant',
      { products: [order.products[0], { ...order.products[1], variant: [{ label: 'Size', value: 'M' }] }] },
    ],
    ['with another house', { shipping_address: { ...address, address_line1: '11 Main St' } }],
    ['with metadata', { metadata: { run: '1' } }],
    ['with metadata that differ in capitals', { metadata: { run: 'A' } }],
    ['as a gift', { is_gift: true }],
    ['paid by card', { payment: { mode: 'card' } }],
    ['on a retailer account', { retailer_credentials_id: 'x' }],
  ])('%s', (_, change) => {
    expect(hash(change)).not.toBe(hash({}));
  });

  test('of each other, in small letters and in capitals in the metadata', () => {
    expect(hash({ metadata: { run: 'a' } })).not.toBe(hash({ metadata: { run: 'A' } }));
  });
});

test('a return is the same with its items in another order and its ids in capitals', () => {
  const [a, b] = ['0B9C4A52-6F0E-4A55-9D1C-2F6F3F0F7C11', '1b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11'];
  const returned = (ids: readonly string[], more: object = {}) =>
    contentHash('return.create', {
      order_id: a,
      reason: 'damaged',
      items: ids.map((id) => ({ order_item_id: id, quantity: 1 })),
      ...more,
    });
  expect(returned([a, b])).toBe(
    returned([b.toUpperCase(), a.toLowerCase()], { order_id: a.toLowerCase(), notes: null }),
  );
  expect(returned([a])).not.toBe(returned([b]));
});
