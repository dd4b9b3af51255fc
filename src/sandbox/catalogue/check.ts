import { destinationCountries, type UnsupportedReason, unsupportedReasons } from '../../api/enums.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { refusalRehearsedBy } from '../orders/lifecycle/creation.ts';
import { domainOf, isSeen, isUnsupported, type Retailer } from './retailers.ts';

type Check = Shape<'RetailerCheckResponse'>;

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Would an order for this URL to this country be refused: the very code that an order would be refused with.
 * @param retailer that sells what the URL names, if it is one of ours.
 * @param country two letters, any case; without it nothing is said of shipping.
 */
export function checkUrl(
  url: string,
  country: string | undefined,
  retailer: Retailer | undefined,
  shopUrl: string,
): Check {
  const domain = domainOf(url);
  const destination = country?.toUpperCase();
  const rehearsed = rehearsedAgainst(url, destination, shopUrl);
  const reason = rehearsed ?? reasonAgainst(domain, retailer, destination);
  const support = reason === 'unsupported_retailer' ? 'unsupported' : supportOf(domain, retailer, shopUrl);
  const ships = support === 'unsupported' ? [] : shipsTo(retailer, rehearsed, destination);
  return {
    url,
    domain,
    orderable: reason === null,
    support,
    retailer: retailer
      ? {
          retailer: retailer.retailer,
          brand: retailer.name,
          display_name: retailer.name,
          country: retailer.home,
        }
      : null,
    platform: retailer?.kind === 'storefront' ? 'hosted-storefront' : null,
    checkout: retailer
      ? { guest_checkout: retailer.guestCheckout, use_your_account: retailer.kind !== 'storefront' }
      : null,
    ships_to: ships,
    evidence: { orders_placed: support === 'verified' || support === 'active', last_order_at: null },
    support_detail: reason === null ? supportDetails[support](domain) : details[reason](domain, destination),
    unsupported_reason: reason,
    how_to_order: howToOrder[reason ?? 'orderable'](ships),
  };
}

const details: Readonly<Record<UnsupportedReason, (domain: string, country?: string) => string>> = {
  unsupported_retailer: (domain) => `${domain} cannot be ordered from.`,
  unsupported_country: (domain, country) => `${domain} does not deliver to ${country}.`,
  guest_checkout_not_supported: (domain) =>
    `${domain} sells to members only: order with your own account there.`,
};

/** What the shop's own product is refused with; without a country nothing is said of shipping. */
function rehearsedAgainst(
  url: string,
  country: string | undefined,
  shopUrl: string,
): UnsupportedReason | undefined {
  const code = refusalRehearsedBy(url, shopUrl);
  const reason = unsupportedReasons.find((known) => known === code);
  return reason === 'unsupported_country' && country === undefined ? undefined : reason;
}

function shipsTo(
  retailer: Retailer | undefined,
  rehearsed: UnsupportedReason | undefined,
  country: string | undefined,
): string[] {
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  return served.filter((one) => rehearsed !== 'unsupported_country' || one !== country);
}

function reasonAgainst(
  domain: string,
  retailer: Retailer | undefined,
  country: string | undefined,
): UnsupportedReason | null {
  if (isUnsupported(domain)) return 'unsupported_retailer';
  const served: readonly string[] = retailer?.countries ?? destinationCountries;
  if (country !== undefined && !served.includes(country)) return 'unsupported_country';
  return retailer && !retailer.guestCheckout ? 'guest_checkout_not_supported' : null;
}

function supportOf(domain: string, retailer: Retailer | undefined, shopUrl: string): Check['support'] {
  if (retailer) return retailer.support;
  if (isSeen(domain)) return 'observed';
  return domain === domainOf(shopUrl) || loopback.test(domain) ? 'verified' : 'untested';
}

const supportDetails: Readonly<Record<Check['support'], (domain: string) => string>> = {
  verified: (domain) => `Orders at ${domain} are checked regularly.`,
  active: (domain) => `Orders at ${domain} have been placed.`,
  observed: (domain) => `${domain} was seen, and no order has been placed there yet.`,
  untested: (domain) => `Nothing is known of ${domain}; an order is tried all the same.`,
  unsupported: (domain) => `${domain} cannot be ordered from.`,
};

const howToOrder: Readonly<Record<UnsupportedReason | 'orderable', (ships: readonly string[]) => string>> = {
  orderable: () => 'POST /orders with this URL',
  unsupported_retailer: () => 'Choose a product of another retailer; GET /retailers lists them.',
  unsupported_country: (ships) => `POST /orders with an address in ${ships.join(', ')}.`,
  guest_checkout_not_supported: () =>
    'POST /orders with this URL and the retailer_credentials_id of your account there',
};
