import type { Shape } from '../../api/schemas/index.ts';
import { Random } from '../store/random.ts';
import { said } from './goods/sort.ts';
import { imagesOf } from './images.ts';
import type { Listing } from './listing.ts';
import { variantProductId, variantsOf } from './variants.ts';

type LegacyDetails = Shape<'LegacyProductDetails'>;

export interface Retrieval {
  /** When the retailer's page was read, unix seconds. */
  readonly timestamp: number;
  /** Base of picture addresses, without a trailing slash. */
  readonly images: string;
}

/** The legacy product record, v1 (specification, Resources). */
export const legacyRecord = (listing: Listing, retrieval: Retrieval): LegacyDetails => ({
  ...sharedDetails(listing, retrieval),
  ...(listing.seller.kind === 'marketplace' && marketplaceDetails(listing)),
});

const places = ['Dayton, OH, United States', 'Bend, OR, United States', 'Erie, PA, United States'] as const;

/** The fields of the legacy record that every retailer has. */
export function sharedDetails(listing: Listing, { timestamp, images }: Retrieval): LegacyDetails {
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
    categories: [sort.category, said(item.name, 'US')],
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

/** The fields that the one large marketplace retailer has besides; `price` is the buy box's, absent where there is none. */
export function marketplaceDetails(listing: Listing): Partial<LegacyDetails> {
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

/** Product codes of a listing's variant, from the ranges that shops may number for themselves: never a real product's. */
function codesOf({ number, variant, seller, productId }: Listing): Codes {
  const digits = String(number * 100 + variant);
  const epids = [
    { type: 'UPC', value: checked(`4${digits.padStart(10, '0')}`) },
    { type: 'EAN', value: checked(`2${digits.padStart(11, '0')}`) },
    ...(seller.kind === 'marketplace' ? [{ type: 'ASIN', value: productId }] : []),
  ];
  return { epids, epids_map: Object.fromEntries(epids.map(({ type, value }) => [type, value])) };
}

/** With the check digit that UPC and EAN share. */
function checked(digits: string): string {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
