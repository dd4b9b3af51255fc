import { destinationCountries } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Category } from './sorts.ts';

export interface Retailer {
  readonly number: number;
  /** Identifier; the domain for a hosted storefront. */
  readonly retailer: string;
  readonly name: string;
  readonly host: string;
  readonly kind: RetailerKind;
  readonly sells: 'everything' | readonly Category[];
  /** Weight of this retailer when a category's listings are divided among the retailers that sell the category. */
  readonly weight: number;
  readonly currency: string;
  readonly home: string;
  readonly countries: readonly string[];
  readonly guestCheckout: boolean;
  /** Whether sign-in requires a second factor. */
  readonly twoFactor: boolean;
  /** Free-shipping threshold in cents; null if shipping is never free. */
  readonly freeFromCents: number | null;
  readonly support: Shape<'PublicRetailer'>['support'];
}

const plain = {
  kind: 'plain',
  weight: 1,
  currency: 'USD',
  home: 'US',
  countries: ['US'],
  guestCheckout: true,
  twoFactor: false,
  freeFromCents: null,
  support: 'active',
} as const;

type Row = Omit<Retailer, 'number'>;
type More = Partial<Row> & Pick<Row, 'sells'>;

const named = (retailer: string, name: string, more: More): Row => ({
  ...plain,
  retailer,
  name,
  host: `www.${retailer}.example`,
  ...more,
});

const storefront = (domain: string, name: string, more: More): Row => ({
  ...plain,
  kind: 'storefront',
  countries: destinationCountries,
  retailer: domain,
  name,
  host: domain,
  ...more,
});

/** The fourteen retailers (all fictional), one row each. */
const rows: readonly Row[] = [
  named('harborgoods', 'Harbor Goods', {
    kind: 'general',
    sells: 'everything',
    weight: 2,
    countries: destinationCountries,
    freeFromCents: 3500,
    support: 'verified',
  }),
  named('stallandbarrow', 'Stall & Barrow', {
    kind: 'marketplace',
    sells: 'everything',
    weight: 2,
    countries: destinationCountries,
    freeFromCents: 2500,
    support: 'verified',
  }),
  named('voltcorner', 'Volt Corner', {
    kind: 'electronics',
    sells: ['Electronics', 'Kitchen'],
    weight: 3,
    freeFromCents: 5000,
    support: 'verified',
  }),
  named('loomandkiln', 'Loom & Kiln', {
    kind: 'handmade',
    sells: ['Handmade'],
    weight: 6,
    countries: destinationCountries,
  }),
  named('pantryfolk', 'Pantry Folk', { sells: ['Coffee', 'Tea', 'Household'], freeFromCents: 4000 }),
  named('trailmarket', 'Trail Market', { sells: ['Apparel', 'Household'], freeFromCents: 6000 }),
  named('membersbarn', "Member's Barn", {
    sells: ['Coffee', 'Household', 'Electronics'],
    guestCheckout: false,
    twoFactor: true,
    freeFromCents: 0,
  }),
  named('papierlaterne', 'Papierlaterne', {
    sells: ['Books'],
    currency: 'EUR',
    home: 'DE',
    countries: ['DE'],
    freeFromCents: 2900,
  }),
  named('kesselundkanne', 'Kessel & Kanne', {
    sells: ['Kitchen', 'Lighting', 'Household', 'Coffee', 'Tea'],
    currency: 'EUR',
    home: 'DE',
    countries: ['DE', 'IT'],
  }),
  named('bottegadiva', 'Bottega Diva', {
    sells: ['Apparel', 'Coffee', 'Kitchen', 'Lighting'],
    currency: 'EUR',
    home: 'IT',
    countries: ['IT', 'DE'],
  }),
  named('inkandlantern', 'Ink & Lantern Books', {
    sells: ['Books'],
    countries: destinationCountries,
    freeFromCents: 2000,
  }),
  storefront('morningroast.example', 'Morning Roast', { sells: ['Coffee', 'Tea'] }),
  storefront('softlight.example', 'Soft Light', { sells: ['Lighting'] }),
  storefront('sturdysteps.example', 'Sturdy Steps', { sells: ['Apparel'], freeFromCents: 5000 }),
];

/** Stores that have been observed but whose listings are not curated. */
const observedRows: readonly Row[] = [
  storefront('quietkettle.example', 'Quiet Kettle', { sells: ['Tea'], support: 'observed' }),
  storefront('northpier.example', 'North Pier', { sells: ['Apparel'], support: 'observed' }),
];

const numbered = [...rows, ...observedRows].map((row, index): Retailer => ({ ...row, number: index + 1 }));
export const retailers: readonly Retailer[] = numbered.slice(0, rows.length);
export const observedStores: readonly Retailer[] = numbered.slice(rows.length);

/** Known shops that do not support ordering. */
const unsupportedDomains: readonly string[] = [
  'tickets-now.example',
  'giftcards.example',
  'rx-pharmacy.example',
];

export const isUnsupported = (domain: string): boolean => unsupportedDomains.includes(domain);

/** Whether a store has been observed. */
export const isObserved = (domain: string): boolean => observedStores.some(({ host }) => host === domain);

/** The host of a URL, without `www.`; empty if the URL is invalid or has no host. */
export function domainOf(url: string): string {
  // Do not import the URL helpers here. Completion loads this file and must not load any other.
  try {
    return new URL(url).hostname.replace(/^www\./, '');
  } catch {
    return '';
  }
}

const byId = new Map(retailers.map((it) => [it.retailer, it]));
const byDomain = new Map(retailers.map((it) => [domainOf(`https://${it.host}`), it]));

/** Looks up a retailer by identifier or storefront domain, ignoring case, whitespace and `www.`. */
export const retailerNamed = (retailer: string): Retailer | undefined =>
  byId.get(
    retailer
      .trim()
      .toLowerCase()
      .replace(/^www\./, ''),
  );

/** The retailer that a URL belongs to; undefined for an unknown host. */
export const retailerOf = (url: string): Retailer | undefined => byDomain.get(domainOf(url));

/** Converts a retailer to the shape that `GET /retailers` returns. */
export const publicRetailer = (it: Retailer): Shape<'PublicRetailer'> => ({
  retailer: it.retailer,
  retailer_id: String(it.number),
  display_name: it.name,
  base_url: `https://${it.host}`,
  no_account_needed: it.guestCheckout,
  use_your_account: it.kind !== 'storefront',
  supported_countries: [...it.countries],
  free_shipping: it.freeFromCents !== null,
  free_shipping_threshold_cents: it.freeFromCents,
  support: it.support,
});

/** Retailer kinds in the specification; `plain` has no special rules. */
export type RetailerKind = 'general' | 'marketplace' | 'electronics' | 'handmade' | 'storefront' | 'plain';

/** Properties of a retailer kind (specification, Products). */
export interface Traits {
  /** Products examined per page of a search. */
  readonly pageProducts: number;
  /** Maximum number of results per page. */
  readonly pageResults: number;
  /** Whether there is more than one page. */
  readonly pages: boolean;
  /** Effect of `free_shipping` on a page of results. */
  readonly freeShipping: 'filters' | 'ignored' | 'refused';
  /** Effect of `free_shipping` on the agent surface. */
  readonly agentFreeShipping: 'filters' | 'ignored' | 'refused';
  /** Whether products can be requested with `async`. */
  readonly async: boolean;
  /** Whether products have offers. */
  readonly offers: boolean;
}

const defaultTraits: Traits = {
  pageProducts: 24,
  pageResults: 24,
  pages: true,
  freeShipping: 'ignored',
  agentFreeShipping: 'ignored',
  async: true,
  offers: true,
};

export const traits: Readonly<Record<RetailerKind, Traits>> = {
  general: {
    ...defaultTraits,
    pageProducts: 40,
    pageResults: 40,
    freeShipping: 'filters',
    agentFreeShipping: 'filters',
  },
  marketplace: { ...defaultTraits, pageProducts: 16, pageResults: 16 },
  electronics: {
    ...defaultTraits,
    pageProducts: limits.electronicsPageProducts,
    pageResults: limits.electronicsPageResults,
    freeShipping: 'filters',
  },
  handmade: { ...defaultTraits, async: false },
  storefront: {
    ...defaultTraits,
    pageProducts: limits.storeDomainResults,
    pageResults: limits.storeDomainResults,
    pages: false,
    freeShipping: 'refused',
    agentFreeShipping: 'refused',
    async: false,
    offers: false,
  },
  plain: defaultTraits,
};
