import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start();
});
afterAll(async () => {
  await service.stop();
  expect(service.bugs).toEqual([]);
});

const get = (target: string) => service.send('GET', target);
const search = async (query: string) => (await get(`/products/search?${query}`)).body;
const firstOf = async (retailer: string, query = 'coffee') =>
  (await search(`query=${query}&retailer=${retailer}`)).results[0].product_id as string;

describe('GET /products/search', () => {
  test('returns a page of one retailer with next_page', async () => {
    const first = await search('query=coffee&retailer=harborgoods');
    expect(first.status).toBe('completed');
    expect(first.results.length).toBeGreaterThan(0);
    const second = await search('query=coffee&retailer=harborgoods&page=2');
    expect(second.results[0]?.product_id).not.toBe(first.results[0].product_id);
  });

  test('free_shipping keeps items with ship price 0 for the general retailer, after pagination', async () => {
    const all = await search('query=coffee&retailer=harborgoods');
    const free = await search('query=coffee&retailer=harborgoods&free_shipping=true');
    expect(free.next_page).toBe(all.next_page);
    expect(free.results.every(({ ship_price }: { ship_price: number }) => ship_price === 0)).toBe(true);
    expect(free.results.length).toBeLessThan(all.results.length);
  });

  test('free_shipping can leave nothing of a page that others follow', async () => {
    // The default catalogue of a sandbox without an explicit seed.
    const usual = await TestService.start({ seed: 1 });
    const page = async (number: number) =>
      (
        await usual.send(
          'GET',
          `/products/search?query=tea&retailer=voltcorner&free_shipping=true&page=${number}`,
        )
      ).body;
    expect(await page(1)).toMatchObject({ status: 'completed', results: [], next_page: 2 });
    expect(await page(2)).toMatchObject({ results: [{ ship_price: 0 }], next_page: null });
    await usual.stop();
  });

  test('a store domain has one page, and refuses page and free_shipping', async () => {
    const found = await search('query=coffee&retailer=morningroast.example');
    expect(found.next_page).toBeNull();
    expect(found.results.length).toBeLessThanOrEqual(10);
    expect((await get('/products/search?query=coffee&retailer=morningroast.example&page=1')).status).toBe(
      200,
    );
    for (const more of ['page=2', 'free_shipping=true']) {
      const refused = await get(`/products/search?query=coffee&retailer=morningroast.example&${more}`);
      expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
    }
  });

  test('an unknown retailer is refused as unsupported_retailer', async () => {
    const refused = await get('/products/search?query=coffee&retailer=nowhere');
    expect([refused.status, refused.body.code]).toEqual([400, 'unsupported_retailer']);
  });

  test.each([
    'retailer=harborgoods',
    'query=&retailer=harborgoods',
    'query=x',
    'query=x&retailer=harborgoods&page=0',
  ])('%s is a 422', async (query) => {
    expect((await get(`/products/search?${query}`)).status).toBe(422);
  });
});

describe('GET /products/{product_id}', () => {
  test('returns the retailer’s payload, completed', async () => {
    const id = await firstOf('harborgoods');
    const { status, body } = await get(`/products/${id}?retailer=harborgoods`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'completed', product_id: id, retailer: 'harborgoods' });
  });

  test('an unknown product has status failed with code and message', async () => {
    const { status, body } = await get('/products/nope?retailer=harborgoods');
    expect([status, body.status, body.code]).toEqual([200, 'failed', 'product_not_found']);
    expect(body.message).toContain('nope');
  });

  test('async returns processing at once, and the product once it was read', async () => {
    const target = `/products/${await firstOf('harborgoods', 'lamp')}?retailer=harborgoods&async=true`;
    expect((await get(target)).body).toEqual({ status: 'processing' });
    expect((await get(target)).body).toEqual({ status: 'processing' });
    service.pass(2_000);
    expect((await get(target)).body.status).toBe('completed');
  });

  test('max_age and newer_than decide whether an earlier reading will do; short windows are widened to 31 s', async () => {
    const target = `/products/${await firstOf('harborgoods', 'tea')}?retailer=harborgoods`;
    const at = (await get(target)).body.timestamp;
    service.pass(30_000);
    expect((await get(target)).body.timestamp).toBe(at);
    expect((await get(`${target}&max_age=31`)).body.timestamp).toBe(at);
    expect((await get(`${target}&newer_than=${at + 29}`)).body.timestamp).toBe(at);
    service.pass(10_000);
    expect((await get(`${target}&max_age=60`)).body.timestamp).toBe(at);
    expect((await get(`${target}&newer_than=${at + 39}`)).body.timestamp).toBe(at + 40);
    service.pass(40_000);
    expect((await get(`${target}&max_age=31`)).body.timestamp).toBe(at + 80);
  });

  test.each(['max_age=30', 'max_age=60&newer_than=1', 'async=perhaps', 'newer_than=x'])(
    '%s is a 422',
    async (more) => {
      expect((await get(`/products/1?retailer=harborgoods&${more}`)).status).toBe(422);
    },
  );

  test.each(['morningroast.example', 'loomandkiln'])('async is refused for %s', async (retailer) => {
    const refused = await get(`/products/1?retailer=${retailer}&async=true`);
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  });
});

describe('GET /products/{product_id}/offers', () => {
  test('returns the offers', async () => {
    const id = await firstOf('harborgoods');
    const { body } = await get(`/products/${id}/offers?retailer=harborgoods`);
    expect(body.status).toBe('completed');
    expect(body.offers[0]).toMatchObject({ offer_id: expect.any(String), price: expect.any(Number) });
  });

  test('a store domain has no offers endpoint', async () => {
    const id = await firstOf('morningroast.example');
    const refused = await get(`/products/${id}/offers?retailer=morningroast.example`);
    expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  });
});

test('product calls need a key', async () => {
  expect((await service.send('GET', '/products/1?retailer=harborgoods', undefined, null)).status).toBe(401);
});
