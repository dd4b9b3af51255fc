import { describe, expect, test } from 'vitest';
import { operations } from '../../../src/api/operations/index.ts';
import { readTarget } from '../../../src/http/request.ts';

const bases = { base: 'https://service.example/api', legacyBase: 'https://legacy.example' };
const read = (first: string, second?: string, sends = false) => readTarget([first, second], sends, bases);

describe('METHOD PATH', () => {
  test('without a method it is GET, or POST where something is sent', () => {
    expect(read('/orders').method).toBe('GET');
    expect(read('/orders', undefined, true).method).toBe('POST');
    expect(read('get', '/orders', true).method).toBe('GET');
  });

  test('the slash in front may be left out', () => {
    expect(read('orders?limit=5').path).toBe('/orders?limit=5');
  });

  test('an address under the base URL is its path', () => {
    expect(read('https://service.example/api/orders?limit=5').path).toBe('/orders?limit=5');
    expect(read('https://legacy.example/v1/products/x')).toMatchObject({
      path: '/v1/products/x',
      surface: 'legacy',
      operation: operations['legacy.product'],
    });
  });

  test.each([
    'https://service.example.evil.example/api/orders',
    'https://service.example@evil.example/api/orders',
    'http://service.example/api/orders',
    'https://service.example:8443/api/orders',
    'https://service.example/other',
    'https://service.example/apis/orders',
    'https://service.example/api/../admin',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('%s is refused', (address) => {
    expect(() => read(address)).toThrow('its key goes nowhere else');
  });

  test('the path of the legacy service alone goes to its address', () => {
    expect(read('/v1/products/x').surface).toBe('legacy');
    expect(read('/v10/products/x').surface).toBe('current');
  });

  test.each(['/orders', 'orders', '/orders?dry=1', 'https://service.example/api/x/../orders'])(
    'a write is known by the path that its operation has: POST %s',
    (path) => {
      expect(read('post', path).operation).toBe(operations['order.create']);
    },
  );

  test.each(['/Orders', '/orders/', '/ORDERS/', '/Orders?x', '/V1/orders/x/Retry'])(
    'a spelling that a lenient server would take is refused: POST %s',
    (path) => {
      expect(() => read('POST', path)).toThrow('is, and goes through the journal');
      expect(read('GET', path).operation).not.toBe(operations['order.create']);
    },
  );

  test.each([
    ...[
      '/%6frders',
      '/orders;a=b',
      '/orders%2F',
      '/orders/;x',
      '/orders.json',
      '/orders%00',
      '/x/..%2forders',
    ],
    ...[
      '/orders/..%2forders%3f/cancel',
      '/orders/x;/cancel',
      '/orders/x%2fy/cancel',
      '/v1/orders/%2e%2f/retry',
    ],
  ])('any other is none of an operation: POST %s', (path) => {
    expect(read('POST', path).operation).toBeUndefined();
  });

  test('a read is known by its path however it is escaped', () => {
    for (const path of ['/orders', '/orders/', '/%6frders', '/order%73/?x'])
      expect(read('GET', path).operation).toBe(operations['order.list']);
    expect(read('/products/a%2Fb.c').operation).toBe(operations['product.get']);
  });

  test.each(['/x/../orders', '/./orders', '//orders', '/x/%2e%2e/orders', '/x/%2E./orders', '/..'])(
    'steps within a path are refused: %s',
    (path) => {
      expect(() => read('POST', path)).toThrow('write it without');
    },
  );

  test('a method without a path, and a path in place of a method, are told apart', () => {
    expect(() => read('GET')).toThrow('the path is missing');
    expect(() => read('/orders', 'GET')).toThrow('not an HTTP method');
  });
});
