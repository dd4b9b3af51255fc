import type { Shape } from '../../api/schemas/index.ts';
import { Random } from '../store/random.ts';
import { shopNamed } from './goods/shops.ts';
import type { RetailerKind } from './kinds.ts';
import { marketplaceDetails, type Retrieval, sharedDetails } from './legacy-details.ts';
import type { Listing } from './listing.ts';
import { type Variant, variantId, variantProductId, variantsOf } from './variants.ts';

type Details = Shape<'ProductDetailsPayload'>;

/** What each kind of retailer adds to what all have in common (specification, Products, "Details specifics"). */
const own: Readonly<Record<RetailerKind, (listing: Listing) => Partial<Details>>> = {
  general: withVariants,
  plain: withVariants,
  marketplace: (listing) => ({ ...marketplaceDetails(listing), ...withVariants(listing) }),
  electronics: (listing) => ({ sku: retailersSku(listing), ...withVariants(listing) }),
  handmade: handmadeDetails,
  storefront: (listing) => ({
    variants: variantsOf(listing).map((variant, index) => ({
      variant_id: variantId(listing, index),
      title: variant.choices.map(({ value }) => value).join(' / ') || 'Default Title',
      ...shown(variant),
    })),
  }),
};

/** The details payload of the current surface. Money in minor units of `currency_code`. */
export function productDetails(listing: Listing, retrieval: Retrieval): Details {
  const { seller, cents, stars, reviews } = listing;
  return {
    ...sharedDetails(listing, retrieval),
    url: listing.url,
    available: listing.available,
    currency_code: listing.currency,
    ...(seller.kind !== 'marketplace' && { price: cents }),
    ...(stars !== null && { stars, num_reviews: reviews }),
    ...own[seller.kind](listing),
  };
}

function withVariants(listing: Listing): Partial<Details> {
  const variants = variantsOf(listing).map((variant, index) => ({
    product_id: variantProductId(listing, index),
    ...shown(variant),
  }));
  return { variants: listing.options.length > 0 ? variants : [] };
}

const shown = ({ choices, cents, available }: Variant) => ({
  variant_specifics: choices,
  price: cents,
  available,
});

/** The electronics retailer's number of a product, which is not what it is addressed by. */
const retailersSku = ({ number, variant }: Listing): string => String(6_000_000 + number * 64 + variant);

/** Share of the listings with variants whose inventory can be seen. */
const exposedShare = 0.7;
const taxonomyIds = { first: 60, last: 1_999 };

function handmadeDetails(listing: Listing): Partial<Details> {
  const random = Random.of(listing.seed, 'handmade');
  const shop = shopNamed(listing.brand);
  const hasVariations = listing.options.length > 0;
  const isExposed = random.chance(exposedShare);
  return {
    shop_review_average: shop?.reviews.average ?? null,
    shop_review_count: shop?.reviews.count ?? 0,
    listing_type: listing.item.handsOver ?? 'physical',
    shop_is_vacation: shop?.isAway ?? false,
    has_variations: hasVariations,
    taxonomy_id: random.integer(taxonomyIds.first, taxonomyIds.last),
    ...(hasVariations && isExposed && { variants: variantsOf(listing).map(shown) }),
  };
}
