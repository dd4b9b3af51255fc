import { brands, type Goods, goods } from './goods.ts';
import { Random } from './random.ts';
import { type Retailer, type RetailerKind, retailers } from './retailers.ts';

/** One invented listing. Money in cents of `currency`. */
export interface Listing {
  readonly sku: string;
  readonly retailer: string;
  readonly kind: RetailerKind;
  readonly productId: string;
  readonly url: string;
  readonly title: string;
  readonly brand: string;
  readonly category: string;
  readonly cents: number;
  readonly currency: string;
  readonly stars: number | null;
  readonly reviews: number | null;
  readonly available: boolean;
  readonly shipCents: number;
  readonly giftOption: boolean;
  readonly variantLabel: string | null;
  readonly variantValues: readonly string[];
}

/** About 5,000 listings, in the same order with the same content for the same seed. */
export function* generateListings(seed: number): Generator<Listing> {
  const random = new Random(seed);
  let number = 0;
  for (const sort of goods) {
    const [first, ...others] = retailers.filter((retailer) => sells(retailer, sort));
    if (!first) continue;
    for (let index = 0; index < sort.share; index += 1) {
      number += 1;
      yield listing(random, sort, random.pick([first, ...others]), number);
    }
  }
}

function sells({ retailer, kind }: Retailer, sort: Goods): boolean {
  if (sort.retailers) return sort.retailers.includes(retailer);
  if (sort.kinds) return sort.kinds.includes(kind);
  return kind !== 'handmade' && kind !== 'electronics' && kind !== 'storefront'
    ? true
    : storefrontSells(retailer, sort);
}

const storefrontSells = (retailer: string, { category }: Goods): boolean =>
  (retailer === 'softlight.example' && category === 'Home') ||
  (retailer === 'sturdysocks.example' && category === 'Apparel');

function listing(random: Random, sort: Goods, retailer: Retailer, number: number): Listing {
  const brand = random.pick(brands);
  const title = `${brand} ${random.pick(sort.adjectives)} ${random.pick(sort.nouns)}, ${random.pick(sort.sizes)}`;
  const cents = roundPrice(random.integer(...sort.cents));
  const isHandmade = retailer.kind === 'handmade';
  const productId = productIdOf(random, retailer, title, number);
  const shipsFree = retailer.freeFromCents !== null && cents >= retailer.freeFromCents;
  return {
    sku: number.toString(36).padStart(4, '0') + random.integer(0, 1_679_615).toString(36).padStart(4, '0'),
    retailer: retailer.retailer,
    kind: retailer.kind,
    productId,
    url: urlOf(retailer, title, productId),
    title,
    brand,
    category: sort.category,
    cents,
    // A handmade shop here and there prices in another currency; searches of that retailer drop those listings.
    currency: isHandmade && random.chance(0.1) ? 'CAD' : retailer.currency,
    stars: isHandmade ? null : random.integer(28, 50) / 10,
    reviews: isHandmade ? null : random.integer(0, 4800),
    available: !random.chance(0.03),
    shipCents: shipsFree ? 0 : random.pick([0, 299, 499, 599]),
    giftOption: random.chance(0.8),
    variantLabel: sort.variants && random.chance(0.5) ? sort.variants.label : null,
    variantValues: sort.variants?.values ?? [],
  };
}

/** Prices end as a shop's do. */
const roundPrice = (cents: number): number => Math.floor(cents / 100) * 100 + 99;

/** Each kind of retailer has its own form of product id. */
function productIdOf(random: Random, { kind }: Retailer, title: string, number: number): string {
  if (kind === 'storefront') return `${slugOf(title)}-${number}`;
  if (kind === 'marketplace')
    return `B0${(number * 7919 + 1_000_000).toString(36).toUpperCase().padStart(8, '0')}`;
  if (kind === 'electronics') return `J${(number * 104_729).toString(36).toUpperCase()}`;
  return String(1_000_000 + number * 37 + random.integer(0, 36));
}

function urlOf({ host, kind }: Retailer, title: string, productId: string): string {
  const slug = slugOf(title);
  const paths: Readonly<Record<RetailerKind, string>> = {
    general: `/p/${slug}/${productId}`,
    marketplace: `/dp/${productId}`,
    electronics: `/product/${slug}/${productId}`,
    handmade: `/listing/${productId}/${slug}`,
    storefront: `/products/${productId}`,
    plain: `/item/${productId}`,
  };
  return `https://${host}${paths[kind]}`;
}

const slugOf = (title: string): string =>
  title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
