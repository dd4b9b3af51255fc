import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { type Catalogue, openCatalogue } from '../../src/sandbox/catalogue/catalogue.ts';
import { type Listing, listingAt, listingCount } from '../../src/sandbox/catalogue/listing.ts';

const Database = loadSqlite();

export const shopUrl = 'http://127.0.0.1:4848/shop';

export const catalogueOf = (seed = 1, file = ':memory:'): Catalogue =>
  openCatalogue({ file, seed, prefix: 'xx', database: (path) => new Database(path) });

export const openDatabase = (file: string) => new Database(file);

/** Every listing of a seed, in order. */
export const allListings = (seed = 1): Listing[] =>
  Array.from({ length: listingCount }, (_, index) => listingNumbered(index + 1, seed));

export function listingNumbered(number: number, seed = 1): Listing {
  const listing = listingAt(seed, number);
  if (!listing) throw new Error(`there is no listing ${number}`);
  return listing;
}

/** The first listing of seed 1 that matches. */
export function listingWhere(matches: (listing: Listing) => boolean): Listing {
  const listing = allListings().find(matches);
  if (!listing) throw new Error('there is no such listing');
  return listing;
}

/** Returns the code of the error thrown. */
export function codeOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
  return undefined;
}
