import { describe, expect, test } from 'vitest';
import { eachPlainField } from '../../../src/api/order-fields.ts';
import { normaliseVariants } from '../../../src/api/sandbox-faults.ts';
import type { Shape } from '../../../src/api/schemas/index.ts';
import type { Row } from '../../../src/format/result.ts';
import {
  absentAsNull,
  differences,
  hasOtherRecipient,
  isOtherOrder,
  isOtherThanRequested,
} from '../../../src/orders/compare.ts';
import { normalise } from '../../../src/sandbox/server/fault-injection.ts';
import { Random } from '../../../src/sandbox/store/random.ts';

const body = {
  products: [
    { url: 'https://shop.example/p/1?b=2&a=1#top', quantity: 2, variant: [{ label: 'Size', value: 'M' }] },
    { url: 'https://shop.example/p/2', quantity: 1 },
  ],
  shipping_address: {
    first_name: 'Ada',
    last_name: 'Byron',
    address_line1: '1 Main  Street',
    address_line2: null,
    city: 'Saint Louis',
    state: 'MO',
    postal_code: '63101',
    country: 'us',
    phone_number: '(512) 555-0100',
  },
  max_price: 5000,
  metadata: { team: ' office ', run: '7' },
  po_number: 'PO  7',
  is_gift: true,
  gift_message: 'Well  done',
} satisfies Shape<'OrderCreate'>;

/** The order as the service has it. */
const order = {
  id: '0b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11',
  status: 'pending',
  max_price: body.max_price,
  items: body.products.map((line) => ({ ...line })),
  shipping_address: body.shipping_address,
  metadata: body.metadata,
  po_number: body.po_number,
  is_gift: body.is_gift,
  gift_message: body.gift_message,
};

const real = (echo: Row) => differences(body, echo).filter(({ isVariant }) => !isVariant);
const spelt = (names: readonly string[]): Row => normalise(order, names, Random.of('compare', 1)) as Row;

describe('an order that the service echoes', () => {
  test('as it was sent differs in nothing', () => {
    expect(differences(body, order)).toEqual([]);
  });

  test.each(Object.keys(normaliseVariants))('spelt its own way (%s) is the same order', (name) => {
    expect(real(spelt([name]))).toEqual([]);
    expect(isOtherThanRequested(body, absentAsNull(spelt([name])))).toBe(false);
    expect(hasOtherRecipient(body, spelt([name]))).toBe(false);
  });

  test('spelt its own way in everything at once is the same order', () => {
    const all = spelt(Object.keys(normaliseVariants));
    expect(real(all)).toEqual([]);
    expect(differences(body, all).length).toBeGreaterThan(5);
  });

  test('without fields that an older service does not know is the same order', () => {
    expect(differences(body, { id: order.id, status: 'pending' })).toEqual([]);
  });

  test.each<[string, Row, string]>([
    ['another ceiling', { max_price: 5001 }, 'max_price'],
    [
      'another quantity',
      { items: [{ ...order.items[0], quantity: 3 }, order.items[1]] },
      'products.0.quantity',
    ],
    ['another product', { items: [order.items[0], { url: 'https://shop.example/p/3' }] }, 'products.1.url'],
    ['a line less', { items: [order.items[0]] }, 'products'],
    [
      'another size',
      { items: [{ ...order.items[0], variant: [{ label: 'Size', value: 'L' }] }, order.items[1]] },
      'products.0.variant',
    ],
    ['another intent', { metadata: { team: 'office', run: '8' } }, 'metadata'],
    [
      'another name',
      { shipping_address: { ...order.shipping_address, last_name: 'Lovelace' } },
      'shipping_address.last_name',
    ],
    [
      'another house',
      { shipping_address: { ...order.shipping_address, address_line1: '11 Main Street' } },
      'shipping_address.address_line1',
    ],
    [
      'another place',
      { shipping_address: { ...order.shipping_address, postal_code: '63102' } },
      'shipping_address.postal_code',
    ],
    [
      'another phone',
      { shipping_address: { ...order.shipping_address, phone_number: '5125550101' } },
      'shipping_address.phone_number',
    ],
    ['another purchase order', { po_number: 'PO 8' }, 'po_number'],
    ['no gift', { is_gift: false }, 'is_gift'],
  ])('with %s is another one', (_, change, field) => {
    expect(real({ ...order, ...change }).map((difference) => difference.field)).toContain(field);
  });

  const valuesOf = { string: ['R-17', 'R-18'], integer: [3, 4], boolean: [true, false] } as const;

  test.each(eachPlainField)('with another %s is another one', (name, { type }) => {
    const [requested, existing] = valuesOf[type];
    const others = (value: unknown) =>
      differences({ ...body, [name]: requested }, { ...order, [name]: value }).filter((it) => !it.isVariant);
    expect(others(existing)).toEqual([{ field: name, requested, existing, isVariant: false }]);
    expect(others(requested)).toEqual([]);
  });

  test.each<[string, Partial<typeof body> & Row, Row, string]>([
    [
      'another address to notify',
      { customer_notifications: { email: 'ada@example.org' } },
      { customer_notifications: { email: 'eve@example.org', delivered: null } },
      'customer_notifications.email',
    ],
    [
      'nobody to notify',
      { customer_notifications: { email: 'ada@example.org' } },
      { customer_notifications: null },
      'customer_notifications.email',
    ],
    [
      'another concern relaxed',
      { fulfillment: { items: 'best_effort' } },
      { fulfillment: { gift: null, items: null, quantity: 'best_effort', excluded_merchants: [] } },
      'fulfillment.quantity',
    ],
    ['another payment', { payment: { mode: 'card' } }, { payment: null, connect: null }, 'payment.mode'],
  ])('with %s is another one', (_, requested, change, field) => {
    const found = differences({ ...body, ...requested }, { ...order, ...change });
    expect(found.filter(({ isVariant }) => !isVariant).map((it) => it.field)).toContain(field);
  });

  test('paid and relaxed as requested is the same order', () => {
    const requested: Shape<'OrderCreate'> = {
      ...body,
      payment: { mode: 'card', payment_method: 'pm_1' },
      fulfillment: { items: 'best_effort' },
      customer_notifications: { email: 'ada@example.org' },
    };
    const existing = {
      ...order,
      payment: { mode: 'card', state: 'authorized', payment_method: 'pm_1' },
      connect: null,
      fulfillment: {
        gift: null,
        items: 'best_effort',
        quantity: null,
        excluded_merchants: [],
        concessions: [{ concern: 'items' }],
      },
      customer_notifications: { email: 'ada@example.org', delivered: true },
    };
    expect(differences(requested, existing)).toEqual([]);
  });

  test.each<[string, Row]>([
    ['products', { items: [{ url: 'https://shop.example/p/9', quantity: 2 }, order.items[1]] }],
    ['ceiling', { max_price: 123_456 }],
    ['intent', { metadata: { run: '8' } }],
    [
      'person and place',
      { shipping_address: { ...order.shipping_address, first_name: 'Eve', address_line1: '9 Side Road' } },
    ],
  ])('is taken for the response to another request by its %s', (_, change) => {
    expect(isOtherOrder(body, { ...order, ...change })).toBe(true);
  });

  test.each<[string, Row]>([
    ['drops the metadata', { metadata: {} }],
    ['lists no items yet', { items: [] }],
    [
      'corrects the street',
      { shipping_address: { ...order.shipping_address, address_line1: '1 N Main Street' } },
    ],
  ])('is not taken for that where the service %s', (_, change) => {
    expect(isOtherOrder(body, { ...order, ...change })).toBe(false);
  });
});
