import type { ProductCondition } from '../../api/enums.ts';
import { Random } from '../store/random.ts';
import { goods } from './goods.ts';
import { pageOf, productIdOf, skuOf } from './product-id.ts';
import { type Retailer, retailers } from './retailers.ts';
import { authors, brands, type Item, localized, type Option, type Sort, shopNamed, shops } from './sorts.ts';

/** A listing with one of its variants selected. Money is in cents of `currency`. */
export interface Listing {
  readonly number: number;
  /** Seed from which everything else about the listing is derived. */
  readonly seed: number;
  readonly sku: string;
  readonly seller: Retailer;
  readonly sort: Sort;
  readonly item: Item;
  readonly options: readonly Option[];
  /** Index of the variant whose price, availability and product id are shown. */
  readonly variant: number;
  readonly productId: string;
  readonly url: string;
  readonly title: string;
  /** The brand; for a handmade listing, the name of the shop; for a book, the author. */
  readonly brand: string;
  readonly cents: number;
  readonly currency: string;
  readonly stars: number | null;
  readonly reviews: number | null;
  readonly available: boolean;
  /** Price and availability of the first variant. All other variants are derived from these values. */
  readonly first: { readonly cents: number; readonly available: boolean };
  readonly shipCents: number;
  readonly giftOption: boolean;
  /** Explicit facts of a listing defined by a scenario. Facts of other listings are generated. */
  readonly own?: OwnFacts;
}

/** Money is in cents of the listing's currency. */
interface OwnFacts {
  readonly variants: readonly {
    readonly choices: readonly { readonly dimension: string; readonly value: string }[];
    readonly cents: number;
    readonly available: boolean;
  }[];
  /** Offers of other sellers. */
  readonly offers: readonly {
    readonly seller: string;
    readonly price: number;
    readonly condition: ProductCondition;
    readonly ratings: number;
    readonly positive?: number | undefined;
  }[];
  /** Difference between the price charged and the price shown; may be negative. */
  readonly riseCents: number;
  /** Maximum quantity per order. */
  readonly stock?: number;
  /**
   * Name of a test product. Orders of this listing have the same outcome as orders of that product. Set by the
   * scenario.
   */
  readonly outcome?: string;
  readonly description?: string;
}

/**
 * One entry per sort of goods. `sellers` repeats each seller as often as the seller's weight. `end` is one more than
 * the number of the sort's last listing.
 */
const shelves: { sort: Sort; sellers: readonly Retailer[]; end: number }[] = [];
let end = 1;
for (const sort of goods) {
  end += sort.listings;
  shelves.push({
    sort,
    sellers: retailers.flatMap((it) => (sells(it, sort) ? Array(it.weight).fill(it) : [])),
    end,
  });
}

/** Number of generated listings, which is also the highest number of a generated listing. */
export const listingCount = end - 1;

function sells({ sells }: Retailer, { category }: Sort): boolean {
  return sells === 'everything' || sells.includes(category);
}

/** Probabilities that vary the listings. */
const chances = { options: 0.5, soldOut: 0.03, gift: 0.8, foreignShop: 0.12, free: 0.25 };
const shipPrices = [299, 399, 499, 599] as const;
const endings = [99, 99, 95, 49, 0] as const;

/** The listing with a given number, deterministic per seed; undefined outside 1 to `listingCount`. */
export function listingAt(seed: number, number: number): Listing | undefined {
  const shelf = number >= 1 ? shelves.find(({ end }) => number < end) : undefined;
  if (!shelf) return undefined;
  const random = Random.of(seed, number);
  const seller = shelf.sellers[random.integer(0, shelf.sellers.length - 1)];
  return seller && drawn(random, number, seller, shelf.sort);
}

function drawn(random: Random, number: number, seller: Retailer, sort: Sort): Listing {
  const item = random.pick(sort.items);
  const brand = brandOf(random, seller, sort);
  const title = titleOf(random, seller, sort, item, brand);
  const cents = priceOf(random, item);
  const isHandmade = seller.kind === 'handmade';
  const productId = productIdOf(seller.kind, { number, variant: 0 }, title);
  const isAway = isHandmade && shopNamed(brand)?.isAway === true;
  const available = !random.chance(chances.soldOut) && !isAway;
  const hasOptions = random.chance(chances.options) && item.handsOver !== 'download';
  return {
    number,
    seed: random.integer(0, 0x7fffffff),
    sku: skuOf(number),
    seller,
    sort,
    item,
    options: hasOptions ? someOf(random, sort) : [],
    variant: 0,
    productId,
    url: pageOf(seller, productId, title),
    title,
    brand,
    cents,
    // Some handmade shops set prices in their own currency.
    currency:
      isHandmade && random.chance(chances.foreignShop) ? random.pick(['EUR', 'GBP']) : seller.currency,
    stars: isHandmade ? null : random.integer(28, 50) / 10,
    reviews: isHandmade ? null : Math.floor(random.next() ** 3 * 9_000),
    available,
    first: { cents, available },
    shipCents: shippingOf(random, seller, item, cents),
    giftOption: random.chance(chances.gift),
  };
}

const someOf = (random: Random, sort: Sort): Option[] =>
  (sort.options ?? []).map(({ label, values }) => {
    const [first = values[0], ...others] = random.some(values, 2);
    return { label, values: [first, ...others] };
  });

function brandOf(random: Random, { kind, name }: Retailer, { category }: Sort): string {
  if (kind === 'handmade') return random.pick(shops).name;
  if (kind === 'storefront') return name;
  return random.pick(category === 'Books' ? authors : brands);
}

function titleOf(random: Random, { home, kind }: Retailer, sort: Sort, item: Item, brand: string): string {
  const name = localized(item.name, home);
  const trait = localized(random.pick(sort.traits), home);
  const size = localized(random.pick(sort.sizes), home);
  const isUnbranded = kind === 'handmade' || kind === 'storefront' || sort.category === 'Books';
  if (isUnbranded) return `${name}, ${trait}, ${size}`;
  return home === 'US' ? `${brand} ${trait} ${name}, ${size}` : `${brand} ${name}, ${trait}, ${size}`;
}

/** Draws a price. Low prices and common price endings such as .99 are more likely. */
function priceOf(random: Random, { cents: [minCents, maxCents] }: Item): number {
  const somewhere = minCents + (maxCents - minCents) * random.next() ** 1.5;
  return Math.max(minCents, Math.floor(somewhere / 100) * 100 + random.pick(endings));
}

function shippingOf(random: Random, { freeFromCents }: Retailer, { handsOver }: Item, cents: number): number {
  const isFree = random.chance(chances.free) || (freeFromCents !== null && cents >= freeFromCents);
  const price = random.pick(shipPrices);
  return isFree || handsOver === 'download' ? 0 : price;
}
