import type { Shape } from '../../api/schemas/index.ts';
import type { LineFacts } from '../orders/lifecycle/index.ts';
import type { Listing } from './listing.ts';
import { offersOf } from './offers.ts';
import { atVariant, variantsOf } from './variants.ts';

/** What a product line requests of the listing that its URL names. */
export type LineTerms = Partial<
  Pick<Shape<'OrderCreate'>['products'][number], 'variant' | 'condition_in' | 'condition_not_in'>
>;

/**
 * What an order's life depends on of a listing: price and availability are those of the requested variant, and the
 * price that of the cheapest offer in an accepted condition where new ones are not accepted.
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

/** The variant that has all of the choices; a listing without such a one stays as it was, and its options refuse them. */
function choose(listing: Listing, variant: readonly { label: string; value: string }[]): Listing {
  if (variant.length === 0) return listing;
  const index = variantsOf(listing).findIndex(({ choices }) =>
    variant.every(({ label, value }) => choices.some((it) => it.dimension === label && it.value === value)),
  );
  return atVariant(listing, index) ?? listing;
}

const cheapest = <T extends { price: number }>(offers: readonly T[]): T | undefined =>
  offers.toSorted((one, other) => one.price - other.price)[0];
