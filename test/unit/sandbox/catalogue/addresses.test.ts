import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retailers } from '../../../../src/sandbox/catalogue/retailers.ts';
import { atVariant, variantsOf } from '../../../../src/sandbox/catalogue/variants.ts';
import { allListings, catalogueOf, listingWhere, shopUrl } from '../../../support/catalogues.ts';

const catalogue = catalogueOf();
const listings = allListings();

test('every listing is found again by its page, its product id and its listing id', () => {
  for (const listing of listings) {
    const { url, sku, productId, seller } = listing;
    expect(catalogue.byUrl(url)).toEqual(listing);
    expect(catalogue.byUrl(`xx_sku_${sku}`)).toEqual(listing);
    expect(catalogue.listing({ retailer: seller.retailer, productId })).toEqual(listing);
  }
});

test('every variant is found again by its page', () => {
  for (const listing of listings.filter(({ options }) => options.length > 0).slice(0, 300)) {
    for (const index of variantsOf(listing).keys()) {
      const opened = atVariant(listing, index);
      expect(catalogue.byUrl(opened?.url ?? '')).toEqual(opened);
    }
  }
});

describe('a product URL may carry more than the product', () => {
  test.each(retailers.map(({ retailer }) => [retailer]))('%s', (retailer) => {
    const listing = listingWhere(({ seller }) => seller.retailer === retailer);
    const { host, pathname } = new URL(listing.url);
    for (const url of [
      `${listing.url}/`,
      `${listing.url}?utm_source=mail&ref=a%20b`,
      `${listing.url}#reviews`,
      `http://${host}${pathname}`,
      `https://${host.toUpperCase()}${pathname}`,
      `https://${host.replace(/^www\./, '')}${pathname}`,
      `https://www.${host.replace(/^www\./, '')}${pathname}//?a=1`,
    ]) {
      expect(catalogue.byUrl(url), url).toEqual(listing);
    }
  });

  test('another slug is the same product where the id alone names it', () => {
    const listing = listingWhere(({ seller }) => seller.kind === 'general');
    const [, , , id] = new URL(listing.url).pathname.split('/');
    expect(catalogue.byUrl(`https://www.harborgoods.example/p/an-older-name/${id}`)).toEqual(listing);
    const other = listingWhere(({ seller }) => seller.kind === 'marketplace');
    expect(catalogue.byUrl(`${other.url.replace('/dp/', '/Some-Title/dp/')}/ref=sr_1_1`)).toEqual(other);
  });

  test('a variant of another product is not a variant of this one', () => {
    const [one, other] = listings.filter(
      ({ seller, options }) => seller.kind === 'storefront' && options.length > 0,
    );
    const foreign = new URL(atVariant(other ?? listings[0] ?? fail(), 1)?.url ?? '').search;
    expect(catalogue.byUrl(`${one?.url}${foreign}`)).toEqual(one);
  });
});

test('a page that is none is not listed', () => {
  for (const url of [
    'https://www.harborgoods.example/',
    'https://www.harborgoods.example/p/coffee',
    'https://www.harborgoods.example/p/coffee/1',
    'https://www.stallandbarrow.example/dp/B0ZZZZZZZZ',
    'https://morningroast.example/products/coffee-1',
    'https://elsewhere.example/p/x/2000000000',
    `${shopUrl}/test-success`,
    `${shopUrl}/xx_sku_`,
    `${shopUrl}/xx_sku_0000000`,
    `${shopUrl}/xx_sku_zzzzzzz`,
    'xx_sku_ZZZZZZZ',
    'yy_sku_0000001',
    'not a url',
    '',
  ]) {
    expect(catalogue.byUrl(url), url).toBeUndefined();
  }
});

test('no text whatever is an error', () => {
  const ours = fc.constantFrom(...retailers.map(({ host }) => `https://${host}/`));
  const url = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withQueryParameters: true }),
    fc
      .tuple(ours, fc.constantFrom('p/', 'dp/', 'products/', 'item/', 'listing/'), fc.string())
      .map((parts) => parts.join('')),
    fc.string().map((text) => `xx_sku_${text}`),
  );
  fc.assert(
    fc.property(url, (text) => void catalogue.byUrl(text)),
    { numRuns: 300 },
  );
});

function fail(): never {
  throw new Error('there is no such listing');
}
