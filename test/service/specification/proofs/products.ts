import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { productEndpoints } from '../rows/endpoints.ts';
import { expectInvalid, expectRefusal, found, read } from '../scenes.ts';
import { general, payloadProofs } from './product-payloads.ts';

const store = 'morningroast.example';
const search = '/products/search?query=coffee&retailer=';

const details = payloadProofs('', 'ProductDetailsPayload');
const offers = payloadProofs('/offers', 'ProductOffersPayload');

export const storePage = proof('one page of at most 10, handles as ids, page omitted or 1', async (it) => {
  const { results, next_page } = await read(it, `${search}${store}`);
  expect(results.length).toBeGreaterThan(0);
  expect(results.length).toBeLessThanOrEqual(10);
  expect(next_page).toBeNull();
  for (const { product_id } of results) expect(product_id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)+$/);
  expect((await read(it, `${search}${store}&page=1`)).results).toEqual(results);
  expectRefusal(await it.send('GET', `${search}${store}&page=2`), 400, 'bad_request');
});

export const electronicsPage = proof('at most 4 a page, and next_page leads to others', async (it) => {
  const pages = '/products/search?query=usb&retailer=voltcorner';
  const first = await read(it, pages);
  expect(first.results.length).toBeGreaterThan(0);
  expect(first.results.length).toBeLessThanOrEqual(4);
  expect(first.next_page).toBe(2);
  const next = await read(it, `${pages}&page=2`);
  expect(next.results.length).toBeLessThanOrEqual(4);
  expect(next.results[0]?.product_id).not.toBe(first.results[0].product_id);
});

export const productEndpointProofs: ProofsOf<typeof productEndpoints> = {
  'GET /products/search': proof('returns a page of results and where the next is', async (it) => {
    const first = await read(it, `${search}${general}`);
    expect(checkShape('ProductSearchResponse', first, 'response').issues).toBeUndefined();
    let page = first;
    while (page.next_page !== null) page = await read(it, `${search}${general}&page=${page.next_page}`);
    expect(page).not.toEqual(first);
    expect((await it.send('GET', `${search}${general}`, undefined, null)).status).toBe(401);
  }),
  'GET /products/search?query': proof('is required and not empty', async (it) => {
    expect((await found(it, general, 'tea')).title).toMatch(/tea/i);
    for (const query of ['', '&query='])
      expectInvalid(await it.send('GET', `/products/search?retailer=${general}${query}`), 'query', 'query');
  }),
  'GET /products/search?retailer': proof(
    'is required; an identifier or the domain of a store',
    async (it) => {
      expect((await found(it, general)).url).toContain(general);
      expect((await found(it, store)).url).toContain(store);
      expectInvalid(await it.send('GET', '/products/search?query=coffee'), 'query', 'retailer');
      expectRefusal(await it.send('GET', `${search}nowhere`), 400, 'unsupported_retailer');
    },
  ),
  'GET /products/search?page': proof('an integer or nothing', async (it) => {
    const first = await read(it, `${search}${general}`);
    expect(await read(it, `${search}${general}&page=1`)).toEqual(first);
    expect((await read(it, `${search}${general}&page=2`)).results).not.toEqual(first.results);
    const { parameters } = (await read(it, '/openapi.json')).paths['/products/search'].get;
    const page = parameters.find(({ name }: { name: string }) => name === 'page');
    expect(page.schema.type).toEqual(['integer', 'null']);
    for (const wrong of ['x', '1.5'])
      expectInvalid(await it.send('GET', `${search}${general}&page=${wrong}`), 'query', 'page');
  }),
  'GET /products/search?free_shipping': proof(
    'filters what a page holds, by the kind of retailer',
    async (it) => {
      for (const [retailer, query] of [
        [general, 'coffee'],
        ['voltcorner', 'usb'],
      ] as const) {
        const target = `/products/search?query=${query}&retailer=${retailer}`;
        const [all, free] = [await read(it, target), await read(it, `${target}&free_shipping=true`)];
        expect(free.next_page).toBe(all.next_page);
        expect(free.results).toEqual(
          all.results.filter((result: { ship_price: number }) => result.ship_price === 0),
        );
      }
      const market = `${search}stallandbarrow`;
      expect(await read(it, `${market}&free_shipping=true`)).toEqual(await read(it, market));
      expectRefusal(await it.send('GET', `${search}${store}&free_shipping=true`), 400, 'bad_request');
    },
  ),
  'GET /products/search: electronics': electronicsPage,
  'GET /products/search: store domain': storePage,
  'GET /products/search: handmade': proof('USD, without stars, the shop as brand', async (it) => {
    const { results } = await read(it, '/products/search?query=mug&retailer=loomandkiln');
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) {
      expect(result).toMatchObject({ currency_code: 'USD', brand: expect.any(String) });
      expect(result.product_id).toMatch(/^\d+$/);
      expect([result.stars ?? null, result.num_reviews ?? null]).toEqual([null, null]);
    }
  }),
  'GET /products/{product_id}': details.whole,
  'GET /products/{product_id}?product_id': details.product_id,
  'GET /products/{product_id}?retailer': details.retailer,
  'GET /products/{product_id}?max_age': details.max_age,
  'GET /products/{product_id}?newer_than': details.newer_than,
  'GET /products/{product_id}?async': details.async,
  'GET /products/{product_id}: electronics': proof(
    'the trailing id of the URL, and the SKU beside it',
    async (it) => {
      const { url } = await found(it, 'voltcorner', 'usb');
      const trailing = url.split('/').at(-1);
      const product = await read(it, `/products/${trailing}?retailer=voltcorner`);
      expect(product).toMatchObject({ status: 'completed', url, sku: expect.stringMatching(/^\d+$/) });
      const bySku = await read(it, `/products/${product.sku}?retailer=voltcorner`);
      expect(bySku.status).toBe('failed');
    },
  ),
  'GET /products/{product_id}: store domain': proof(
    'price and availability of each variant, no async',
    async (it) => {
      const { product_id } = await found(it, store);
      const { variants } = await read(it, `/products/${product_id}?retailer=${store}`);
      expect(variants.length).toBeGreaterThan(0);
      for (const variant of variants)
        expect(variant).toMatchObject({ price: expect.any(Number), available: expect.any(Boolean) });
      const target = `/products/${product_id}?retailer=${store}&async=true`;
      expectRefusal(await it.send('GET', target), 400, 'bad_request');
    },
  ),
  'GET /products/{product_id}: handmade': proof(
    'the fields of a shop’s listing, for every one found',
    async (it) => {
      const { results } = await read(it, '/products/search?query=mug&retailer=loomandkiln');
      for (const { product_id } of results) {
        const product = await read(it, `/products/${product_id}?retailer=loomandkiln`);
        expect(product).toMatchObject({
          price: expect.any(Number),
          currency_code: expect.any(String),
          shop_review_count: expect.any(Number),
          listing_type: expect.stringMatching(/^(physical|download|both)$/),
          shop_is_vacation: expect.any(Boolean),
          has_variations: expect.any(Boolean),
          taxonomy_id: expect.any(Number),
        });
        expect(product.stars ?? product.num_reviews ?? null).toBeNull();
        if (product.shop_is_vacation) expect(product.available).toBe(false);
        if (product.variants) expect(product.has_variations).toBe(true);
        if (product.shop_review_count === 0) expect([0, null]).toContain(product.shop_review_average);
      }
      const target = `/products/${results[0].product_id}?retailer=loomandkiln&async=true`;
      expectRefusal(await it.send('GET', target), 400, 'bad_request');
    },
  ),
  'GET /products/{product_id}/offers': offers.whole,
  'GET /products/{product_id}/offers?product_id': offers.product_id,
  'GET /products/{product_id}/offers?retailer': offers.retailer,
  'GET /products/{product_id}/offers?max_age': offers.max_age,
  'GET /products/{product_id}/offers?newer_than': offers.newer_than,
  'GET /products/{product_id}/offers?async': offers.async,
  'GET /products/{product_id}/offers: store domain': proof('is refused', async (it) => {
    const { product_id } = await found(it, store);
    const response = await it.send('GET', `/products/${product_id}/offers?retailer=${store}`);
    expectRefusal(response, 400, 'bad_request');
  }),
};
