import type { Shape } from '../../contract/schemas/index.ts';

/** The kinds of retailer that the specification tells apart. */
export type RetailerKind = 'general' | 'marketplace' | 'electronics' | 'handmade' | 'storefront' | 'plain';

export interface Retailer {
  /** Identifier; for a hosted storefront its domain. */
  readonly retailer: string;
  readonly name: string;
  readonly host: string;
  readonly kind: RetailerKind;
  readonly currency: string;
  readonly home: string;
  readonly countries: readonly string[];
  readonly guestCheckout: boolean;
  readonly freeFromCents: number | null;
  readonly support: Shape<'PublicRetailer'>['support'];
}

const everywhere = ['US', 'DE', 'IT'];
const plain = {
  kind: 'plain',
  currency: 'USD',
  home: 'US',
  countries: ['US'],
  guestCheckout: true,
  freeFromCents: null,
  support: 'active',
} as const;
const storefront = { ...plain, kind: 'storefront', countries: everywhere, support: 'observed' } as const;

const named = (retailer: string, name: string, more: Partial<Retailer> = {}): Retailer => ({
  ...plain,
  retailer,
  name,
  host: `www.${retailer}.example`,
  ...more,
});

const shop = (domain: string, name: string, more: Partial<Retailer> = {}): Retailer => ({
  ...storefront,
  retailer: domain,
  name,
  host: domain,
  ...more,
});

/** The fourteen invented retailers, one row each. */
export const retailers: readonly Retailer[] = [
  named('harborgoods', 'Harbor Goods', {
    kind: 'general',
    countries: everywhere,
    freeFromCents: 3500,
    support: 'verified',
  }),
  named('bazario', 'Bazario', {
    kind: 'marketplace',
    countries: everywhere,
    freeFromCents: 2500,
    support: 'verified',
  }),
  named('voltcorner', 'Volt Corner', { kind: 'electronics', freeFromCents: 5000, support: 'verified' }),
  named('loomandkiln', 'Loom & Kiln', { kind: 'handmade', countries: everywhere, support: 'active' }),
  named('pantryfolk', 'Pantry Folk', { freeFromCents: 4000 }),
  named('trailmarket', 'Trail Market', { freeFromCents: 6000 }),
  named('membersbarn', "Member's Barn", { guestCheckout: false }),
  named('lesewinkel', 'Lesewinkel', { currency: 'EUR', home: 'DE', countries: ['DE'], freeFromCents: 2900 }),
  named('haushalt24', 'Haushalt 24', { currency: 'EUR', home: 'DE', countries: ['DE', 'IT'] }),
  named('bottegadiva', 'Bottega Diva', { currency: 'EUR', home: 'IT', countries: ['IT', 'DE'] }),
  named('pagebound', 'Pagebound Books', { countries: everywhere, freeFromCents: 2000 }),
  shop('morningroast.example', 'Morning Roast'),
  shop('softlight.example', 'Soft Light Lamps'),
  shop('sturdysocks.example', 'Sturdy Socks', { freeFromCents: 5000 }),
];

/** Known shops that cannot be ordered from. */
export const unsupportedDomains: readonly string[] = [
  'tickets-now.example',
  'giftcards.example',
  'rx-pharmacy.example',
];

/** The retailer whose page a URL is; undefined for an unknown host. */
export function retailerOf(url: string): Retailer | undefined {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, '') : '';
  return retailers.find((retailer) => retailer.host.replace(/^www\./, '') === host);
}

/** A retailer as `GET /retailers` shows it. */
export const publicRetailer = (it: Retailer): Shape<'PublicRetailer'> => ({
  retailer: it.retailer,
  retailer_id: it.retailer,
  display_name: it.name,
  base_url: `https://${it.host}`,
  no_account_needed: it.guestCheckout,
  use_your_account: it.kind !== 'storefront',
  supported_countries: [...it.countries],
  free_shipping: it.freeFromCents !== null,
  free_shipping_threshold_cents: it.freeFromCents,
  support: it.support,
});
