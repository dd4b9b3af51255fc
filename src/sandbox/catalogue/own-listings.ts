import type { Scenario } from '../../api/scenario/scenario.ts';
import { hash } from '../store/random.ts';
import { goods } from './goods.ts';
import type { Listing } from './listing.ts';
import { pageOf, productIdOf, skuOf } from './product-id.ts';
import { type Retailer, retailerNamed } from './retailers.ts';
import { item, type Sort } from './sorts.ts';

/** A listing defined by a scenario. */
export type GivenListing = Scenario['listings'][number];

/** The number of a scenario's first listing. It is far above the numbers of generated listings. */
const firstNumber = 1_000_000;

/** Maximum length of a title in a URL slug. */
const slugLength = 60;

/** A scenario's listings, keyed by listing number. Skips listings whose retailer is unknown. */
export function ownListings(given: readonly GivenListing[], seed: number): Map<number, Listing> {
  const listings = given.flatMap((one, index) => {
    const seller = retailerNamed(one.retailer);
    return seller ? [ownListing(one, seller, firstNumber + index, seed)] : [];
  });
  return new Map(listings.map((listing) => [listing.number, listing]));
}

function ownListing(given: GivenListing, seller: Retailer, number: number, seed: number): Listing {
  const { title, price, available } = given;
  const shortTitle = title.slice(0, slugLength);
  const productId = productIdOf(seller.kind, { number, variant: 0 }, shortTitle);
  const [first] = given.variants;
  const cents = first?.price ?? price;
  const isAvailable = available && first?.available !== false;
  return {
    number,
    seed: hash(`${seed} own ${number}`),
    sku: skuOf(number),
    seller,
    sort: sortOf(given),
    item: item(title, price, price),
    options: optionsOf(given),
    variant: 0,
    productId,
    url: pageOf(seller, productId, shortTitle),
    title,
    brand: given.brand ?? seller.name,
    cents,
    currency: given.currency ?? seller.currency,
    stars: given.stars ?? null,
    reviews: given.reviews ?? null,
    available: isAvailable,
    first: { cents, available: isAvailable },
    shipCents: given.shipping,
    giftOption: given.gift,
    own: {
      variants: variantsOf(given),
      offers: given.offers,
      riseCents: (given.price_at_checkout ?? price) - price,
      ...(given.stock !== undefined && { stock: given.stock }),
      ...(given.outcome !== undefined && { outcome: given.outcome }),
      ...(given.description !== undefined && { description: given.description }),
    },
  };
}

function sortOf({ bullets }: GivenListing): Sort {
  const [sort] = goods.filter(({ category }) => category === 'Household');
  if (!sort) throw new Error('the catalogue has household goods');
  const [first, ...others] = bullets ?? [];
  return first === undefined ? sort : { ...sort, bullets: [first, ...others] };
}

function variantsOf({ variants, price, available }: GivenListing): NonNullable<Listing['own']>['variants'] {
  if (variants.length === 0) return [{ choices: [], cents: price, available }];
  return variants.map((one) => ({
    choices: Object.entries(one.choices).map(([dimension, value]) => ({ dimension, value })),
    cents: one.price ?? price,
    available: available && one.available,
  }));
}

/** Every value of each option, in variant order. */
function optionsOf({ variants }: GivenListing): Listing['options'] {
  const values = new Map<string, Set<string>>();
  for (const { choices } of variants)
    for (const [label, value] of Object.entries(choices))
      values.set(label, (values.get(label) ?? new Set<string>()).add(value));
  return [...values].flatMap(([label, found]) => {
    const [first, ...others] = found;
    return first === undefined ? [] : [{ label, values: [first, ...others] as const }];
  });
}
