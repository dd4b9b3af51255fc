import { expect } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { orderBody } from '../../../support/order-body.ts';
import { type ProofsOf, proof } from '../proof.ts';
import type { searchEndpoints } from '../rows/endpoints.ts';
import { expectInvalid, read } from '../scenes.ts';

interface Listing {
  readonly id: string;
  readonly url: string;
  readonly retailer: string;
  readonly price: number;
  readonly stars: number | null;
}

export const searchEndpointProofs: ProofsOf<typeof searchEndpoints> = {
  'GET /search': proof('returns listings whose URLs can be ordered', async (it) => {
    const response = await read(it, '/search?q=coffee&retailer=harborgoods');
    expect(checkShape('SearchResponse', response, 'response').issues).toBeUndefined();
    for (const listing of response.results)
      expect(listing).toMatchObject({
        id: expect.stringMatching(/^[a-z]+_sku_/),
        free_shipping: expect.any(Boolean),
      });
    const order = { ...orderBody(response.results[0].url), max_price: 90_000 };
    expect((await it.send('POST', '/orders', order)).status).toBe(201);
    expect((await it.send('GET', '/search?q=coffee', undefined, null)).status).toBe(401);
  }),
  'GET /search?q': proof('is required and not empty', async (it) => {
    for (const query of ['', '?q=']) expectInvalid(await it.send('GET', `/search${query}`), 'query', 'q');
    expect((await read(it, '/search?q=c')).status).toBe('completed');
  }),
  'GET /search?min_price': proof('keeps what costs as much, in cents', async (it) => {
    const { results } = await read(it, '/search?q=coffee&min_price=2000');
    expect(results.length).toBeGreaterThan(0);
    expect(results.every(({ price }: Listing) => price >= 2000)).toBe(true);
    expectInvalid(await it.send('GET', '/search?q=coffee&min_price=cheap'), 'query', 'min_price');
  }),
  'GET /search?limit': proof('how many are returned at most', async (it) => {
    expect((await read(it, '/search?q=coffee&limit=3')).results).toHaveLength(3);
    expectInvalid(await it.send('GET', '/search?q=coffee&limit=0'), 'query', 'limit');
  }),
  'GET /search?retailer': proof('one of the fourteen, and no other', async (it) => {
    const { retailers } = await read(it, '/retailers');
    expect(retailers).toHaveLength(14);
    for (const { retailer } of retailers) {
      const { results } = await read(it, `/search?q=a&retailer=${retailer}`);
      expect(results.every((listing: Listing) => listing.retailer === retailer)).toBe(true);
    }
    expectInvalid(await it.send('GET', '/search?q=coffee&retailer=nowhere'), 'query', 'retailer');
  }),
  'GET /search?sort': proof('relevance, price_asc, price_desc or rating', async (it) => {
    const sorted = async (sort: string): Promise<Listing[]> =>
      (await read(it, `/search?q=coffee&retailer=harborgoods&sort=${sort}`)).results;
    const prices = (of: Listing[]) => of.map(({ price }) => price);
    const rising = prices(await sorted('price_asc'));
    expect(rising).toEqual(rising.toSorted((one, other) => one - other));
    const falling = prices(await sorted('price_desc'));
    expect(falling).toEqual(falling.toSorted((one, other) => other - one));
    const stars = (await sorted('rating')).map((listing) => listing.stars ?? 0);
    expect(stars).toEqual(stars.toSorted((one, other) => other - one));
    const { results } = await read(it, '/search?q=coffee&retailer=harborgoods');
    expect(await sorted('relevance')).toEqual(results);
    expectInvalid(await it.send('GET', '/search?q=coffee&sort=newest'), 'query', 'sort');
  }),
};
