import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import type { Listing } from '../../../../src/sandbox/catalogue/listing.ts';
import type { RetailerKind } from '../../../../src/sandbox/catalogue/retailers.ts';
import { retailers } from '../../../../src/sandbox/catalogue/retailers.ts';
import { variantsOf } from '../../../../src/sandbox/catalogue/variants.ts';
import { allListings, catalogueOf, codeOf, listingWhere } from '../../../support/catalogues.ts';

const catalogue = catalogueOf();
const timestamp = 1_796_000_000;
const listings = allListings();
const productOf = ({ seller, productId }: Listing) => ({ retailer: seller.retailer, productId });
const ofKind = (kind: RetailerKind) => listings.filter(({ seller }) => seller.kind === kind);
const detailsOf = (listing: Listing) => {
  const details = catalogue.details(productOf(listing), timestamp);
  if (!details) throw new Error(`there are no details of ${listing.url}`);
  return details;
};
const legacyOf = (listing: Listing) => catalogue.legacyDetails(productOf(listing), timestamp);
const offersOf = (listing: Listing) => catalogue.offers(productOf(listing), timestamp)?.offers ?? [];

test('every listing has the shapes of the contract', () => {
  for (const listing of listings) {
    expect(checkShape('ProductDetailsPayload', detailsOf(listing), 'response').issues).toBeUndefined();
    expect(checkShape('LegacyProductDetails', legacyOf(listing), 'response').issues).toBeUndefined();
    const offers = catalogue.offers(productOf(listing), timestamp);
    expect(checkShape('ProductOffersPayload', offers, 'response').issues).toBeUndefined();
  }
});

test('what a retailer does not have is undefined, and an unknown retailer is refused', () => {
  for (const { retailer } of retailers) {
    for (const productId of [
      '',
      '0',
      'nothing',
      '99999999999999999999',
      'B0ZZZZZZZZ',
      'a-1',
      "'",
      '\u0000',
    ]) {
      expect(catalogue.details({ retailer, productId }, timestamp)).toBeUndefined();
    }
  }
  const [one] = ofKind('general');
  const elsewhere = { retailer: 'pantryfolk', productId: one?.productId ?? '' };
  expect(catalogue.details(elsewhere, timestamp)).toBeUndefined();
  expect(codeOf(() => catalogue.details({ retailer: 'nobody', productId: '1' }, timestamp))).toBe(
    'unsupported_retailer',
  );
});

describe('details', () => {
  test('repeat what the search showed, and say when they were fetched', () => {
    for (const listing of listings.slice(0, 500)) {
      expect(detailsOf(listing)).toMatchObject({
        status: 'completed',
        retailer: listing.seller.retailer,
        product_id: listing.productId,
        timestamp,
        title: listing.title,
        url: listing.url,
        available: listing.available,
        currency_code: listing.currency,
      });
    }
  });

  test('the electronics retailer repeats its SKU, by which it is not addressed', () => {
    for (const listing of ofKind('electronics').slice(0, 50)) {
      const { sku } = detailsOf(listing);
      expect(sku).toMatch(/^\d{7}$/);
      expect(new URL(listing.url).pathname.split('/').at(-1)).toBe(listing.productId);
      expect(catalogue.details({ retailer: 'voltcorner', productId: sku ?? '' }, timestamp)).toBeUndefined();
    }
  });

  test('other kinds than electronics have no sku', () => {
    for (const kind of ['general', 'marketplace', 'handmade', 'storefront', 'plain'] as const) {
      expect(ofKind(kind).filter((listing) => detailsOf(listing).sku !== undefined)).toEqual([]);
    }
  });

  test('a store domain shows price and availability of each variant', () => {
    for (const listing of ofKind('storefront')) {
      const { variants = [] } = detailsOf(listing);
      expect(variants).toHaveLength(variantsOf(listing).length);
      for (const [index, variant] of variants.entries()) {
        const { cents, available } = variantsOf(listing)[index] ?? {};
        expect(variant).toMatchObject({
          price: cents,
          available,
          variant_id: expect.stringMatching(/^\d+$/),
        });
      }
    }
  });

  test('every variant that is named can be requested', () => {
    const listing = listingWhere(({ seller, options }) => seller.kind === 'general' && options.length === 2);
    const { all_variants = [], variants = [] } = detailsOf(listing);
    expect(all_variants).toHaveLength(variantsOf(listing).length);
    for (const [index, { product_id: productId, variant_specifics }] of all_variants.entries()) {
      const details = catalogue.details({ retailer: 'harborgoods', productId }, timestamp);
      expect(details).toMatchObject({ product_id: productId, variant_specifics });
      expect(variants[index]).toMatchObject({ product_id: productId, price: details?.price });
      expect(details?.all_variants).toEqual(all_variants);
    }
  });
});

describe('details of the handmade marketplace', () => {
  const handmade = ofKind('handmade');
  const facts = handmade.map((listing) => ({ listing, details: detailsOf(listing) }));

  test("have no stars or num_reviews, and the price in the shop's own currency", () => {
    for (const { listing, details } of facts) {
      expect(details).not.toHaveProperty('stars');
      expect(details).not.toHaveProperty('num_reviews');
      expect(details).toMatchObject({ price: listing.cents, currency_code: listing.currency });
      expect(details.product_id).toMatch(/^\d+$/);
    }
    expect(facts.some(({ details }) => details.currency_code !== 'USD')).toBe(true);
  });

  test('say whether a shop is away or only out of stock', () => {
    const unavailable = facts.filter(({ details }) => details.available === false);
    expect(new Set(unavailable.map(({ details }) => details.shop_is_vacation))).toEqual(
      new Set([true, false]),
    );
    const away = facts.filter(({ details }) => details.shop_is_vacation);
    expect(away.every(({ details }) => details.available === false)).toBe(true);
  });

  test('a shop without recent sales has no reviews and a null average', () => {
    const unrated = facts.filter(({ details }) => details.shop_review_count === 0);
    expect(unrated.length).toBeGreaterThan(0);
    for (const { details } of facts) {
      expect(details.shop_review_average === null).toBe(details.shop_review_count === 0);
    }
  });

  test('are physical, a download, or both', () => {
    expect(new Set(facts.map(({ details }) => details.listing_type))).toEqual(
      new Set(['physical', 'download', 'both']),
    );
  });

  test('tell no variants from variants that cannot be seen', () => {
    const forms = facts.map(({ details }) => `${details.has_variations} ${details.variants !== undefined}`);
    expect(new Set(forms)).toEqual(new Set(['false false', 'true false', 'true true']));
  });
});

describe('the legacy record', () => {
  const marketplaceOnly = [
    'original_retail_price',
    'price',
    'review_count',
    'stars',
    'question_count',
    'asin',
    'fresh',
    'pantry',
    'handmade',
    'digital',
    'buyapi_hint',
  ];

  test("has the marketplace's fields for the marketplace only", () => {
    for (const listing of listings) {
      const record = legacyOf(listing) ?? {};
      const has = marketplaceOnly.filter((field) => field in record);
      const expected = listing.available
        ? marketplaceOnly
        : marketplaceOnly.filter((field) => field !== 'price');
      expect(has).toEqual(listing.seller.kind === 'marketplace' ? expected : []);
    }
  });

  test('knows authors of books only', () => {
    for (const listing of listings) {
      expect('authors' in (legacyOf(listing) ?? {})).toBe(listing.sort.category === 'Books');
    }
  });

  test('has every other field for every retailer', () => {
    const fields = [
      ...['status', 'retailer', 'product_id', 'timestamp', 'title', 'product_details', 'feature_bullets'],
      ...['brand', 'main_image', 'images', 'variant_specifics', 'all_variants', 'categories'],
      ...['product_description', 'epids', 'epids_map', 'package_dimensions', 'item_location', 'item_number'],
    ];
    for (const { retailer } of retailers) {
      const record = legacyOf(listingWhere(({ seller }) => seller.retailer === retailer));
      expect(Object.keys(record ?? {})).toEqual(expect.arrayContaining(fields));
    }
  });

  test('maps its product codes by their type, and their check digits hold', () => {
    const record = legacyOf(listingWhere(({ seller }) => seller.kind === 'marketplace'));
    expect(Object.entries(record?.epids_map ?? {})).toEqual(
      record?.epids?.map(({ type, value }) => [type, value]),
    );
    expect(record?.epids_map?.ASIN).toBe(record?.asin);
    const weighted = [...(record?.epids_map?.EAN ?? '')].map(
      (digit, at) => Number(digit) * (at % 2 === 0 ? 1 : 3),
    );
    expect(weighted).toHaveLength(13);
    expect(weighted.reduce((sum, part) => sum + part, 0) % 10).toBe(0);
  });
});

describe('offers', () => {
  test('the marketplace has several sellers and conditions, one of them itself', () => {
    const offers = ofKind('marketplace').flatMap(offersOf);
    expect(new Set(offers.map(({ condition }) => condition)).size).toBe(6);
    expect(new Set(offers.map(({ seller }) => seller.name)).size).toBe(7);
    for (const listing of ofKind('marketplace').filter(({ available }) => available)) {
      const own = offersOf(listing).filter(({ seller }) => seller.first_party);
      expect(own).toMatchObject([{ price: listing.cents, condition: 'New' }]);
      expect(new Set(offersOf(listing).map(({ offer_id }) => offer_id)).size).toBe(offersOf(listing).length);
    }
  });

  test('nobody offers used food', () => {
    const food = ofKind('marketplace').filter(({ sort }) => sort.category === 'Coffee');
    expect(new Set(food.flatMap(offersOf).map(({ condition }) => condition))).toEqual(new Set(['New']));
  });

  test('elsewhere there is one, of the retailer or of the handmade shop', () => {
    for (const kind of ['general', 'plain', 'electronics'] as const) {
      for (const listing of ofKind(kind))
        expect(offersOf(listing)).toMatchObject([{ seller: { first_party: true } }]);
    }
    for (const listing of ofKind('handmade')) {
      expect(offersOf(listing)).toMatchObject([{ seller: { name: listing.brand, first_party: false } }]);
    }
  });

  test('which retailers have none, and which take async, is in their traits', () => {
    expect(catalogue.traits('morningroast.example')).toMatchObject({ offers: false, async: false });
    expect(catalogue.traits('loomandkiln')).toMatchObject({ offers: true, async: false });
    for (const retailer of ['harborgoods', 'stallandbarrow', 'voltcorner', 'papierlaterne']) {
      expect(catalogue.traits(retailer)).toMatchObject({ offers: true, async: true });
    }
  });
});
