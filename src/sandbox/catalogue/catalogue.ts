import { offerConditions } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Sqlite } from '../../platform/sqlite/load.ts';
import { Refusal } from '../server/refusal.ts';
import { readPage, readSku } from './address.ts';
import { checkUrl } from './check.ts';
import { openIndex } from './database.ts';
import { productDetails } from './details.ts';
import { imagesOf } from './images.ts';
import { type Traits, traits } from './kinds.ts';
import { legacyRecord } from './legacy-details.ts';
import { type Listing, listingAt } from './listing.ts';
import { offersOf } from './offers.ts';
import { type ListingRef, numberOfSku, refOf, refOfVariant } from './product-id.ts';
import { type RetailerSearch, retailerPage } from './retailer-search.ts';
import {
  publicRetailer,
  type Retailer,
  retailerNamed,
  retailerOf,
  retailers,
  seenStores,
} from './retailers.ts';
import { findEverywhere, findWithin, type Search } from './search.ts';
import { atVariant } from './variants.ts';

export interface OpenCatalogue {
  /** Path of the search index, or `:memory:`. */
  readonly file: string;
  readonly seed: number;
  /** Prefix of listing ids, without its underscore. */
  readonly prefix: string;
  /** Base of picture addresses, without a trailing slash. */
  readonly images?: string;
  readonly database: (file: string) => Sqlite;
  /** Those that a scenario brings along, by their numbers; the index of such a catalogue is no other's. */
  readonly own?: ReadonlyMap<number, Listing>;
}

interface Product {
  /** A retailer's identifier, or the domain of a hosted storefront. */
  readonly retailer: string;
  readonly productId: string;
}

/** The invented listings of a seed. Each follows from its number alone; only searches need the index. */
export class Catalogue {
  readonly #options: Required<OpenCatalogue>;
  #index: Sqlite | undefined;

  constructor(options: OpenCatalogue) {
    this.#options = { images: 'https://pictures.example', own: new Map(), ...options };
  }

  /** Orderable listings across retailers; where no listing has all the words, those that have any. */
  search(search: Search): { results: Shape<'Sku'>[]; excludedByPrice: number | null; hint: string | null } {
    const { numbers, ...rest } = findEverywhere(this.#opened(), search);
    return { results: this.#listings(numbers).map((it) => this.#sku(it)), ...rest };
  }

  /** One page of a retailer's own search. @throws Refusal `unsupported_retailer`, `bad_request`. */
  retailerSearch(search: RetailerSearch): Shape<'ProductSearchResponse'> {
    const seller = supported(search.retailer);
    const { retailer } = seller;
    const find = (window: { offset: number; limit: number }) =>
      this.#listings(findWithin(this.#opened(), { retailer, query: search.query, ...window }));
    return retailerPage(seller, search, find, this.#options.images);
  }

  /** The details payload; undefined where the retailer has no such product. @param timestamp unix seconds. @throws Refusal. */
  details(product: Product, timestamp: number): Shape<'ProductDetailsPayload'> | undefined {
    const listing = this.listing(product);
    return listing && productDetails(listing, { timestamp, images: this.#options.images });
  }

  /** The legacy product record, v1, in the same way. */
  legacyDetails(product: Product, timestamp: number): Shape<'LegacyProductDetails'> | undefined {
    const listing = this.listing(product);
    return listing && legacyRecord(listing, { timestamp, images: this.#options.images });
  }

  /** The offers payload, in the same way; what retailers have none is in their traits. */
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

  /** The traits of the retailer's kind. @throws Refusal `unsupported_retailer`. */
  traits(retailer: string): Traits {
    return traits[supported(retailer).kind];
  }

  /** A retailer's product, opened at the variant whose id it is. @throws Refusal `unsupported_retailer`. */
  listing({ retailer, productId }: Product): Listing | undefined {
    return this.#productOf(supported(retailer), productId);
  }

  /** The listing of a product page, of a listing id, or of a URL that ends with one. */
  byUrl(url: string): Listing | undefined {
    const sku = readSku(url, this.#options.prefix);
    if (sku !== undefined) return this.#at({ number: numberOfSku(sku) ?? 0, variant: 0 });
    const page = readPage(url);
    const listing = page && this.#productOf(page.retailer, page.productId);
    const variant = page?.variantId ? refOfVariant(page.variantId) : undefined;
    const isOfThis = variant !== undefined && variant.number === listing?.number;
    return listing && isOfThis ? (atVariant(listing, variant.variant) ?? listing) : listing;
  }

  /** The retailer of an identifier or a storefront's domain. */
  retailer(name: string): Retailer | undefined {
    return retailerNamed(name);
  }

  /** Who sells what a URL names. */
  sellerOf(url: string): Retailer | undefined {
    return readSku(url, this.#options.prefix) === undefined ? retailerOf(url) : this.byUrl(url)?.seller;
  }

  retailerIds(): string[] {
    return retailers.map(({ retailer }) => retailer);
  }

  /** @param seen with the stores that were seen and are not curated. */
  retailers({ name, seen, limit, offset }: { name?: string; seen: boolean; limit: number; offset: number }) {
    const part = name?.toLowerCase() ?? '';
    const found = (seen ? [...retailers, ...seenStores] : retailers).filter(
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
    this.#index?.close();
    this.#index = undefined;
  }

  #opened(): Sqlite {
    const { database, file, seed, own } = this.#options;
    this.#index ??= openIndex(database, file, seed, own.values());
    return this.#index;
  }

  /** A product of a retailer by the very id that the retailer gave it. */
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

/** The catalogue of a seed; its index is opened by the first search, and built where the file has none yet. */
export const openCatalogue = (options: OpenCatalogue): Catalogue => new Catalogue(options);

function supported(retailer: string): Retailer {
  const seller = retailerNamed(retailer);
  if (seller) return seller;
  throw new Refusal(
    'unsupported_retailer',
    `There is no retailer "${retailer}"; the list of retailers names them.`,
    {
      retailer,
    },
  );
}
