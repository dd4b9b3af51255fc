import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { goods } from '../../../../src/sandbox/catalogue/goods.ts';
import { listingAt, listingCount } from '../../../../src/sandbox/catalogue/listing.ts';
import { retailers } from '../../../../src/sandbox/catalogue/retailers.ts';
import { atVariant, variantsOf } from '../../../../src/sandbox/catalogue/variants.ts';
import { allListings, catalogueOf, openDatabase } from '../../../support/catalogues.ts';
import { makeFolder } from '../../../support/folder.ts';

const listings = allListings();

describe('the listings of a seed', () => {
  test('are about five thousand, over fourteen retailers, each with a shelf worth searching', () => {
    expect(listings).toHaveLength(5_000);
    expect(retailers).toHaveLength(14);
    for (const { retailer } of retailers) {
      expect(listings.filter(({ seller }) => seller.retailer === retailer).length, retailer).toBeGreaterThan(
        30,
      );
    }
  });

  test('are the same each time, and others for another seed', () => {
    expect(allListings()).toEqual(listings);
    expect(allListings(2)).not.toEqual(listings);
    expect(allListings(9_999_999_999)).toHaveLength(listingCount);
  });

  test('change only together with the version of the index: raise it in database.ts, then bring this up to date', () => {
    const folder = makeFolder();
    const file = join(folder.path, 'catalogue.db');
    const catalogue = catalogueOf(1, file);
    catalogue.search({ q: 'coffee', sort: 'relevance', limit: 1 });
    catalogue.close();
    const database = openDatabase(file);
    const mark: unknown = database.prepare('PRAGMA user_version').get();
    const rows: unknown[] = database.prepare('SELECT * FROM listings').all();
    database.close();
    folder.remove();
    const words = listings.map(({ title, brand, sort, item }) => [title, brand, sort.category, item.name]);
    const digest = createHash('sha256')
      .update(JSON.stringify([rows, words]))
      .digest('hex');
    expect({ mark, digest: digest.slice(0, 16) }).toMatchInlineSnapshot(`
      {
        "digest": "c62a12940eda4024",
        "mark": {
          "user_version": 1505498791,
        },
      }
    `);
  });

  test('have ids of their own', () => {
    const products = new Set(listings.map(({ seller, productId }) => `${seller.retailer} ${productId}`));
    expect(products.size).toBe(listings.length);
    expect(new Set(listings.map(({ sku }) => sku)).size).toBe(listings.length);
    expect(new Set(listings.map(({ url }) => url)).size).toBe(listings.length);
  });

  test('stand at invented addresses only', () => {
    expect(listings.filter(({ url }) => !new URL(url).hostname.endsWith('.example'))).toEqual([]);
  });

  test("cost what their goods cost, and ship free from the retailer's threshold on", () => {
    for (const { cents, item, shipCents, seller } of listings) {
      expect(Number.isInteger(cents) && cents >= item.cents[0] && cents <= item.cents[1]).toBe(true);
      if (seller.freeFromCents !== null && cents >= seller.freeFromCents) expect(shipCents).toBe(0);
    }
  });

  test('have titles beyond ASCII: German, Italian, wide characters, an emoji', () => {
    for (const pattern of [/Röstung/, /Caffè/, /抹茶/, /🎂/]) {
      expect(
        listings.some(({ title }) => pattern.test(title)),
        String(pattern),
      ).toBe(true);
    }
  });

  test('now and then are sold out', () => {
    const soldOut = listings.filter(({ available }) => !available);
    expect(soldOut.length).toBeGreaterThan(50);
    expect(soldOut.length).toBeLessThan(500);
  });

  test('begin at 1 and end at the last', () => {
    expect(listingAt(1, 0)).toBeUndefined();
    expect(listingAt(1, listingCount + 1)).toBeUndefined();
    expect(listingCount).toBe(goods.reduce((sum, sort) => sum + sort.listings, 0));
  });
});

describe('variants', () => {
  const withOptions = listings.filter(({ options }) => options.length > 0);

  test('some listings have them, with prices and stock of their own', () => {
    expect(withOptions.length).toBeGreaterThan(1_000);
    const variants = withOptions.flatMap((it) => variantsOf(it).map(({ cents }) => cents - it.cents));
    expect(new Set(variants).size).toBeGreaterThan(2);
    const partly = withOptions.filter((it) => {
      const stock = new Set(variantsOf(it).map(({ available }) => available));
      return stock.size === 2;
    });
    expect(partly.length).toBeGreaterThan(100);
  });

  test('the first is the listing as it is found', () => {
    for (const listing of listings) {
      expect(variantsOf(listing)[0]).toMatchObject({ cents: listing.cents, available: listing.available });
    }
  });

  test('a listing opened at one of them can be opened at any other', () => {
    for (const listing of withOptions.slice(0, 200)) {
      const last = variantsOf(listing).length - 1;
      const opened = atVariant(listing, last);
      expect(opened?.cents).toBe(variantsOf(listing)[last]?.cents);
      expect(opened && atVariant(opened, 0)).toEqual(listing);
      expect(atVariant(listing, last + 1)).toBeUndefined();
    }
  });
});
