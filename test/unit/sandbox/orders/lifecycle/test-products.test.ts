import { describe, expect, it } from 'vitest';
import { errorCodes } from '../../../../../src/api/error-codes.ts';
import { operations } from '../../../../../src/api/operations/index.ts';
import { checkShape } from '../../../../../src/api/schemas/check.ts';
import {
  creationRefusal,
  slugOf,
  type TestProduct,
  testProducts,
  testProductsResponse,
  testSlugs,
} from '../../../../../src/sandbox/orders/lifecycle/index.ts';
import { newOrder, shop, shopUrl } from './order.ts';

describe('the slug of a product URL', () => {
  it.each([
    [`${shopUrl}/test-success`, 'test-success'],
    [`${shopUrl}/test-success/?utm_source=mail#top`, 'test-success'],
    ['http://localhost/shop/test-slow', 'test-slow'],
    ['http://127.3.2.1:9/shop/test-slow', 'test-slow'],
    ['https://[::1]:8443/shop/test-slow', 'test-slow'],
    [`${shopUrl}/test-successful`, null],
    [`${shopUrl}/toString`, null],
    [`${shopUrl}/a/test-success`, null],
    ['http://localhost/test-success', null],
    ['https://127.0.0.1.example.com/shop/test-success', null],
    ['https://example.com/shop/test-success', null],
    ['not a url', null],
  ])('%s', (url, slug) => {
    expect(slugOf(url, shopUrl)).toBe(slug);
  });

  it('is recognised at a configured shop that is not on loopback', () => {
    expect(slugOf('https://shop.example/test-success', 'https://shop.example/')).toBe('test-success');
  });
});

describe('refusals at creation', () => {
  it.each([
    ['test-invalid-address', 'invalid_shipping_address', 400],
    ['test-url-unreachable', 'url_unreachable', 400],
    ['test-insufficient-funds', 'insufficient_funds', 402],
  ] as const)('%s', (slug, code, status) => {
    const { order } = newOrder({ products: [shop('test-success'), shop(slug)] });
    expect(creationRefusal(order, shopUrl)?.code).toBe(code);
    expect(errorCodes[code].status).toBe(status);
  });

  it('names what was refused', () => {
    const refusal = (slug: string) => creationRefusal(newOrder({ products: [shop(slug)] }).order, shopUrl);
    expect(refusal('test-url-unreachable')?.details).toEqual({ url: `${shopUrl}/test-url-unreachable` });
    expect(refusal('test-invalid-address')?.details).toMatchObject({
      field_errors: [{ field: 'shipping_address.address_line1', received: '1 Analytical Way' }],
    });
  });

  it('leaves every other product alone', () => {
    const refusing = testProductsResponse(shopUrl).products.filter(
      ({ url }) => creationRefusal(newOrder({ products: [{ url, quantity: 1 }] }).order, shopUrl) !== null,
    );
    const synchronous = testProductsResponse(shopUrl).products.filter(
      (product) => product.is_synchronous_error,
    );
    expect(refusing).toEqual(synchronous);
  });

  it('each code that the contract has for creation has a product, named after it where the specification names none', () => {
    const others: readonly string[] = ['already_exists', 'bad_request', 'payment_required'];
    for (const code of operations['order.create'].errors) {
      const slugs = testSlugs.filter((slug) => {
        const { refusesCreation }: TestProduct = testProducts[slug];
        return refusesCreation === code;
      });
      if (others.includes(code)) expect(slugs).toEqual([]);
      else expect(slugs, code).toHaveLength(1);
      for (const slug of slugs.filter((one) => one.startsWith('test-refused-')))
        expect(slug).toBe(`test-refused-${code.replaceAll('_', '-')}`);
    }
  });

  it('no guest checkout is no refusal where the order names an account', () => {
    const products = [shop('test-refused-guest-checkout-not-supported')];
    const { order } = newOrder({ products });
    expect(creationRefusal(order, shopUrl)?.code).toBe('guest_checkout_not_supported');
    expect(creationRefusal({ ...order, retailer_credentials_id: 'sbx_acct_1' }, shopUrl)).toBeNull();
  });

  it('every refusal names what was refused, and the late ones are those that no dry run can know', () => {
    const refusals = testSlugs.flatMap(
      (slug) =>
        creationRefusal(newOrder({ products: [shop('test-success'), shop(slug)] }).order, shopUrl) ?? [],
    );
    const late = refusals.filter(({ isLate }) => isLate).map(({ code }) => code);
    expect(late.toSorted()).toEqual([
      'insufficient_funds',
      'invalid_payment_method',
      'invalid_variant',
      'out_of_stock',
      'payment_failed',
      'payment_method_required',
      'shipping_unavailable',
    ]);
    const variant = refusals.find(({ code }) => code === 'invalid_variant');
    expect(variant?.details).toMatchObject({ field_errors: [{ field: 'products.1.variant' }] });
  });
});

it('the list of test products has the shape of the contract, the eight of the specification first', () => {
  const response = testProductsResponse(shopUrl);
  expect(checkShape('TestProductsResponse', response, 'response').issues).toBeUndefined();
  expect(response.products.slice(0, 8).map(({ url }) => url.slice(shopUrl.length + 1))).toEqual([
    'test-success',
    'test-price-exceeded',
    'test-out-of-stock',
    'test-invalid-variant',
    'test-shipping-unavailable',
    'test-invalid-address',
    'test-url-unreachable',
    'test-insufficient-funds',
  ]);
});
