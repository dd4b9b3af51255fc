import type { Shape } from '../../api/schemas/index.ts';
import { Random } from '../store/random.ts';
import type { Listing } from './listing.ts';
import type { RetailerKind } from './retailers.ts';
import { localized, shopNamed } from './sorts.ts';
import { type Variant, variantId, variantProductId, variantsOf } from './variants.ts';

type Details = Shape<'ProductDetailsPayload'>;

/** Additional fields per retailer kind (specification, Products, "Details specifics"). */
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

/** The electronics retailer's SKU, distinct from the product id. */
const retailersSku = ({ number, variant }: Listing): string => String(6_000_000 + number * 64 + variant);

/** Among the listings that have variants, the share of listings that show their stock. */
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

type LegacyDetails = Shape<'LegacyProductDetails'>;

interface Retrieval {
  /** When the retailer's page was read, in unix seconds. */
  readonly timestamp: number;
  /** Base URL of images, without a trailing slash. */
  readonly images: string;
}

/** The legacy product record, v1 (specification, Resources). */
export const legacyRecord = (listing: Listing, retrieval: Retrieval): LegacyDetails => ({
  ...sharedDetails(listing, retrieval),
  ...(listing.seller.kind === 'marketplace' && marketplaceDetails(listing)),
});

const places = ['Dayton, OH, United States', 'Bend, OR, United States', 'Erie, PA, United States'] as const;

/** Fields of the legacy record common to all retailers. */
function sharedDetails(listing: Listing, { timestamp, images }: Retrieval): LegacyDetails {
  const { seller, sort, item, title, brand, own } = listing;
  const random = Random.of(listing.seed, 'details');
  const pictures = imagesOf(listing, images);
  const measures = measuresOf(random);
  return {
    status: 'completed',
    retailer: seller.retailer,
    product_id: listing.productId,
    timestamp,
    title,
    product_details: [
      `Category: ${sort.category}`,
      `Weight with package: ${measures.weight.amount} ${measures.weight.unit}`,
    ],
    feature_bullets: own ? [...sort.bullets] : random.some(sort.bullets, 3),
    brand,
    main_image: pictures[0],
    images: pictures,
    ...specificsOf(listing),
    categories: [sort.category, localized(item.name, 'US')],
    ...(sort.category === 'Books' && { authors: [brand] }),
    product_description: own?.description ?? `${title}. ${random.some(sort.bullets, 2).join('. ')}.`,
    ...codesOf(listing),
    package_dimensions: measures,
    item_location: seller.kind === 'handmade' || seller.kind === 'marketplace' ? random.pick(places) : null,
    item_number: `${sort.category.slice(0, 2).toUpperCase()}-${listing.number}`,
  };
}

function specificsOf(listing: Listing): Pick<LegacyDetails, 'variant_specifics' | 'all_variants'> {
  const variants = variantsOf(listing);
  return {
    variant_specifics: [...(variants[listing.variant]?.choices ?? [])],
    all_variants: variants.flatMap(({ choices }, index) =>
      choices.length === 0
        ? []
        : [{ variant_specifics: [...choices], product_id: variantProductId(listing, index) }],
    ),
  };
}

const measuresOf = (random: Random) => ({
  weight: { amount: random.integer(2, 80) * 50, unit: 'grams' },
  width: { amount: random.integer(60, 400) / 10, unit: 'cm' },
  depth: { amount: random.integer(60, 400) / 10, unit: 'cm' },
  length: { amount: random.integer(60, 600) / 10, unit: 'cm' },
});

/** Additional fields of the large marketplace. `price` is the buy box price; it is absent if there is no buy box. */
function marketplaceDetails(listing: Listing): Partial<LegacyDetails> {
  const { cents, stars, reviews, sort, item, available } = listing;
  const random = Random.of(listing.seed, 'marketplace');
  const isFood = sort.category === 'Coffee' || sort.category === 'Tea';
  return {
    original_retail_price: Math.round((cents * random.integer(100, 140)) / 100),
    ...(available && { price: cents }),
    review_count: reviews ?? 0,
    stars: stars ?? 0,
    question_count: random.integer(0, 60),
    asin: listing.productId,
    fresh: false,
    pantry: isFood && random.chance(0.5),
    handmade: sort.category === 'Handmade',
    digital: item.handsOver === 'download',
    buyapi_hint: available,
  };
}

interface Codes {
  readonly epids: { type: string; value: string }[];
  readonly epids_map: Record<string, string>;
}

/**
 * Product codes of a listing's variant. They come from ranges reserved for shops' own use, so they never match a real
 * product.
 */
function codesOf({ number, variant, seller, productId }: Listing): Codes {
  const digits = String(number * 100 + variant);
  const epids = [
    { type: 'UPC', value: checked(`4${digits.padStart(10, '0')}`) },
    { type: 'EAN', value: checked(`2${digits.padStart(11, '0')}`) },
    ...(seller.kind === 'marketplace' ? [{ type: 'ASIN', value: productId }] : []),
  ];
  return { epids, epids_map: Object.fromEntries(epids.map(({ type, value }) => [type, value])) };
}

/** Appends the check digit of UPC and EAN. */
function checked(digits: string): string {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const each = 3;

/** Image URLs of a listing; the first image is the main one. @param base has no trailing slash. */
export const imagesOf = ({ seller, sku }: Listing, base: string): [string, ...string[]] => {
  const picture = (position: number): string => `${base}/${seller.retailer}/${sku}-${position}.jpg`;
  return [picture(1), ...Array.from({ length: each - 1 }, (_, index) => picture(index + 2))];
};
