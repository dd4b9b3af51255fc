import type { SearchSort } from '../../contract/enums.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import type { Sqlite } from '../sqlite.ts';
import { checkUrl } from './check.ts';
import { build, listingOf } from './database.ts';
import type { Listing } from './generate.ts';
import { publicRetailer, retailers } from './retailers.ts';
import { matchExpression } from './words.ts';

export interface OpenCatalogue {
  /** Path, or `:memory:`. */
  readonly file: string;
  readonly seed: number;
  /** Prefix of listing ids, without its underscore. */
  readonly prefix: string;
  readonly database: (file: string) => Sqlite;
}

export interface Search {
  readonly q: string;
  /** Bounds in cents of the listing's currency. */
  readonly minPrice?: number;
  readonly maxPrice?: number;
  readonly retailer?: string;
  readonly sort: SearchSort;
  readonly limit: number;
}

const orders: Readonly<Record<SearchSort, string>> = {
  relevance: 'l.reach DESC, rank, l.rowid',
  price_asc: 'l.cents, l.rowid',
  price_desc: 'l.cents DESC, l.rowid',
  rating: 'coalesce(l.stars, 0) DESC, l.reviews DESC, l.rowid',
};

/** The invented listings of a seed, with full-text search. */
export class Catalogue {
  readonly #database: Sqlite;
  readonly #prefix: string;

  constructor(database: Sqlite, prefix: string) {
    this.#database = database;
    this.#prefix = prefix;
  }

  /** Orderable listings across retailers; where no listing has all the words, those that have any. */
  search(search: Search): { results: Shape<'Sku'>[]; excludedByPrice: number; hint: string | null } {
    const all = this.#find(search, matchExpression(search.q, 'AND'));
    if (all.results.length > 0 || all.excludedByPrice > 0) return { ...all, hint: null };
    const any = this.#find(search, matchExpression(search.q, 'OR'));
    return {
      ...any,
      hint: any.results.length > 0 ? 'No listing has all of the words; these have some of them.' : null,
    };
  }

  /** The listing of a product page or of a listing's own address. */
  byUrl(url: string): Listing | undefined {
    const sku = new RegExp(`${this.#prefix}_sku_([a-z0-9]+)`).exec(url)?.[1];
    const row = sku === undefined ? this.#get('url = ?', withoutQuery(url)) : this.#get('sku = ?', sku);
    return row && listingOf(row);
  }

  listing(retailer: string, productId: string): Listing | undefined {
    const row = this.#database
      .prepare('SELECT * FROM listings WHERE retailer = ? AND product_id = ?')
      .get(retailer, productId);
    return row && listingOf({ ...row });
  }

  retailerIds(): string[] {
    return retailers.map(({ retailer }) => retailer);
  }

  retailers({ name, limit, offset }: { name?: string; limit: number; offset: number }) {
    const wanted = name?.toLowerCase() ?? '';
    const found = retailers.filter(
      (it) => it.retailer.includes(wanted) || it.name.toLowerCase().includes(wanted),
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

  check(url: string, country: string, shopUrl: string): Shape<'RetailerCheckResponse'> {
    return checkUrl(url, country, shopUrl);
  }

  close(): void {
    this.#database.close();
  }

  #find(
    { minPrice = 0, maxPrice = Number.MAX_SAFE_INTEGER, retailer, sort, limit }: Search,
    match: string | undefined,
  ) {
    if (match === undefined) return { results: [], excludedByPrice: 0 };
    const from = `FROM words w JOIN listings l ON l.rowid = w.rowid WHERE words MATCH ? AND l.reach > 0 ${retailer === undefined ? '' : 'AND l.retailer = ?'}`;
    const given = retailer === undefined ? [match] : [match, retailer];
    const rows = this.#database
      .prepare(`SELECT l.* ${from} AND l.cents BETWEEN ? AND ? ORDER BY ${orders[sort]} LIMIT ?`)
      .all(...given, minPrice, maxPrice, limit);
    const counted = this.#database
      .prepare(`SELECT count(*) AS outside ${from} AND l.cents NOT BETWEEN ? AND ?`)
      .get(...given, minPrice, maxPrice);
    return {
      results: rows.map((row: object) => this.#sku(listingOf({ ...row }))),
      excludedByPrice: Number({ ...counted }.outside ?? 0),
    };
  }

  #get(condition: string, value: string): Readonly<Record<string, unknown>> | undefined {
    const row: object | undefined = this.#database
      .prepare(`SELECT * FROM listings WHERE ${condition}`)
      .get(value);
    return row && { ...row };
  }

  #sku(it: Listing): Shape<'Sku'> {
    return {
      id: `${this.#prefix}_sku_${it.sku}`,
      url: it.url,
      retailer: it.retailer,
      title: it.title,
      image: null,
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

/** Opens a catalogue, building it the first time; another process may do so at the same moment. */
export function openCatalogue({ file, seed, prefix, database }: OpenCatalogue): Catalogue {
  const opened = database(file);
  build(opened, seed);
  return new Catalogue(opened, prefix);
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, '').replace(/\/+$/, '');
