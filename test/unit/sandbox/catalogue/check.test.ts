import { describe, expect, test } from 'vitest';
import { checkShape } from '../../../../src/api/schemas/check.ts';
import { retailers } from '../../../../src/sandbox/catalogue/retailers.ts';
import { catalogueOf, listingWhere, shopUrl } from '../../../support/catalogues.ts';

const catalogue = catalogueOf();
const check = (url: string, country = 'US') => catalogue.check(url, country, shopUrl);
const pageAt = (retailer: string) => listingWhere(({ seller }) => seller.retailer === retailer).url;

describe('would an order be refused', () => {
  test.each([
    ['a general retailer', pageAt('harborgoods'), 'US', null, 'verified'],
    ['a general retailer abroad', pageAt('harborgoods'), 'IT', null, 'verified'],
    ['its front page', 'https://www.harborgoods.example', 'US', null, 'verified'],
    ['a US retailer', pageAt('trailmarket'), 'US', null, 'active'],
    ['a US retailer abroad', pageAt('trailmarket'), 'DE', 'unsupported_country', 'active'],
    ['a German retailer', pageAt('papierlaterne'), 'DE', null, 'active'],
    ['a German retailer from the US', pageAt('papierlaterne'), 'US', 'unsupported_country', 'active'],
    ['an Italian retailer', pageAt('bottegadiva'), 'it', null, 'active'],
    ["a members' retailer", pageAt('membersbarn'), 'US', 'guest_checkout_not_supported', 'active'],
    ["a members' retailer abroad", pageAt('membersbarn'), 'DE', 'unsupported_country', 'active'],
    ['a storefront', pageAt('softlight.example'), 'DE', null, 'active'],
    ['a store that was seen', 'https://quietkettle.example/x', 'US', null, 'observed'],
    ['an unknown shop', 'https://anything.example/x', 'US', null, 'untested'],
    ['an unknown shop to elsewhere', 'https://anything.example/x', 'FR', 'unsupported_country', 'untested'],
    [
      'a shop that is not supported',
      'https://giftcards.example/x',
      'US',
      'unsupported_retailer',
      'unsupported',
    ],
    ['the same with www', 'https://www.GiftCards.example', 'FR', 'unsupported_retailer', 'unsupported'],
    ["the sandbox's own shop", `${shopUrl}/test-success`, 'US', null, 'verified'],
    ['the same on another port', 'http://localhost:9/shop/test-success', 'DE', null, 'verified'],
    ['the same to elsewhere', `${shopUrl}/test-success`, 'FR', 'unsupported_country', 'verified'],
    [
      'its product of a retailer that is not supported',
      `${shopUrl}/test-refused-unsupported-retailer`,
      'US',
      'unsupported_retailer',
      'unsupported',
    ],
    [
      'its product that does not come to the country',
      `${shopUrl}/test-refused-unsupported-country`,
      'US',
      'unsupported_country',
      'verified',
    ],
    [
      'its product for members',
      `${shopUrl}/test-refused-guest-checkout-not-supported`,
      'US',
      'guest_checkout_not_supported',
      'verified',
    ],
    [
      'a refusal that no check tells',
      `${shopUrl}/test-refused-retailer-country-not-supported`,
      'US',
      null,
      'verified',
    ],
  ])('%s', (_, url, country, reason, support) => {
    const response = check(url, country);
    expect(response).toMatchObject({ url, orderable: reason === null, unsupported_reason: reason, support });
    expect(checkShape('RetailerCheckResponse', response, 'response').issues).toBeUndefined();
  });

  test('without a country nothing is said of shipping, whatever the product rehearses', () => {
    const url = `${shopUrl}/test-refused-unsupported-country`;
    expect(catalogue.check(url, undefined, shopUrl).orderable).toBe(true);
    expect(check(url, 'DE').ships_to).toEqual(['US', 'IT']);
  });

  test('a listing id is checked as its retailer is', () => {
    const { sku } = listingWhere(({ seller }) => seller.retailer === 'papierlaterne');
    expect(check(`${shopUrl}/xx_sku_${sku}`, 'US')).toMatchObject({
      unsupported_reason: 'unsupported_country',
      retailer: { retailer: 'papierlaterne', country: 'DE' },
    });
    expect(check(`${shopUrl}/xx_sku_${sku}`, 'DE').orderable).toBe(true);
  });

  test('what members only can order says how', () => {
    expect(check(pageAt('membersbarn'))).toMatchObject({
      checkout: { guest_checkout: false, use_your_account: true },
      how_to_order: expect.stringContaining('retailer_credentials_id'),
    });
  });

  test('a store domain is recognised by its platform', () => {
    expect(check(pageAt('softlight.example'))).toMatchObject({
      platform: 'hosted-storefront',
      domain: 'softlight.example',
    });
    expect(check(pageAt('harborgoods'))).toMatchObject({ platform: null, domain: 'harborgoods.example' });
  });
});

describe('the list of retailers', () => {
  const all = catalogue.retailers({ includeObserved: false, limit: 200, offset: 0 });

  test('is in the shape of the contract, with every kind of support where those that were seen are requested', () => {
    const seen = catalogue.retailers({ includeObserved: true, limit: 200, offset: 0 });
    const response = { ...seen, coverage: catalogue.coverage() };
    expect(checkShape('PublicRetailerListResponse', response, 'response').issues).toBeUndefined();
    expect(new Set(all.retailers.map(({ support }) => support))).toEqual(new Set(['verified', 'active']));
    expect(new Set(seen.retailers.map(({ support }) => support))).toEqual(
      new Set(['verified', 'active', 'observed']),
    );
    expect(all.retailers.map(({ retailer }) => retailer)).toEqual(catalogue.retailerIds());
  });

  test('has pages, and can be narrowed by a part of a name', () => {
    const page = catalogue.retailers({ includeObserved: false, limit: 5, offset: 10 });
    expect(page.total).toBe(14);
    expect(page.retailers).toEqual(all.retailers.slice(10));
    expect(
      catalogue.retailers({ name: 'HARBOR', includeObserved: false, limit: 5, offset: 0 }),
    ).toMatchObject({
      total: 1,
      retailers: [{ retailer: 'harborgoods', free_shipping_threshold_cents: 3500 }],
    });
    expect(catalogue.retailers({ name: 'nobody', includeObserved: false, limit: 5, offset: 0 })).toEqual({
      retailers: [],
      total: 0,
    });
  });

  test('covers every kind of the specification, guests and members, US, DE and IT', () => {
    const kinds = new Set(retailers.map(({ kind }) => kind));
    expect(kinds.size).toBe(6);
    expect(new Set(all.retailers.map(({ no_account_needed }) => no_account_needed)).size).toBe(2);
    const countries = all.retailers.map(({ supported_countries }) => supported_countries.join());
    expect(countries).toEqual(expect.arrayContaining(['US', 'DE', 'IT,DE', 'US,DE,IT']));
  });
});
