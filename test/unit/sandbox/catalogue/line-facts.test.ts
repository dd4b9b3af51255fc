import { describe, expect, test } from 'vitest';
import { lineFacts, offersOf } from '../../../../src/sandbox/catalogue/offers.ts';
import { variantsOf } from '../../../../src/sandbox/catalogue/variants.ts';
import { allListings, listingWhere } from '../../../support/catalogues.ts';

describe('what an order depends on of a listing', () => {
  test('is its price, stock, shipping and choices', () => {
    const listing = listingWhere(({ options, seller }) => options.length === 2 && seller.kind === 'general');
    expect(lineFacts(listing)).toEqual({
      retailer: 'harborgoods',
      productId: listing.productId,
      title: listing.title,
      priceCents: listing.cents,
      currency: 'USD',
      available: listing.available,
      giftOption: listing.giftOption,
      shippingCents: listing.shipCents,
      conditions: ['New'],
      handlingDays: expect.any(Number),
      options: Object.fromEntries(listing.options.map(({ label, values }) => [label, values])),
    });
  });

  test('is the price and stock of the requested variant', () => {
    for (const listing of allListings()
      .filter(({ options }) => options.length > 0)
      .slice(0, 200)) {
      for (const { choices, cents, available } of variantsOf(listing)) {
        const variant = choices.map(({ dimension, value }) => ({ label: dimension, value }));
        expect(lineFacts(listing, { variant })).toMatchObject({ priceCents: cents, available });
        expect(lineFacts(listing, { variant: variant.toReversed() })).toMatchObject({ priceCents: cents });
      }
    }
  });

  test('is the listing as it is found where there is no such variant', () => {
    const listing = listingWhere(({ options }) => options.length > 0);
    const variant = [{ label: 'Size', value: 'Enormous' }];
    expect(lineFacts(listing, { variant })).toEqual(lineFacts(listing));
    expect(lineFacts(listing, { variant: [] })).toEqual(lineFacts(listing));
    expect(lineFacts(listing, { variant: null, condition_in: null })).toEqual(lineFacts(listing));
  });

  test('is the cheapest offer in an accepted condition where new is not accepted', () => {
    const listing = listingWhere(
      (it) => offersOf(it).filter(({ condition }) => condition !== 'New').length > 1,
    );
    const used = offersOf(listing).filter(({ condition }) => condition !== 'New');
    const least = Math.min(...used.map(({ price }) => price));
    expect(lineFacts(listing, { condition_not_in: ['New'] }).priceCents).toBe(least);
    expect(lineFacts(listing, { condition_in: used.map(({ condition }) => condition) }).priceCents).toBe(
      least,
    );
    expect(lineFacts(listing).priceCents).toBe(listing.cents);
    expect(lineFacts(listing).conditions).toEqual(
      expect.arrayContaining(['New', ...used.map(({ condition }) => condition)]),
    );
  });

  test('only the large marketplace reports lines that it rejects', () => {
    for (const listing of allListings()) {
      expect(lineFacts(listing).reportsRejections).toBe(listing.seller.kind === 'marketplace' || undefined);
    }
  });
});
