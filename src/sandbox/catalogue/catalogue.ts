import {
  destinationCountries,
  offerConditions,
  type UnsupportedReason,
  unsupportedReasons,
} from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { rehearsedErrorCode } from '../orders/lifecycle/creation.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { hash } from '../store/random.ts';
import { imagesOf, legacyRecord, productDetails } from './details.ts';
import { type Listing, listingAt, listingCount } from './listing.ts';
import { offersOf } from './offers.ts';
import { type ListingRef, numberOfSku, readPage, readSku, refOf, refOfVariant } from './product-id.ts';
import {
  domainOf,
  isObserved,
  isUnsupported,
  observedStores,
  publicRetailer,
  type Retailer,
  retailerNamed,
  retailerOf,
  retailers,
  type Traits,
  traits,
} from './retailers.ts';
import { findEverywhere, findWithin, type RetailerSearch, retailerPage, type Search } from './search.ts';
import { localized } from './sorts.ts';
import { atVariant } from './variants.ts';

export interface OpenCatalogue {
  /** Path of the search index, or `:memory:`. */
  readonly file: string;
  readonly seed: number;
  /** Prefix of listing ids, without its underscore. */
  readonly prefix: string;
  /** Base URL of images, without a trailing slash. */
  readonly images?: string;
  readonly database: (file: string) => Sqlite;
  /**
   * Listings defined by a scenario, keyed by listing number. A catalogue that has such listings does not share its
   * index with other catalogues.
   */
  readonly own?: ReadonlyMap<number, Listing>;
}

interface Product {
  /** Identifier of a retailer, or domain of a hosted storefront. */
  readonly retailer: string;
  readonly productId: string;
}

/**
 * The listings generated from a seed. Each listing can be derived from its number alone, so only searches need the
 * index.
 */
export class Catalogue {
  readonly #options: Required<OpenCatalogue>;
  #index: Sqlite | undefined;

  constructor(options: OpenCatalogue) {
    this.#options = { images: 'https://pictures.example', own: new Map(), ...options };
  }

  /**
   * Searches the orderable listings of all retailers for listings that match all words. If no listing does, searches
   * for listings that match any of the words.
   */
  search(search: Search): { results: Shape<'Sku'>[]; excludedByPrice: number | null; hint: string | null } {
    const { numbers, ...rest } = findEverywhere(this.#opened(), search);
    return { results: this.#listings(numbers).map((it) => this.#sku(it)), ...rest };
  }

  /** Returns one page of a retailer's own search. @throws Refusal `unsupported_retailer`, `bad_request`. */
  retailerSearch(search: RetailerSearch): Shape<'ProductSearchResponse'> {
    const seller = supported(search.retailer);
    const { retailer } = seller;
    const find = (window: { offset: number; limit: number }) =>
      this.#listings(findWithin(this.#opened(), { retailer, query: search.query, ...window }));
    return retailerPage(seller, search, find, this.#options.images);
  }

  /**
   * The details payload; undefined if the retailer has no such product. @param timestamp unix seconds. @throws Refusal.
   */
  details(product: Product, timestamp: number): Shape<'ProductDetailsPayload'> | undefined {
    const listing = this.listing(product);
    return listing && productDetails(listing, { timestamp, images: this.#options.images });
  }

  /** Like `details`, but returns the legacy product record (v1). */
  legacyDetails(product: Product, timestamp: number): Shape<'LegacyProductDetails'> | undefined {
    const listing = this.listing(product);
    return listing && legacyRecord(listing, { timestamp, images: this.#options.images });
  }

  /**
   * Like `details`, but returns the offers payload. Does not check whether the retailer has offers at all; see
   * `traits`.
   */
  offers(product: Product, timestamp: number): Shape<'ProductOffersPayload'> | undefined {
    const listing = this.listing(product);
    if (!listing) return undefined;
    const { retailer, productId } = { retailer: listing.seller.retailer, productId: listing.productId };
    return {
      status: 'completed',
      retailer,
      product_id: productId,
      timestamp,
      offers: offersOf(listing).map((offer) => ({ ...offer, condition: offerConditions[offer.condition] })),
    };
  }

  /** Traits of the retailer's kind. @throws Refusal `unsupported_retailer`. */
  traits(retailer: string): Traits {
    return traits[supported(retailer).kind];
  }

  /**
   * The listing of a retailer's product. The variant with the given id is selected. @throws Refusal
   * `unsupported_retailer`.
   */
  listing({ retailer, productId }: Product): Listing | undefined {
    return this.#productOf(supported(retailer), productId);
  }

  /** Finds a listing by its product page, its id, or a URL ending with that id. */
  byUrl(url: string): Listing | undefined {
    const sku = readSku(url, this.#options.prefix);
    if (sku !== undefined) return this.#at({ number: numberOfSku(sku) ?? 0, variant: 0 });
    const page = readPage(url);
    const listing = page && this.#productOf(page.retailer, page.productId);
    const variant = page?.variantId ? refOfVariant(page.variantId) : undefined;
    const isOfThis = variant !== undefined && variant.number === listing?.number;
    return listing && isOfThis ? (atVariant(listing, variant.variant) ?? listing) : listing;
  }

  /** Finds a retailer by identifier or storefront domain. */
  retailer(name: string): Retailer | undefined {
    return retailerNamed(name);
  }

  /** The retailer to which a URL belongs. If the URL ends with a listing id, the seller of that listing. */
  sellerOf(url: string): Retailer | undefined {
    return readSku(url, this.#options.prefix) === undefined ? retailerOf(url) : this.byUrl(url)?.seller;
  }

  retailerIds(): string[] {
    return retailers.map(({ retailer }) => retailer);
  }

  /** @param includeObserved adds stores that were seen but are not curated. */
  retailers({
    name,
    includeObserved,
    limit,
    offset,
  }: {
    name?: string;
    includeObserved: boolean;
    limit: number;
    offset: number;
  }) {
    const part = name?.toLowerCase() ?? '';
    const found = (includeObserved ? [...retailers, ...observedStores] : retailers).filter(
      (it) => it.retailer.includes(part) || it.name.toLowerCase().includes(part),
    );
    return { retailers: found.slice(offset, offset + limit).map(publicRetailer), total: found.length };
  }

  coverage(): Shape<'PublicRetailerListResponse'>['coverage'] {
    return {
      policy:
        'Listed retailers are rehearsed with their own behaviour; any other product URL succeeds in the sandbox.',
      summary: `${retailers.length} invented retailers`,
      platforms: [{ platform: 'hosted-storefront', orderable: true }],
    };
  }

  check(url: string, country: string | undefined, shopUrl: string): Shape<'RetailerCheckResponse'> {
    return checkUrl(url, country, this.sellerOf(url), shopUrl);
  }

  close(): void {
    if (!this.#sharesIndex) this.#index?.close();
    this.#index = undefined;
  }

  #opened(): Sqlite {
    const { database, file, seed, own } = this.#options;
    this.#index ??= this.#sharesIndex
      ? sharedIndex(database, seed)
      : openIndex(database, file, seed, own.values());
    return this.#index;
  }

  get #sharesIndex(): boolean {
    return this.#options.file === ':memory:' && this.#options.own.size === 0;
  }

  /** Finds a retailer's product by its exact product id. */
  #productOf(seller: Retailer, productId: string): Listing | undefined {
    const ref = refOf(seller.kind, productId);
    const listing = ref && this.#at(ref);
    return listing?.seller === seller && listing.productId === productId ? listing : undefined;
  }

  #at({ number, variant }: ListingRef): Listing | undefined {
    const listing = this.#options.own.get(number) ?? listingAt(this.#options.seed, number);
    return listing && atVariant(listing, variant);
  }

  #listings(numbers: readonly number[]): Listing[] {
    return numbers.flatMap((number) => this.#at({ number, variant: 0 }) ?? []);
  }

  #sku(it: Listing): Shape<'Sku'> {
    return {
      id: `${this.#options.prefix}_sku_${it.sku}`,
      url: it.url,
      retailer: it.seller.retailer,
      title: it.title,
      image: imagesOf(it, this.#options.images)[0],
      brand: it.brand,
      price: it.cents,
      currency_code: it.currency,
      stars: it.stars,
      num_reviews: it.reviews,
      available: it.available,
      free_shipping: it.shipCents === 0,
    };
  }
}

/** Creates the catalogue of a seed. The first search opens the index, and builds the index if it is missing. */
export const openCatalogue = (options: OpenCatalogue): Catalogue => new Catalogue(options);

function supported(retailer: string): Retailer {
  const seller = retailerNamed(retailer);
  if (seller) return seller;
  throw new ErrorResponse(
    'unsupported_retailer',
    `There is no retailer "${retailer}"; the list of retailers names them.`,
    {
      retailer,
    },
  );
}

type Check = Shape<'RetailerCheckResponse'>;

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks whether an order of the product at `url`, shipped to `country`, would be rejected. If so, reports the error
 * code of the rejection. @param retailer the seller of the product, if the catalogue knows the seller.
 * @param country two letters in any case. Without a country, shipping is not checked.
 */
function checkUrl(
  url: string,
  country: string | undefined,
  retailer: Retailer | undefined,
  shopUrl: string,
): Check {
  const domain = domainOf(url);
  const destination = country?.toUpperCase();
  const rehearsed = rehearsedAgainst(url, destination, shopUrl);
  const reason = rehearsed ?? reasonAgainst(domain, retailer, destination);
  const support = reason === 'unsupported_retailer' ? 'unsupported' : supportOf(domain, retailer, shopUrl);
  const ships = support === 'unsupported' ? [] : shipsTo(retailer, rehearsed, destination);
  return {
    url,
    domain,
    orderable: reason === null,
    support,
    retailer: retailer
      ? {
          retailer: retailer.retailer,
          brand: retailer.name,
          display_name: retailer.name,
          country: retailer.home,
        }
      : null,
    platform: retailer?.kind === 'storefront' ? 'hosted-storefront' : null,
    checkout: retailer
      ? { guest_checkout: retailer.guestCheckout, use_your_account: retailer.kind !== 'storefront' }
      : null,
    ships_to: ships,
    evidence: { orders_placed: support === 'verified' || support === 'active', last_order_at: null },
    support_detail: reason === null ? supportDetails[support](domain) : details[reason](domain, destination),
    unsupported_reason: reason,
    how_to_order: howToOrder[reason ?? 'orderable'](ships),
  };
}

const details: Readonly<Record<UnsupportedReason, (domain: string, country?: string) => string>> = {
  unsupported_retailer: (domain) => `${domain} cannot be ordered from.`,
  unsupported_country: (domain, country) => `${domain} does not deliver to ${country}.`,
  guest_checkout_not_supported: (domain) =>
    `${domain} sells to members only: order with your own account there.`,
};

/**
 * Why an order would be rejected, if the URL is a test product that simulates a rejection. Without a country, shipping
 * is not checked.
 */
function rehearsedAgainst(
  url: string,
  country: string | undefined,
  shopUrl: string,
): UnsupportedReason | undefined {
  const code = rehearsedErrorCode(url, shopUrl);
  const reason = unsupportedReasons.find((known) => known === code);
  return reason === 'unsupported_country' && country === undefined ? undefined : reason;
}

function shipsTo(
  retailer: Retailer | undefined,
  rehearsed: UnsupportedReason | undefined,
  country: string | undefined,
): string[] {
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  return served.filter((one) => rehearsed !== 'unsupported_country' || one !== country);
}

function reasonAgainst(
  domain: string,
  retailer: Retailer | undefined,
  country: string | undefined,
): UnsupportedReason | null {
  if (isUnsupported(domain)) return 'unsupported_retailer';
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  if (country !== undefined && !served.includes(country)) return 'unsupported_country';
  return retailer && !retailer.guestCheckout ? 'guest_checkout_not_supported' : null;
}

function supportOf(domain: string, retailer: Retailer | undefined, shopUrl: string): Check['support'] {
  if (retailer) return retailer.support;
  if (isObserved(domain)) return 'observed';
  return domain === domainOf(shopUrl) || loopback.test(domain) ? 'verified' : 'untested';
}

const supportDetails: Readonly<Record<Check['support'], (domain: string) => string>> = {
  verified: (domain) => `Orders at ${domain} are checked regularly.`,
  active: (domain) => `Orders at ${domain} have been placed.`,
  observed: (domain) => `${domain} was seen, and no order has been placed there yet.`,
  untested: (domain) => `Nothing is known of ${domain}; an order is tried all the same.`,
  unsupported: (domain) => `${domain} cannot be ordered from.`,
};

const howToOrder: Readonly<Record<UnsupportedReason | 'orderable', (ships: readonly string[]) => string>> = {
  orderable: () => 'POST /orders with this URL',
  unsupported_retailer: () => 'Choose a product of another retailer; GET /retailers lists them.',
  unsupported_country: (ships) => `POST /orders with an address in ${ships.join(', ')}.`,
  guest_checkout_not_supported: () =>
    'POST /orders with this URL and the retailer_credentials_id of your account there',
};

/** Increase this number when listings change, so that files with older listings are rebuilt. */
const version = 2;

/**
 * Maximum time, in ms, to wait for another process that is building the same index. A build takes about half as long.
 */
const busyTimeoutMs = 400;

/**
 * Stores only the data that searches match, filter and sort by. The listings themselves are derived from their numbers.
 */
const tables = `
  DROP TABLE IF EXISTS listings; DROP TABLE IF EXISTS words;
  CREATE TABLE listings (
    number INTEGER PRIMARY KEY, retailer TEXT NOT NULL, cents INTEGER NOT NULL, stars REAL NOT NULL,
    reviews INTEGER NOT NULL, reach INTEGER NOT NULL) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (
    title, keywords, content = '', tokenize = 'porter unicode61 remove_diacritics 2');`;

/** The last index in memory. */
let shared: { readonly seed: number; readonly index: Sqlite } | undefined;

/**
 * Returns the index in memory for this seed. The sandboxes of one process share it, because they only read it: to build it
 * takes longer than anything else that a test with its own sandbox does.
 */
function sharedIndex(database: (file: string) => Sqlite, seed: number): Sqlite {
  if (shared?.seed !== seed) shared = { seed, index: opened(database, ':memory:', seed, []) };
  return shared.index;
}

/**
 * Opens the index, and builds it if the file has none for this seed. Another process may be building the same index. If
 * the index cannot be stored or the wait is too long, builds it in memory. A stored index is not essential, because it
 * can be rebuilt at any time.
 */
function openIndex(
  database: (file: string) => Sqlite,
  file: string,
  seed: number,
  own: Iterable<Listing> = [],
): Sqlite {
  try {
    return opened(database, file, seed, own);
  } catch (error) {
    if (file === ':memory:') throw error;
    return opened(database, ':memory:', seed, own);
  }
}

function opened(
  database: (file: string) => Sqlite,
  file: string,
  seed: number,
  own: Iterable<Listing>,
): Sqlite {
  const index = database(file);
  try {
    build(index, seed, own);
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/** Sets the version mark in the same transaction that fills the tables, so that nobody sees incomplete tables. */
function build(index: Sqlite, seed: number, own: Iterable<Listing>): void {
  index.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const mark = hash(`${version} ${seed}`) | 1;
  if (markOf(index) === mark) return;
  index.exec('BEGIN EXCLUSIVE');
  if (markOf(index) !== mark) fill(index, seed, mark, own);
  index.exec('COMMIT');
}

function markOf(index: Sqlite): number {
  const row: object = index.prepare('PRAGMA user_version').get() ?? {};
  return Number({ user_version: 0, ...row }.user_version) >>> 0;
}

function fill(index: Sqlite, seed: number, mark: number, own: Iterable<Listing>): void {
  index.exec(tables);
  const insert = index.prepare('INSERT INTO listings VALUES (?, ?, ?, ?, ?, ?)');
  const addWords = index.prepare('INSERT INTO words (rowid, title, keywords) VALUES (?, ?, ?)');
  const add = (it: Listing): void => {
    insert.run(it.number, it.seller.retailer, it.cents, it.stars ?? 0, it.reviews ?? 0, reachOf(it));
    addWords.run(it.number, it.title, keywordsOf(it));
  };
  for (let number = 1; number <= listingCount; number += 1) {
    const it = listingAt(seed, number);
    if (it) add(it);
  }
  for (const it of own) add(it);
  index.exec(`PRAGMA user_version = ${mark | 0}`);
}

/** In every country, a search finds products by their English names. */
const keywordsOf = ({ sort, item, brand }: Listing): string =>
  `${sort.category} ${localized(item.name, 'US')} ${brand}`;

/**
 * Who can order a listing: 2 means anyone in the US, 1 anyone in another country, and 0 only users with an account. A
 * listing with -1 is never shown.
 */
function reachOf({ seller, currency }: Listing): number {
  if (currency !== seller.currency) return -1;
  if (!seller.guestCheckout) return 0;
  return seller.countries.includes('US') ? 2 : 1;
}
