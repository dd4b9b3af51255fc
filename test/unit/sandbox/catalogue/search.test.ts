import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { catalogueOf, shopUrl } from '../../../support/catalogues.ts';

const catalogue = catalogueOf();
const search = (q: string, more: Partial<Parameters<typeof catalogue.search>[0]> = {}) =>
  catalogue.search({ q, sort: 'relevance', limit: 100, ...more });

describe('search across retailers', () => {
  test.each(['coffee', 'headphones', 'shoes', 'lamp', 'book', 'usb cable', 'kettle', 'tea'])(
    '"%s" finds plenty at several retailers',
    (q) => {
      const { results, hint } = search(q);
      expect(results.length).toBeGreaterThan(40);
      expect(new Set(results.map(({ retailer }) => retailer)).size).toBeGreaterThan(2);
      expect(hint).toBeNull();
    },
  );

  test('responds in the shape of the contract', () => {
    const { results, excludedByPrice, hint } = search('coffee');
    const response = {
      status: 'completed',
      query: 'coffee',
      results,
      excluded_by_price: excludedByPrice,
      hint,
    };
    expect(checkShape('SearchResponse', response, 'response').issues).toBeUndefined();
  });

  test('each result can be looked up by its URL and by its listing id', () => {
    for (const { id, url, title, price } of search('coffee').results) {
      expect(id).toMatch(/^xx_sku_[0-9a-z]{7}$/);
      expect(catalogue.byUrl(url)).toMatchObject({ title, cents: price });
      expect(catalogue.byUrl(id)).toEqual(catalogue.byUrl(url));
      expect(catalogue.byUrl(`${shopUrl}/${id}/`)).toEqual(catalogue.byUrl(url));
    }
  });

  test('the price bounds are inclusive, and what they drop is counted', () => {
    const prices = search('kettle', { limit: 10_000 }).results.map(({ price }) => price);
    const low = prices.toSorted((a, b) => a - b)[10] ?? 0;
    const high = prices.toSorted((a, b) => b - a)[10] ?? 0;
    const { results, excludedByPrice } = search('kettle', { minPrice: low, maxPrice: high, limit: 10_000 });
    expect(results.map(({ price }) => price)).toEqual(
      prices.filter((price) => price >= low && price <= high),
    );
    expect(results.length + (excludedByPrice ?? 0)).toBe(prices.length);
    expect(results.some(({ price }) => price === low)).toBe(true);
    expect(results.some(({ price }) => price === high)).toBe(true);
  });

  test('coffee is to be had for under $30', () => {
    const { results } = search('coffee', { maxPrice: 3_000, limit: 5, sort: 'price_asc' });
    expect(results).toHaveLength(5);
    expect(results.every(({ price }) => price <= 3_000)).toBe(true);
  });

  test('sorts by price either way and by rating', () => {
    const column = (sort: 'price_asc' | 'price_desc' | 'rating', name: 'price' | 'stars') =>
      search('tea', { sort }).results.map((it) => it[name] ?? 0);
    expect(column('price_asc', 'price')).toEqual(column('price_asc', 'price').toSorted((a, b) => a - b));
    expect(column('price_desc', 'price')).toEqual(column('price_desc', 'price').toSorted((a, b) => b - a));
    expect(column('rating', 'stars')).toEqual(column('rating', 'stars').toSorted((a, b) => b - a));
  });

  test('a retailer narrows it', () => {
    const { results } = search('coffee', { retailer: 'kesselundkanne' });
    expect(results.length).toBeGreaterThan(5);
    expect(new Set(results.map(({ retailer }) => retailer))).toEqual(new Set(['kesselundkanne']));
  });

  test('what only members can order is found when their retailer is named, else not', () => {
    expect(search('coffee', { retailer: 'membersbarn' }).results.length).toBeGreaterThan(5);
    const anywhere = search('coffee', { limit: 10_000 }).results;
    expect(anywhere.filter(({ retailer }) => retailer === 'membersbarn')).toEqual([]);
  });

  test('what a handmade shop prices in another currency is not found', () => {
    for (const retailer of [undefined, 'loomandkiln']) {
      const { results } = search('handmade', { limit: 10_000, ...(retailer && { retailer }) });
      const handmade = results.filter((it) => it.retailer === 'loomandkiln');
      expect(handmade.length).toBeGreaterThan(100);
      expect(new Set(handmade.map(({ currency_code }) => currency_code))).toEqual(new Set(['USD']));
    }
  });

  test('the limit holds', () => {
    expect(search('coffee', { limit: 3 }).results).toHaveLength(3);
  });

  test.each([
    ['lamps', 'lamp'],
    ['headphone', 'headphones'],
    ['COFFEE', 'coffee'],
    ['cafe creme', 'café crème'],
  ])('"%s" finds what "%s" finds', (one, other) => {
    const ids = (q: string) => search(q, { limit: 10_000, sort: 'price_asc' }).results.map(({ id }) => id);
    expect(ids(one)).toEqual(ids(other));
  });

  test('the beginning of a word finds it', () => {
    expect(search('headph').results.length).toBeGreaterThan(40);
  });

  test('goods are found by their English name wherever they are sold', () => {
    const { results } = search('kettle', { retailer: 'bottegadiva' });
    expect(results.some(({ title }) => title.includes('Bollitore'))).toBe(true);
  });

  test('where nothing has all of the words, what has some of them comes with a hint', () => {
    const { results, hint } = search('coffee zzyzx');
    expect(results.length).toBeGreaterThan(40);
    expect(hint).toContain('some of them');
  });

  test('nothing found is an empty result', () => {
    expect(search('zzyzx')).toEqual({
      results: [],
      excludedByPrice: null,
      hint: expect.stringContaining('try others'),
    });
    expect(search('coffee', { maxPrice: 1 })).toMatchObject({
      results: [],
      excludedByPrice: expect.any(Number),
      hint: expect.stringContaining('max_price'),
    });
    expect(search('🎂 !?')).toMatchObject({ results: [], hint: expect.stringContaining('no word') });
  });

  test.each([
    '"',
    '""',
    '" OR "1"="1',
    "'; DROP TABLE listings; --",
    'coffee AND',
    'NOT coffee',
    'NEAR(coffee tea, 2)',
    'title:coffee',
    'coffee*',
    '^coffee',
    '{title} : coffee',
    '-coffee',
    '\u0000',
    'cof\u0000fee',
    '\ud83c',
    '(((((',
    'a'.repeat(100_000),
    'coffee '.repeat(10_000),
    'ⅷ ² ①',
  ])('hostile text %# is only words', (q) => {
    expect(() => search(q)).not.toThrow();
    expect(() => catalogue.retailerSearch({ retailer: 'harborgoods', query: q })).not.toThrow();
  });

  test('no text whatever is an error', () => {
    const words = fc.constantFrom(
      'coffee',
      'AND',
      'OR',
      'NOT',
      'NEAR',
      '"',
      '*',
      ':',
      '(',
      ')',
      '^',
      '\u0000',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(words, fc.string())).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(text, (q) => {
        const { results } = search(q, { limit: 2 });
        expect(results.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 200 },
    );
  });

  test('whatever the seed, the best coffee under $30 can be ordered by anyone in the US', () => {
    for (const seed of [2, 3, 7, 42, 2_026, 9_999_999_999]) {
      const seeded = catalogueOf(seed);
      const { results } = seeded.search({ q: 'coffee', maxPrice: 3_000, sort: 'rating', limit: 20 });
      const best = results.find(({ available }) => available);
      expect(best && seeded.check(best.url, 'US', shopUrl).orderable).toBe(true);
      seeded.close();
    }
  });
});
