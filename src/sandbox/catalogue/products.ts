import type { Shape } from '../../api/schemas/index.ts';
import { Refusal } from '../server/refusal.ts';
import type { Service } from '../service.ts';
import type { Catalogue } from './catalogue.ts';
import { type Freshness, readingOf } from './freshness.ts';

export interface ProductRequest extends Freshness {
  /** A retailer's identifier, or the domain of a hosted storefront. */
  readonly retailer: string;
  readonly productId: string;
}

type Payload = Shape<'ProductDetailsPayload'> | Shape<'ProductOffersPayload'>;
type Read<P extends Payload> = (
  catalogue: Catalogue,
  product: ProductRequest,
  seconds: number,
) => P | undefined;

/** The details payload of a product. @throws Refusal `unsupported_retailer`, `bad_request`. */
export const productDetails = (
  service: Service,
  product: ProductRequest,
  now: number,
): Promise<Shape<'ProductDetailsPayload'>> =>
  payload(service, product, now, (catalogue, requested, seconds) => catalogue.details(requested, seconds));

/** The offers payload of a product; a store domain has none. @throws Refusal, as for details. */
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

/** Refuses what the product's retailer does not support. @throws Refusal, as for details. */
export async function refuseProduct(
  service: Pick<Service, 'catalogue'>,
  { retailer, async }: ProductRequest,
  what: 'details' | 'offers',
): Promise<void> {
  const catalogue = await service.catalogue();
  const traits = catalogue.traits(retailer);
  if (what === 'offers' && !traits.offers) {
    const message = `${retailer} is a store domain, whose products have no offers; read the product's details.`;
    throw new Refusal('bad_request', message, { retailer });
  }
  if (async && !traits.async)
    throw new Refusal('bad_request', `async is not supported for ${retailer}.`, { retailer });
}

/** The legacy record of a product, v1. @throws Refusal, as for details. */
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
