import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import type { Shape } from '../../../../src/api/schemas/index.ts';
import { retailers } from '../../../../src/sandbox/catalogue/retailers.ts';
import { catalogueOf, codeOf } from '../../../support/catalogues.ts';

const catalogue = catalogueOf();
type Page = Shape<'ProductSearchResponse'>;

/** All pages of a search. */
function pagesOf(retailer: string, query: string, freeShipping = false, agent = false): Page[] {
  const pages: Page[] = [];
  for (let page: number | null = 1; page !== null; page = pages.at(-1)?.next_page ?? null) {
    pages.push(catalogue.retailerSearch({ retailer, query, page, freeShipping, agent }));
  }
  return pages;
}
const resultsOf = (pages: readonly Page[]) => pages.flatMap(({ results }) => results);
const idsOf = (pages: readonly Page[]) => resultsOf(pages).map(({ product_id }) => product_id);

test.each(retailers.map(({ retailer, kind }) => [retailer, kind] as const))(
  '%s (%s) responds in the shape of the contract, each product once',
  (retailer) => {
    const query = ['coffee', 'lamp', 'shoes', 'book', 'headphones', 'mug'].find(
      (words) => catalogue.retailerSearch({ retailer, query: words }).results.length > 0,
    );
    const pages = pagesOf(retailer, query ?? '');
    expect(resultsOf(pages).length).toBeGreaterThan(0);
    for (const page of pages)
      expect(checkShape('ProductSearchResponse', page, 'response').issues).toBeUndefined();
    expect(new Set(idsOf(pages)).size).toBe(idsOf(pages).length);
    for (const productId of idsOf(pages)) {
      expect(catalogue.listing({ retailer, productId })).toMatchObject({ productId });
    }
  },
);

describe('the large general retailer', () => {
  test('has pages up to the last, and none after it', () => {
    const pages = pagesOf('harborgoods', 'coffee');
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.map(({ next_page }) => next_page)).toEqual([
      ...pages.slice(1).map((_, index) => index + 2),
      null,
    ]);
    for (const page of [pages.length + 1, 1_000_000, Number.MAX_SAFE_INTEGER]) {
      const beyond = catalogue.retailerSearch({ retailer: 'harborgoods', query: 'coffee', page });
      expect(beyond).toEqual({ status: 'completed', results: [], next_page: null });
    }
  });

  test('free_shipping keeps what ships free after pagination, so that pages are short while there are more', () => {
    const plain = pagesOf('harborgoods', 'socks');
    const free = pagesOf('harborgoods', 'socks', true);
    expect(free.map(({ next_page }) => next_page)).toEqual(plain.map(({ next_page }) => next_page));
    expect(resultsOf(free)).toEqual(resultsOf(plain).filter(({ ship_price }) => ship_price === 0));
    expect(free[0]?.results.length).toBeLessThan(plain[0]?.results.length ?? 0);
    expect(idsOf(pagesOf('harborgoods', 'socks', true, true))).toEqual(idsOf(free));
  });

  test('page null is the first page', () => {
    const ask = (page?: number | null) =>
      catalogue.retailerSearch({
        retailer: 'harborgoods',
        query: 'tea',
        ...(page !== undefined && { page }),
      });
    expect(ask(null)).toEqual(ask(1));
    expect(ask()).toEqual(ask(1));
  });
});

describe('the large marketplace', () => {
  test('takes free_shipping and does nothing with it', () => {
    const free = pagesOf('stallandbarrow', 'tea', true);
    expect(free).toEqual(pagesOf('stallandbarrow', 'tea'));
    expect(resultsOf(free).some(({ ship_price }) => ship_price !== 0)).toBe(true);
  });

  test('says how many offers there are', () => {
    for (const { num_offers_estimate, available, product_id } of resultsOf(
      pagesOf('stallandbarrow', 'lamp'),
    )) {
      const offers = catalogue.offers({ retailer: 'stallandbarrow', productId: product_id }, 0)?.offers ?? [];
      expect(offers).toHaveLength(num_offers_estimate ?? -1);
      expect(offers.length > 0).toBe(available);
    }
  });
});

describe('the electronics retailer', () => {
  const pages = pagesOf('voltcorner', 'headphones');

  test('shows four of the twenty-four products of a page', () => {
    expect(pages.length).toBeGreaterThan(2);
    for (const page of pages.slice(0, -1)) expect(page.results).toHaveLength(4);
    expect(pages.at(-1)?.next_page).toBeNull();
    const { results } = catalogue.search({
      q: 'headphones',
      retailer: 'voltcorner',
      sort: 'relevance',
      limit: 10_000,
    });
    expect(pages).toHaveLength(Math.ceil(results.length / 24));
  });

  test('free_shipping filters what is shown, but not for agents', () => {
    const plain = pagesOf('voltcorner', 'cable');
    const free = resultsOf(pagesOf('voltcorner', 'cable', true));
    expect(free).toEqual(resultsOf(plain).filter(({ ship_price }) => ship_price === 0));
    expect(free.length).toBeLessThan(resultsOf(plain).length);
    expect(pagesOf('voltcorner', 'cable', true, true)).toEqual(plain);
  });
});

describe('the handmade marketplace', () => {
  const pages = pagesOf('loomandkiln', 'handmade');

  test('drops what is not in USD after pagination, so that a page may be short while there are more', () => {
    expect(pages.length).toBeGreaterThan(3);
    expect(new Set(resultsOf(pages).map(({ currency_code }) => currency_code))).toEqual(new Set(['USD']));
    expect(pages.slice(0, -1).some(({ results }) => results.length < 24)).toBe(true);
    expect(pages.slice(0, -1).every(({ next_page }) => next_page !== null)).toBe(true);
  });

  test('has no stars or num_reviews, the shop as brand, and numeric ids', () => {
    for (const result of resultsOf(pages)) {
      expect(result).not.toHaveProperty('stars');
      expect(result).not.toHaveProperty('num_reviews');
      expect(result.product_id).toMatch(/^\d+$/);
    }
    expect(new Set(resultsOf(pages).map(({ brand }) => brand))).toContain('Blue Door Pottery');
  });
});

describe('a store domain', () => {
  const ask = (more: object) =>
    catalogue.retailerSearch({ retailer: 'morningroast.example', query: 'coffee', ...more });

  test('has about ten results and no further page', () => {
    expect(ask({})).toMatchObject({ next_page: null });
    expect(ask({}).results).toHaveLength(10);
    expect(ask({ page: 1 })).toEqual(ask({}));
  });

  test('is addressed by handles, and each result has a variant id', () => {
    for (const { product_id, url, variant_id } of ask({}).results) {
      expect(product_id).toMatch(/^[a-z0-9-]+$/);
      expect(url).toBe(`https://morningroast.example/products/${product_id}`);
      expect(variant_id).toMatch(/^\d+$/);
    }
  });

  test('refuses other pages and free_shipping', () => {
    expect(codeOf(() => ask({ page: 2 }))).toBe('bad_request');
    expect(codeOf(() => ask({ freeShipping: true }))).toBe('bad_request');
    expect(codeOf(() => ask({ freeShipping: true, agent: true }))).toBe('bad_request');
    expect(codeOf(() => ask({ freeShipping: false }))).toBeUndefined();
  });
});

test('a retailer is known however its name is written, and an unknown one is refused', () => {
  const ask = (retailer: string) => catalogue.retailerSearch({ retailer, query: 'tea' });
  expect(ask('HarborGoods')).toEqual(ask('harborgoods'));
  expect(ask('harborgoods').results.length).toBeGreaterThan(0);
  expect(ask('www.MorningRoast.example')).toEqual(ask('morningroast.example'));
  for (const retailer of ['nobody', 'unknown.example', '', '__proto__', 'constructor']) {
    expect(codeOf(() => ask(retailer))).toBe('unsupported_retailer');
  }
});
