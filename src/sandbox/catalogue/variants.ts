import { Random } from '../store/random.ts';
import type { Listing } from './listing.ts';
import { pageOf, productIdOf, variantIdOf } from './product-id.ts';

/** A combination of a listing's options. Money is in cents of the listing's currency. */
export interface Variant {
  readonly choices: readonly { readonly dimension: string; readonly value: string }[];
  readonly cents: number;
  readonly available: boolean;
}

const steps = [0, 0, 0, 100, 200, 500] as const;
const soldOutShare = 0.1;

/** All variants. A listing without options has a single variant, with no choices. */
export function variantsOf({ seed, options, first, own }: Listing): readonly Variant[] {
  if (own) return own.variants;
  const random = Random.of(seed, 'variants');
  return combinations(options).map((choices, index) => {
    const more = random.pick(steps);
    const isSoldOut = random.chance(soldOutShare);
    if (index === 0) return { choices, ...first };
    return { choices, cents: first.cents + more, available: first.available && !isSoldOut };
  });
}

const combinations = (options: Listing['options']): Variant['choices'][] =>
  options.reduce<Variant['choices'][]>(
    (before, { label, values }) =>
      before.flatMap((chosen) => values.map((value) => [...chosen, { dimension: label, value }])),
    [[]],
  );

/** The listing with one of its variants selected; undefined if there is no such variant. */
export function atVariant(listing: Listing, index: number): Listing | undefined {
  const variant = variantsOf(listing)[index];
  if (!variant || index === listing.variant) return variant && listing;
  const { cents, available } = variant;
  const productId = variantProductId(listing, index);
  const page = pageOf(listing.seller, productId, listing.title);
  const isStorefront = listing.seller.kind === 'storefront';
  const url = isStorefront && index > 0 ? `${page}?variant=${variantId(listing, index)}` : page;
  return { ...listing, variant: index, productId, url, cents, available };
}

/** The product id of a variant. All variants at a storefront share the product's handle. */
export const variantProductId = ({ seller, number, title }: Listing, variant: number): string =>
  productIdOf(seller.kind, { number, variant }, title);

/** The id of a variant at a hosted storefront. */
export const variantId = ({ number }: Listing, variant: number): string => variantIdOf({ number, variant });
