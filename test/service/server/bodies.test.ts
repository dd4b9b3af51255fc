import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../../src/api/operation.ts';
import { operations } from '../../../src/api/operations/index.ts';
import { orderBody } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

describe('bodies from anywhere', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(async () => {
    expect(service.bugs).toEqual([]);
    await service.stop();
  });

  const good = () => orderBody(service.product('test-success'));
  const text = (change: (body: string) => string): string => change(JSON.stringify(good()));

  test.each<[string, () => unknown, string]>([
    ['an unknown field', () => ({ ...good(), colour: 'red' }), 'body.colour'],
    ['a wrong type', () => ({ ...good(), max_price: '5000' }), 'body.max_price'],
    ['a null where none is taken', () => ({ ...good(), products: null }), 'body.products'],
    ['a fraction of a cent', () => ({ ...good(), max_price: 50.5 }), 'body.max_price'],
    ['a negative price', () => ({ ...good(), max_price: -1 }), 'body.max_price'],
    ['a huge number', () => text((body) => body.replace('5000', '1e400')), 'body.max_price'],
    [
      'a number beyond 2^53',
      () => text((body) => body.replace('5000', '9007199254740993')),
      'body.max_price',
    ],
    [
      'quantity 0',
      () => ({ ...good(), products: [{ url: 'https://a.example/1', quantity: 0 }] }),
      'body.products.0.quantity',
    ],
    ['no products', () => ({ ...good(), products: [] }), 'body.products'],
    [
      'a key that is too long',
      () => ({ ...good(), idempotency_key: 'k'.repeat(37) }),
      'body.idempotency_key',
    ],
    [
      'a gift message that is too long',
      () => ({ ...good(), is_gift: true, gift_message: 'm'.repeat(241) }),
      'body.gift_message',
    ],
    ['a gift message without is_gift', () => ({ ...good(), gift_message: 'm' }), 'body.gift_message'],
    [
      'a concern that is none',
      () => ({ ...good(), fulfillment: { speed: 'best_effort' } }),
      'body.fulfillment.speed',
    ],
    ['text that is not JSON', () => '{"products": [', 'body'],
    ['an array', () => '[]', 'body'],
    ['nothing', () => '', 'body'],
    ['invalid UTF-8', () => Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 'body'],
    [
      'a key given twice',
      () => text((body) => body.replace('"max_price"', '"max_price":1,"max_price"')),
      'body',
    ],
    ['__proto__', () => text((body) => body.replace('{', '{"__proto__":{"admin":true},')), 'body'],
    ['1,000 levels', () => text((body) => body.replace('{', `{"metadata":${nested(1000)},`)), 'body'],
    [
      'an address with USA',
      () => ({ ...good(), shipping_address: { ...good().shipping_address, country: 'USA' } }),
      'body.shipping_address.country',
    ],
    [
      'a bad ZIP',
      () => ({ ...good(), shipping_address: { ...good().shipping_address, postal_code: '7870' } }),
      'body.shipping_address.postal_code',
    ],
  ])('%s: a 422 that names the place', async (_, body, place) => {
    const response = await service.send('POST', '/orders', body());
    expect(response.status, response.text).toBe(422);
    expect(response.body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'))).toContain(place);
  });

  test('a body of 20 MB is refused with the documented body, and the service lives on', async () => {
    const response = await service.send('POST', '/orders', `{"metadata":"${'x'.repeat(20 * 1024 * 1024)}"}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(response.body.code).toBe('bad_request');
    expect((await service.order('test-success')).status).toBe(201);
  });

  test('unknown paths are 404, wrong methods 405 with Allow, both with the error body', async () => {
    expect(await service.send('GET', '/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const wrong = await service.send('DELETE', '/orders');
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toContain('GET');
  });

  test('generated garbage to every operation is never a 500', async () => {
    const table = Object.values<Operation>(operations);
    const garbage = fc.record({
      operation: fc.constantFrom(...table),
      segment: fc.oneof(
        fc.uuid(),
        fc.string({ minLength: 1, maxLength: 20 }),
        fc.constantFrom('..', '%', '%2e%2e', '%ff', '__proto__'),
      ),
      query: fc.dictionary(
        fc.constantFrom(
          'limit',
          'offset',
          'q',
          'retailer',
          'url',
          'country',
          'search',
          'include',
          '__proto__',
        ),
        fc.string({ maxLength: 20 }),
      ),
      body: fc.oneof(fc.json(), fc.string(), fc.constant(undefined), fc.constant(nested(300))),
    });
    await fc.assert(
      fc.asyncProperty(garbage, async ({ operation, segment, query, body }) => {
        const path = operation.path.replace(/\{[^}]+\}/g, () =>
          encodeURI(segment).replaceAll('/', '%2F').replaceAll('?', '%3F').replaceAll('#', '%23'),
        );
        const target = `${path}?${new URLSearchParams(query)}`;
        const { status } = await service.send(
          operation.method,
          target,
          operation.method === 'GET' ? undefined : body,
        );
        expect([500, 502]).not.toContain(status);
      }),
      { numRuns: 400 },
    );
  });
});
