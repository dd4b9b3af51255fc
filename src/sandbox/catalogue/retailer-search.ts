import type { Shape } from '../../api/schemas/index.ts';
import { Refusal } from '../server/refusal.ts';
import { imagesOf } from './images.ts';
import { type Traits, traits } from './kinds.ts';
import type { Listing } from './listing.ts';
import { offersOf } from './offers.ts';
import type { Retailer } from './retailers.ts';
import { variantId } from './variants.ts';

export interface RetailerSearch {
  /** A retailer's identifier, or the domain of a hosted storefront. */
  readonly retailer: string;
  readonly query: string;
  readonly page?: number | null;
  readonly freeShipping?: boolean;
  /** Requested on the agent's surface, where `free_shipping` has fewer effects. */
  readonly agent?: boolean;
}

/** Pages beyond are empty: further than any retailer's results go. */
const lastPage = 10_000;

type Find = (window: { offset: number; limit: number }) => readonly Listing[];

/**
 * One page of a retailer's own search, as the specification describes its kind: filters come after pagination, so
 * that a page may be short or empty while `next_page` is not null.
 * @param find products of the retailer from an offset on, with one more than the limit where there are more.
 * @throws Refusal `bad_request` for what a store domain does not take.
 */
export function retailerPage(
  seller: Retailer,
  { page, freeShipping = false, agent = false }: RetailerSearch,
  find: Find,
  images: string,
): Shape<'ProductSearchResponse'> {
  const rules = traits[seller.kind];
  const number = Math.min(page ?? 1, lastPage);
  const shipping = freeShipping ? (agent ? rules.agentFreeShipping : rules.freeShipping) : 'ignored';
  refuseAtStoreDomain(seller, rules, number, shipping);
  const found = find({ offset: (number - 1) * rules.pageProducts, limit: rules.pageProducts });
  const shown = found
    .slice(0, rules.pageResults)
    .filter(({ currency }) => currency === seller.currency)
    .filter(({ shipCents }) => shipping !== 'filters' || shipCents === 0);
  return {
    status: 'completed',
    results: shown.map((listing) => resultOf(listing, images)),
    next_page: rules.pages && found.length > rules.pageProducts ? number + 1 : null,
  };
}

function refuseAtStoreDomain(
  { retailer }: Retailer,
  { pages }: Traits,
  page: number,
  shipping: Traits['freeShipping'],
): void {
  if (!pages && page !== 1) {
    throw new Refusal('bad_request', `${retailer} is a store domain, which has one page: omit page.`, {
      retailer,
      page,
    });
  }
  if (shipping === 'refused') {
    throw new Refusal('bad_request', `${retailer} is a store domain: free_shipping cannot be used.`, {
      retailer,
    });
  }
}

function resultOf(listing: Listing, images: string): Shape<'ProductSearchResult'> {
  const { seller } = listing;
  return {
    product_id: listing.productId,
    title: listing.title,
    image: imagesOf(listing, images)[0] ?? null,
    brand: listing.brand,
    price: listing.cents,
    currency_code: listing.currency,
    ...(listing.stars !== null && { stars: listing.stars, num_reviews: listing.reviews }),
    num_offers_estimate: seller.kind === 'marketplace' ? offersOf(listing).length : null,
    ship_price: listing.shipCents,
    available: listing.available,
    url: listing.url,
    variant_id: seller.kind === 'storefront' ? variantId(listing, listing.variant) : null,
  };
}
