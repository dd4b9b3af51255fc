import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { QueryOf } from '../server/handler.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import type { Catalogue } from './catalogue.ts';
import type { RetailerSearch } from './search.ts';

interface ProductRequest extends Freshness {
  /** Identifier of a retailer, or domain of a hosted storefront. */
  readonly retailer: string;
  readonly productId: string;
}

type Payload = Shape<'ProductDetailsPayload'> | Shape<'ProductOffersPayload'>;
type Read<P extends Payload> = (
  catalogue: Catalogue,
  product: ProductRequest,
  seconds: number,
) => P | undefined;

/** Returns a product's details payload. @throws Refusal `unsupported_retailer`, `bad_request`. */
export const productDetails = (
  service: Service,
  product: ProductRequest,
  now: number,
): Promise<Shape<'ProductDetailsPayload'>> =>
  payload(service, product, now, (catalogue, requested, seconds) => catalogue.details(requested, seconds));

/**
 * Returns a product's offers payload. Products of store domains have no offers.
 * @throws ErrorResponse for each request that would also fail for product details.
 */
export async function productOffers(
  service: Service,
  product: ProductRequest,
  now: number,
): Promise<Shape<'ProductOffersPayload'>> {
  await refuseProduct(service, product, 'offers');
  return payload(service, product, now, (catalogue, requested, seconds) =>
    catalogue.offers(requested, seconds),
  );
}

/**
 * Rejects a request that the product's retailer does not support.
 * @throws ErrorResponse for each request that would also fail for product details.
 */
export async function refuseProduct(
  service: Pick<Service, 'catalogue'>,
  { retailer, async }: ProductRequest,
  what: 'details' | 'offers',
): Promise<void> {
  const catalogue = await service.catalogue();
  const traits = catalogue.traits(retailer);
  if (what === 'offers' && !traits.offers) {
    const message = `${retailer} is a store domain, whose products have no offers; read the product's details.`;
    throw new ErrorResponse('bad_request', message, { retailer });
  }
  if (async && !traits.async)
    throw new ErrorResponse('bad_request', `async is not supported for ${retailer}.`, { retailer });
}

/**
 * Returns the legacy v1 record of a product.
 * @throws ErrorResponse for each request that would also fail for product details.
 */
export const legacyProduct = (
  service: Service,
  product: ProductRequest,
  now: number,
): Promise<Shape<'LegacyProductDetails'>> =>
  payload(service, product, now, (catalogue, requested, seconds) =>
    catalogue.legacyDetails(requested, seconds),
  );

async function payload<P extends Payload>(
  service: Service,
  product: ProductRequest,
  now: number,
  read: Read<P>,
): Promise<P | { status: 'processing' } | { status: 'failed'; code: string; message: string }> {
  const { store, config } = service;
  await refuseProduct(service, product, 'details');
  const catalogue = await service.catalogue();
  const readAt = await readingOf(store, product, product, { now, speed: config.speed });
  if (readAt === null) return { status: 'processing' };
  const found = read(catalogue, product, Math.floor(readAt / 1000));
  const message = `${product.retailer} has no product ${product.productId}.`;
  return found ?? { status: 'failed', code: 'product_not_found', message };
}

/** Required freshness of a response: `maxAge` in seconds, `newerThan` in unix seconds. */
interface Freshness {
  readonly maxAge?: number | null;
  readonly newerThan?: number | null;
  readonly async?: boolean;
}

/** Default lifetime, in ms, of a cached reading. Applies if the request does not require a certain freshness. */
const defaultTtlMs = 24 * 3600 * 1000;
/** Time, in ms, that reading a retailer's page takes. `speed` divides this time, as it divides order timelines. */
const readingMs = 1500;

/**
 * Time of the oldest acceptable reading, in ms since the epoch. A `max_age` below the minimum counts as the minimum.
 */
function oldestAllowed({ maxAge, newerThan }: Freshness, now: number): number {
  const minAgeMs = limits.maxAgeSeconds.min * 1000;
  if (maxAge != null) return now - Math.max(minAgeMs, maxAge * 1000);
  if (newerThan != null) return Math.min(now - minAgeMs, newerThan * 1000);
  return now - defaultTtlMs;
}

interface Product {
  readonly retailer: string;
  readonly productId: string;
}

/**
 * When the product was last read, in ms since the epoch. Returns null while a reading is in progress. Only `async`
 * requests get null. For all other requests, a new reading completes at once.
 */
async function readingOf(
  store: Store,
  { retailer, productId }: Product,
  freshness: Freshness,
  { now, speed }: { now: number; speed: number },
): Promise<number | null> {
  const row = store.get(
    'SELECT read_at FROM product_reads WHERE retailer = ? AND product_id = ?',
    retailer,
    productId,
  );
  const readAt = Number(row?.read_at ?? Number.NEGATIVE_INFINITY);
  if (readAt <= now && readAt >= oldestAllowed(freshness, now)) return readAt;
  const isUnderWay = readAt > now;
  if (freshness.async && isUnderWay) return null;
  const done = freshness.async ? now + Math.ceil(readingMs / speed) : now;
  const sql = `INSERT INTO product_reads (retailer, product_id, read_at) VALUES (?, ?, ?)
    ON CONFLICT (retailer, product_id) DO UPDATE SET read_at = excluded.read_at`;
  await store.transaction(() => store.run(sql, retailer, productId, done));
  return done > now ? null : done;
}

/** Maps query parameters to a search within one retailer. */
export const retailerTerms = (query: QueryOf<'product.search'>): RetailerSearch => ({
  query: query.query,
  retailer: query.retailer,
  page: query.page ?? null,
  freeShipping: query.free_shipping,
});

/** Maps query parameters to a product request. */
export const productTerms = (productId: string, query: QueryOf<'product.get'>): ProductRequest => ({
  retailer: query.retailer,
  productId,
  maxAge: query.max_age ?? null,
  newerThan: query.newer_than ?? null,
  async: query.async ?? false,
});

/** Searches across retailers. @throws Invalid for an unknown retailer. */
export async function searchListings(
  service: Pick<Service, 'catalogue'>,
  { q, retailer, sort, limit, min_price: minPrice, max_price: maxPrice }: QueryOf<'search'>,
): Promise<Shape<'SearchResponse'>> {
  const catalogue = await service.catalogue();
  if (retailer !== undefined && !catalogue.retailerIds().includes(retailer)) {
    const msg = `Input should be one of ${catalogue.retailerIds().join(', ')}`;
    throw new Invalid([{ loc: ['query', 'retailer'], msg, type: 'enum' }]);
  }
  const { results, excludedByPrice, hint } = catalogue.search({
    q,
    ...(minPrice !== undefined && { minPrice }),
    ...(maxPrice !== undefined && { maxPrice }),
    ...(retailer !== undefined && { retailer }),
    sort,
    limit,
  });
  return { status: 'completed', query: q, results, excluded_by_price: excludedByPrice, hint };
}
