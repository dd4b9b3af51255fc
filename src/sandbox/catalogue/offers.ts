import type { ProductCondition } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { LineFacts } from '../orders/lifecycle/types.ts';
import { hash, Random } from '../store/random.ts';
import type { Listing } from './listing.ts';
import { sellers } from './sorts.ts';
import { atVariant, variantsOf } from './variants.ts';

/** An offer. Its condition has the spelling that orders use. */
type Offer = Omit<Shape<'Offer'>, 'condition'> & { readonly condition: ProductCondition };
type Terms = Pick<Offer, 'price' | 'condition' | 'seller' | 'minimum_quantity'>;
type OwnOffer = NonNullable<Listing['own']>['offers'][number];

/** Price range per condition, as a percentage of the price when new. */
const worth: Readonly<Record<ProductCondition, readonly [number, number]>> = {
  New: [100, 120],
  Refurbished: [72, 88],
  UsedLikeNew: [70, 85],
  UsedVeryGood: [60, 75],
  UsedGood: [48, 65],
  UsedAcceptable: [35, 50],
};
const chances = { new: 0.5, pair: 0.08, fulfilled: 0.6, unrated: 0.1, international: 0.1 };

/**
 * The offers for a listing. The retailer's own offer comes first; on the large marketplace, third-party offers in
 * various conditions follow.
 */
export function offersOf(listing: Listing): Offer[] {
  const isMarketplace = listing.seller.kind === 'marketplace';
  if (isMarketplace && !listing.available) return [];
  const random = Random.of(listing.seed, 'offers');
  const others = isMarketplace ? otherTerms(random, listing) : [];
  return [ownTerms(listing), ...others].map((terms, index) => offerOf(random, listing, terms, index));
}

/** The first offer. Handmade listings are sold by their shop, all other listings by the retailer itself. */
function ownTerms({ seller, brand, cents }: Listing): Terms {
  const isHandmade = seller.kind === 'handmade';
  return {
    price: cents,
    condition: 'New',
    seller: sellerNamed(isHandmade ? brand : seller.name, !isHandmade),
    minimum_quantity: 1,
  };
}

function otherTerms(random: Random, { cents, sort, own }: Listing): Terms[] {
  if (own) return own.offers.map(ownOffer);
  return random.some(sellers, 1).map((name) => {
    const isNew = random.chance(chances.new);
    const usedAs = sort.usedAs[random.integer(0, sort.usedAs.length - 1)];
    const condition = isNew ? 'New' : (usedAs ?? 'New');
    const [lower, upper] = worth[condition];
    return {
      price: Math.max(1, Math.round((cents * random.integer(lower, upper)) / 100)),
      condition,
      seller: sellerNamed(name, false),
      minimum_quantity: condition === 'New' && random.chance(chances.pair) ? 2 : 1,
    };
  });
}

const ownOffer = ({ seller, price, condition, ratings, positive }: OwnOffer): Terms => ({
  price,
  condition,
  seller: {
    id: `S${1_000_000 + (hash(seller) % 9_000_000)}`,
    name: seller,
    num_ratings: ratings,
    percent_positive: ratings === 0 ? null : (positive ?? 100),
    first_party: false,
  },
  minimum_quantity: 1,
});

/** Derives a seller from its name alone, so that the seller looks the same on every listing. */
function sellerNamed(name: string, isRetailer: boolean): Offer['seller'] {
  const random = Random.of('seller', name);
  const count = random.chance(chances.unrated) ? 0 : random.integer(12, 40_000);
  return {
    id: `S${random.integer(1_000_000, 9_999_999)}`,
    name,
    num_ratings: count,
    percent_positive: count === 0 ? null : random.integer(81, 100),
    first_party: isRetailer,
  };
}

function offerOf(random: Random, listing: Listing, terms: Terms, index: number): Offer {
  const { first_party: isRetailer } = terms.seller;
  const { kind } = listing.seller;
  const lower = kind === 'handmade' ? random.integer(2, 4) : random.integer(0, 1);
  return {
    offer_id: `${listing.sku}-${listing.variant}-${index}`,
    ...terms,
    available: listing.available,
    marketplace_fulfilled: kind === 'marketplace' && (isRetailer || random.chance(chances.fulfilled)),
    international: !isRetailer && kind === 'marketplace' && random.chance(chances.international),
    handling_days: { min: lower, max: lower + random.integer(1, 2) },
    shipping_options: shippingOptions(random, listing),
  };
}

function shippingOptions(random: Random, { shipCents, item }: Listing): Offer['shipping_options'] {
  if (item.handsOver === 'download') {
    return [{ name: 'Download', price: 0, delivery_days: { min: 0, max: 0 } }];
  }
  const days = random.integer(2, 4);
  return [
    { name: 'Standard', price: shipCents, delivery_days: { min: days, max: days + 3 } },
    { name: 'Express', price: shipCents + 999, delivery_days: { min: 1, max: 2 } },
  ];
}

/** What an order line requires of its listing. */
type LineTerms = Partial<
  Pick<Shape<'OrderCreate'>['products'][number], 'variant' | 'condition_in' | 'condition_not_in'>
>;

/**
 * The facts of a listing on which an order's life cycle depends, such as the price and availability of the requested
 * variant. If new items are not accepted, the price is that of the cheapest offer in an accepted condition.
 */
export function lineFacts(listing: Listing, terms: LineTerms = {}): LineFacts {
  const chosen = choose(listing, terms.variant ?? []);
  const offers = offersOf(chosen);
  const accepted = offers.filter(
    ({ condition }) =>
      (terms.condition_in?.includes(condition) ?? true) && !terms.condition_not_in?.includes(condition),
  );
  const best = accepted.find(({ condition }) => condition === 'New') ?? cheapest(accepted);
  return {
    retailer: chosen.seller.retailer,
    productId: chosen.productId,
    title: chosen.title,
    priceCents: Math.max(1, (best?.price ?? chosen.cents) + (chosen.own?.riseCents ?? 0)),
    currency: chosen.currency,
    available: chosen.available,
    giftOption: chosen.giftOption,
    shippingCents: chosen.shipCents,
    conditions: offers.length > 0 ? [...new Set(offers.map(({ condition }) => condition))] : ['New'],
    ...(best && { handlingDays: best.handling_days.max }),
    ...(chosen.options.length > 0 && {
      options: Object.fromEntries(chosen.options.map(({ label, values }) => [label, values])),
    }),
    ...(chosen.own?.stock !== undefined && { quantityCap: chosen.own.stock }),
    ...(chosen.own?.outcome !== undefined && { outcome: chosen.own.outcome }),
    ...(chosen.seller.kind === 'marketplace' && { reportsRejections: true }),
  };
}

/**
 * Selects the variant with all given choices. If there is none, returns the listing unchanged, so that its options
 * reject the choices.
 */
function choose(listing: Listing, variant: readonly { label: string; value: string }[]): Listing {
  if (variant.length === 0) return listing;
  const index = variantsOf(listing).findIndex(({ choices }) =>
    variant.every(({ label, value }) => choices.some((it) => it.dimension === label && it.value === value)),
  );
  return atVariant(listing, index) ?? listing;
}

const cheapest = <T extends { price: number }>(offers: readonly T[]): T | undefined =>
  offers.toSorted((one, other) => one.price - other.price)[0];
